/* end_reason.h - how a recording ended, by number: a part of record.h. SPDX-License-Identifier: MIT
 */
#ifndef PINBALL_END_REASON_H
#define PINBALL_END_REASON_H

enum end_reason {
#define END(name, number, text, ...) END_##name = number,
#include "pinball/ends.def"
#undef END
};

#endif
