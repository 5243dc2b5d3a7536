/* ends.h - how a recording ended: the rows of ends.def. SPDX-License-Identifier: MIT */
#ifndef PINBALL_ENDS_H
#define PINBALL_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "pinball/end_reason.h"

enum ends_status { ENDS_NONE, ENDS_EXIT, ENDS_SIGNAL, ENDS_ERRNO };

struct ends_row {
    const char *name;
    enum ends_status status;
    bool outside;
    const char *text, *bare; /* bare may be NULL */
};

/* NULL for what is none. */
const struct ends_row *ends_row(uint32_t reason);

/* `exit`, `signal`, ...; `unknown` for what is none. And back: 0 for what is none. */
const char *ends_name(uint32_t reason);
uint32_t ends_reason(const char *name);

#endif
