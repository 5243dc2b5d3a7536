/* marks.h - the kinds of marks that a program has (include/drdebug.h). SPDX-License-Identifier: MIT
 *
 * A part of record.h. Included by code inside the target and outside; no libc.
 */
#ifndef PINBALL_MARKS_H
#define PINBALL_MARKS_H

#include "pinball/record.h"

enum { MARKS_PLACE = 1, MARKS_BEGIN = 2, MARKS_END = 3, MARKS_TEXT_BYTES = 256 };

/* Its flags are the kind. */
struct record_mark {
    struct record r;
    struct record_at at;
    uint64_t bytes; /* of the text that follows, padded with zeros to 8; at most MARKS_TEXT_BYTES */
};

/* In words, for users and in `end`. */
static inline const char *marks_name(unsigned kind)
{
    return kind == MARKS_PLACE   ? "mark"
           : kind == MARKS_BEGIN ? "region begin"
           : kind == MARKS_END   ? "region end"
                                 : "?";
}

#endif
