/* pruning.h - what a slice is pruned by, in the user's words.
 *
 * SPDX-License-Identifier: MIT
 *
 *     VARIABLE               one that is visible where the criterion is, or a global
 *     EXPRESSION at WHERE    what it stands for there, memory or a register; of a variable's name,
 *                            the variable that is visible there (WHERE as in criterion.h)
 *     FUNCTION::VARIABLE     one of a function
 *     %REGISTER              all of it, by whatever name
 *     0xADDRESS BYTES        memory
 *     0xFROM..0xTO           memory up to, not with, the second address
 */
#ifndef SLICER_CRITERION_PRUNING_H
#define SLICER_CRITERION_PRUNING_H

#include "slicer/criterion/criterion.h"

enum { PRUNING_MOST = 64 };

/* What {0} begins. */
struct pruning {
    struct slice_prune *item; /* for slice_options */
    size_t items;
    char *word[PRUNING_MOST];
    size_t words;
};

/* Adds what `text` means, for a slice of this criterion. -1 with *err set; code CRITERION_USAGE:
 * it is none of the above. */
int pruning_add(struct pruning *p, struct study *s, const struct criterion *of, const char *text,
                struct err *err);
void pruning_deinit(struct pruning *p);

/* For slices that were kept. */
int pruning_add_word(struct pruning *p, const char *text, struct err *err);
int pruning_add_item(struct pruning *p, const struct slice_prune *item, struct err *err);

#endif
