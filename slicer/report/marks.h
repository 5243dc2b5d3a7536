/* marks.h - what facts/ says about the dependences of a slice. SPDX-License-Identifier: MIT */
#ifndef SLICER_REPORT_MARKS_H
#define SLICER_REPORT_MARKS_H

#include "facts/order/race.h"
#include "slicer/walk/edges.h"

/* A value that one thread wrote and another one read, and nothing orders the two. */
int marks_race(struct study *s, const struct slice_dependence *d, enum race *out, struct err *err);

#endif
