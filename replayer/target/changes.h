/* changes.h - what the runtime and the program's calls change of its memory.
 * SPDX-License-Identifier: MIT
 *
 * For a recording with gaps (pinball/record_gap.h): what happened since changes_begin(). What the
 * program's own instructions write is not known here.
 */
#ifndef REPLAYER_TARGET_CHANGES_H
#define REPLAYER_TARGET_CHANGES_H

#include "engine/rt/types.h"

struct sink_writer;

void changes_begin(void);
void changes_mapped(gaddr start, gaddr end); /* whatever is there was not, or has other rights */
void changes_object(uint32_t number);        /* shared memory: made, resized, or a file's bytes */
/* All of it: RECORD_SIZE, RECORD_OBJECT, RECORD_MAP; and RECORD_DATA without bytes, for memory that
 * was written. */
void changes_tell(struct sink_writer *out);

#endif
