/* failure.h - between the files that find the criterion of a failure.
 *
 * SPDX-License-Identifier: MIT
 *
 * A program fails by a signal (failure.c, fault.c), or it notices itself that something is wrong
 * and ends (exit.c).
 */
#ifndef SLICER_CRITERION_FAILURE_H
#define SLICER_CRITERION_FAILURE_H

#include "slicer/criterion/criterion.h"

/* Wants the branch that decided that instruction `at` of a thread was executed; the instruction, if
 * there is none. */
int failure_branch(struct study *s, uint32_t thread, uint64_t at, struct criterion *out,
                   struct err *err);
/* *pointer: it takes one that was allocated before. */
bool failure_is_allocator(struct study *s, gaddr entry, bool *pointer);

/* A checker that was compiled in (AddressSanitizer and its kin) or a language's runtime (a panic of
 * Go) has ended the program: wants what it complained of. No want: it was none of them. */
int failure_reported(struct study *s, const struct place_end *e, struct criterion *out,
                     struct err *err);
/* A status that is not 0: wants the branch that led to the user's call of exit(), else to the last
 * message on standard error, if there is one, else the status. */
int failure_exit(struct study *s, const struct place_end *e, const struct output_line *message,
                 struct criterion *out, struct err *err);

#endif
