/* slice_html.h - a slice as a page. SPDX-License-Identifier: MIT */
#ifndef CLI_SLICE_HTML_H
#define CLI_SLICE_HTML_H

#include "cli/slice_print.h"

/* One file that needs no other: the sources with the slice's lines marked, and links along the
 * dependences. */
int slice_html_write(const struct slice_print *p, const char *path, struct err *err);

#endif
