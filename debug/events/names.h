/* names.h - constants of the kernel by their names (names.def). SPDX-License-Identifier: MIT */
#ifndef DEBUG_EVENTS_NAMES_H
#define DEBUG_EVENTS_NAMES_H

#include <stdint.h>

#include "debug/events/words.h"

struct name {
    uint64_t mask, value; /* the bits it is about, and what they are */
    const char *text;     /* NULL: the table's end */
};

#define TABLE(which) extern const struct name names_##which[];
#define NAME(constant)
#define PART(mask, constant)
#define VALUE(number, text)
#define END
#include "debug/events/names.def"
#undef TABLE
#undef NAME
#undef PART
#undef VALUE
#undef END

/* A value that is one of the table's; NULL: it is none. */
const char *names_find(const struct name *table, uint64_t value);
/* The same; for a value without a name, the number and PREFIX???, in a remark. */
void names_put(struct words *out, const struct name *table, uint64_t value, const char *prefix);
/* Bits, with | between; what has no name in hexadecimal; `none` if there are none. */
void names_put_bits(struct words *out, const struct name *table, uint64_t value, const char *none);

/* SIGTERM, SIGRT_3, or the number. */
void names_put_signal(struct words *out, int64_t number);
/* Bit 0 is signal 1: [INT TERM], ~[KILL]. */
void names_put_signals(struct words *out, uint64_t set);

#endif
