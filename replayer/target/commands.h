/* commands.h - what the supervisor asks of a replaying process alone. SPDX-License-Identifier: MIT
 */
#ifndef REPLAYER_TARGET_COMMANDS_H
#define REPLAYER_TARGET_COMMANDS_H

#include "debug/target/post.h"

extern const struct post_program commands_of_replay;

bool commands_verify(void); /* is this run to check memory, too? */
bool commands_grows(void);  /* does the log end because it is still being written? */

#endif
