/* slice_text.h - pieces of text that slices are printed with. SPDX-License-Identifier: MIT */
#ifndef CLI_SLICE_TEXT_H
#define CLI_SLICE_TEXT_H

#include "slicer/report/report.h"

enum { SLICE_TEXT_PLACE = 300, SLICE_TEXT_LINE = 400 };

const char *slice_text_base(const char *path); /* behind the last slash */

/* Prints it, and spaces up to this column. */
void slice_text_padded(const char *text, size_t columns);

/* `T2 racy_counter.c:31`, without the file if it is that of the row before; `out` has
 * SLICE_TEXT_PLACE bytes. */
void slice_text_place(const struct report_row *r, const struct report_row *before, char *out);

/* The line's text without its indentation, in one space each, cut to `width` columns; without one,
 * where it is and the instruction. */
void slice_text_line(struct study *s, const struct report_row *r, size_t width, char *out,
                     size_t room);

/* Columns for that text, if the others of a table take `others`: what is left of the terminal's
 * width. */
size_t slice_text_width(size_t others);

#endif
