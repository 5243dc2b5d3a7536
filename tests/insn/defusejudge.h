/* defusejudge.h - is what engine/x86/defuse.h says about an instruction true of this CPU?
 *
 * The instruction runs from a given state, then again and again with other values in places that it
 * is not said to use. What it leaves must be the same wherever it is said to define something, and
 * untouched elsewhere; the same for memory. What it may keep (KEPT) must not spread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_DEFUSEJUDGE_H
#define INSN_DEFUSEJUDGE_H

#include "defusestate.h"
#include "engine/x86/defuse.h"

enum { SUBJECT_SKIPS = 4 };

struct subject {
    struct insn in;
    struct insn_operands ops;
    uint64_t slot, pc;
    struct machine like;
    struct flat before;
    struct image memory;
    /* Bytes that are written but not compared (offsets in the first access): instruction pointers,
     * reserved fields. */
    struct {
        uint16_t from, to;
    } skip[SUBJECT_SKIPS];
    uint64_t marker; /* 0, or a byte that tells which way a branch went */
};

enum verdict { VERDICT_RIGHT, VERDICT_WRONG, VERDICT_FAULTS };

/* To test the test: sets with a hole. */
enum sabotage { SABOTAGE_NONE, SABOTAGE_DEF, SABOTAGE_USE, SABOTAGE_KEPT };

/* Prints what is wrong. */
enum verdict defusejudge(struct rng *r, const struct subject *s, enum sabotage sabotage);

/* For a look at uses that never seem to matter. */
void defusejudge_report(void);
extern unsigned long defusejudge_runs;

#endif
