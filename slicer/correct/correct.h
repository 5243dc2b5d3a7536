/* correct.h - what is left of a slice if other values are known to be right.
 *
 * SPDX-License-Identifier: MIT
 *
 * After Zhang's confidence analysis: a value is *verified* if another one would have made a right
 * value wrong, since all instructions between the two are one-to-one (onetoone.h); a branch is, if
 * it decided for something that is verified. What is left is what the wrong value depends on
 * without a verified value in between. docs/slicing.md, "Right values".
 */
#ifndef SLICER_CORRECT_CORRECT_H
#define SLICER_CORRECT_CORRECT_H

#include "slicer/slice.h"
#include "trace/index.h"

enum { CORRECT_MOST = 20000000 }; /* nodes of either slice */

/* Both are backward slices; with their wants. `strict`: an instruction with two variable operands
 * verifies neither. The slice to be freed; NULL with *err set. */
struct correct_slice {
    const struct slice *slice;
    const struct slice_want *want;
    size_t wants;
};
struct slice *correct_prune(struct trace_index *index, const struct correct_slice *wrong,
                            const struct correct_slice *right, const struct slice_options *options,
                            bool strict, struct err *err);

#endif
