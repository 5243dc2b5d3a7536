/* slice_page.h - the parts of the page that `drdebug slice --html' writes.
 *
 * SPDX-License-Identifier: MIT
 *
 * cli/slice_html.c has the page, the story and the list of lines; the sources are in
 * cli/slice_html_source.c, the order of execution is in cli/slice_html_order.c. Its style and its
 * script, slice_page.css and slice_page.js, are bytes of this program. The page needs no other file
 * and may not ask for one. It can be read without the script, which adds filters, search and keys.
 */
#ifndef CLI_SLICE_PAGE_H
#define CLI_SLICE_PAGE_H

#include "cli/slice_formats.h"

struct slice_page {
    const struct slice_print *p;
    FILE *f;
    const char **file; /* those whose sources are shown, in order of appearance */
    size_t files;
};

/* Text from the recording or from sources: escaped. */
void slice_page_put(const struct slice_page *g, const char *text);

/* Is the row one that is shown? Others are of libraries, or of the compiler's headers. */
bool slice_page_shows(const struct slice_page *g, uint32_t row);
/* Where the source of a row's file is; g->files: it is not shown. */
size_t slice_page_file(const struct slice_page *g, const char *file);
/* Is there an order of execution? Only backward slices have one. */
bool slice_page_has_order(const struct slice_page *g);

/* `T2 racy_counter.c:31`, as a link to the row's mark in the source, or to the row in the list;
 * without the thread and the file that it has in common with row `from`, if that is not NULL. */
void slice_page_link(const struct slice_page *g, uint32_t row, const struct report_row *from);
/* `2:data:3`, behind `before`: what the filters look at, inside data-r="". */
void slice_page_filter(const struct slice_page *g, const char *before, uint32_t row);
/* `data total = 3, race`. */
void slice_page_edge(const struct slice_page *g, int32_t edge);

/* Sections. */
int slice_page_sources(const struct slice_page *g, struct err *err);
int slice_page_order(const struct slice_page *g, struct err *err);

#endif
