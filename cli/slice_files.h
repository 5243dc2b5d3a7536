/* slice_files.h - a slice in files, for other programs. SPDX-License-Identifier: MIT */
#ifndef CLI_SLICE_FILES_H
#define CLI_SLICE_FILES_H

#include "cli/slice_print.h"

/* The report of *p must list its nodes. */

/* `FILE:LINE # THREAD:INSTANCE ...`, a line for each statement. */
int slice_files_sum(const struct slice_print *p, const char *path, struct err *err);

/* `THREAD FILE:LINE INSTANCE <- THREAD FILE:LINE INSTANCE  WHAT`, a line for each dependence
 * between instances of statements. WHAT is `%REG`, `ADDRESS SIZE` or `control`. */
int slice_files_dep(const struct slice_print *p, const char *path, struct err *err);

/* A graph of lines for Graphviz. */
int slice_files_dot(const struct slice_print *p, const char *path, struct err *err);

#endif
