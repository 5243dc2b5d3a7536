/* record_at.h - where its thread is, of whatever record says so. SPDX-License-Identifier: MIT
 *
 * The column `count` of records.def. Included by code inside the target and outside; no libc.
 */
#ifndef PINBALL_RECORD_AT_H
#define PINBALL_RECORD_AT_H

#include <stdbool.h>
#include <stddef.h>

#include "pinball/marks.h"
#include "pinball/record_gap.h"

enum record_count { RECORD_COUNT_0, RECORD_COUNT_KEPT, RECORD_COUNT_DUE, RECORD_COUNT_DUE_AT_TICK };

static inline enum record_count record_count(const struct record *r)
{
    switch (r->kind) {
#define RECORD(name, number, type, count, text)                                                    \
    case RECORD_##name:                                                                            \
        return RECORD_COUNT_##count;
#include "pinball/records.def"
#undef RECORD
    default:
        return RECORD_COUNT_0;
    }
}

/* NULL: this kind does not say. The record must have the least size of its kind. */
static inline const struct record_at *record_at(const struct record *r)
{
    return record_count(r) ? &((const struct record_check *)r)->at : NULL;
}

/* The replay deals with it when the thread comes to its count. */
static inline bool record_is_due(const struct record *r)
{
    const enum record_count count = record_count(r);

    return count == RECORD_COUNT_DUE || (count == RECORD_COUNT_DUE_AT_TICK && (r->flags & AT_TICK));
}

/* It is at the same place in all of them. */
#define RECORD_AT_0(type)
#define RECORD_AT_KEPT(type)                                                                       \
    _Static_assert(offsetof(struct type, at) == sizeof(struct record), #type);
#define RECORD_AT_DUE(type)                     RECORD_AT_KEPT(type)
#define RECORD_AT_DUE_AT_TICK(type)             RECORD_AT_KEPT(type)
#define RECORD(name, number, type, count, text) RECORD_AT_##count(type)
#include "pinball/records.def"
#undef RECORD
#undef RECORD_AT_0
#undef RECORD_AT_KEPT
#undef RECORD_AT_DUE
#undef RECORD_AT_DUE_AT_TICK

/* The format has these sizes. */
_Static_assert(sizeof(struct record_at) == 24 && sizeof(struct record_check) == 32, "check");
_Static_assert(sizeof(struct record_signal) == 176, "signal");
_Static_assert(sizeof(struct record_fault) == 200, "fault");
_Static_assert(sizeof(struct record_memory) == 32, "memory");
_Static_assert(sizeof(struct record_end) == 48, "end");
_Static_assert(sizeof(struct record_poke) == 64, "poke");
_Static_assert(sizeof(struct record_state) == 280, "state");
_Static_assert(sizeof(struct record_gap) == 72 && sizeof(struct gap_thread) == 16, "gap");
_Static_assert(sizeof(struct record_did) == 32 && sizeof(struct gap_frame) == 32, "did");
_Static_assert(sizeof(struct record_ways) == 16 && sizeof(struct code_way) == 24, "ways");
_Static_assert(sizeof(struct record_kept) == 16 && sizeof(struct kept_statement) == 48, "kept");
_Static_assert(sizeof(struct record_steps) == 16, "steps");

#endif
