/* slice_formats.h - the forms that a slice can be had in: the rows of slice_formats.def.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_SLICE_FORMATS_H
#define CLI_SLICE_FORMATS_H

#include "cli/slice_print.h"

enum slice_formats {
#define SLICE_FORMAT(option, ...) SLICE_FORMAT_##option,
#include "cli/slice_formats.def"
#undef SLICE_FORMAT
    SLICE_FORMATS
};

/* `path` is NULL for what is printed. The report of *p lists its nodes if the row asks for it. */
typedef int slice_format_writer(const struct slice_print *p, const char *path, struct err *err);

#define SLICE_FORMAT(option, way, nodes, whole, writer, help) slice_format_writer writer;
#include "cli/slice_formats.def"
#undef SLICE_FORMAT

struct slice_format {
    bool file, nodes, whole;
    slice_format_writer *write;
};

extern const struct slice_format slice_formats[SLICE_FORMATS];

/* What was asked for by options: a file's name for each format, `` for what is printed, or NULL. */
struct slice_formats_wanted {
    const char *as[SLICE_FORMATS];
};

bool slice_formats_need_nodes(const struct slice_formats_wanted *w);
bool slice_formats_are_whole(const struct slice_formats_wanted *w);

/* Writes all of them; prints the text for people, unless something else is to be printed. */
int slice_formats_write(const struct slice_print *p, const struct slice_formats_wanted *w,
                        struct err *err);

#endif
