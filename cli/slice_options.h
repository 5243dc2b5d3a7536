/* slice_options.h - the command line of `drdebug slice`. SPDX-License-Identifier: MIT */
#ifndef CLI_SLICE_OPTIONS_H
#define CLI_SLICE_OPTIONS_H

#include <limits.h>

#include "cli/slice_formats.h"
#include "cli/window.h"
#include "slicer/correct/sets.h"
#include "slicer/criterion/pruning.h"
#include "slicer/report/report.h"

/* {0} before parsing. It points into itself and into the argument vector. */
struct slice_options_given {
    struct study_options study;
    struct criterion_options criterion;
    struct window window;
    uint64_t lines;
    bool failure, all, full, steps, list, values, instances;
    bool forward;
    const char *to;             /* of a chop: the other criterion, or `failure` */
    const char *of_output;      /* a pattern: the criterion is what the program wrote */
    struct output_line output;  /* that it found */
    struct output_line message; /* of a failure: the last one on standard error */
    const char *prune[PRUNING_MOST];
    size_t prunes;
    struct sets sets;            /* strings are those of the argument vector */
    struct report_limits limits; /* strings are those of the argument vector */
    struct saved_file *file;     /* while the slice is made that `name` is for */
    const char *name;            /* to keep it under */
    struct slice_formats_wanted formats;
    const char *show, *remove; /* slices that were kept */
    char in[PATH_MAX];
    char text[1024];  /* the criterion */
    char again[4096]; /* the command that asks for the same; empty: it is too long */
};

/* Returns -1 to go on, or the status to end with. */
int slice_options_parse(int argc, char *argv[], struct slice_options_given *a);

#endif
