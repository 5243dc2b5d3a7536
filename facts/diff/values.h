/* values.h - what own code read where two recordings went the same way.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace has no values. A replay of each recording takes what the instructions of reads.h read, in
 * the first events (PATHS_MOMENTS); what two events that are a pair read is compared.
 */
#ifndef FACTS_DIFF_VALUES_H
#define FACTS_DIFF_VALUES_H

#include "facts/diff/diff.h"

struct values_input {
    struct study *study[2];
    const struct paths *paths[2];
    const struct paths_table *table;
    const uint32_t *match;
};

/* Appends the reads that differ to the parts. */
int values_compare(const struct values_input *in, struct diff *out, struct err *err);

#endif
