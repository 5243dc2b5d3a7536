/* text.h - text from a recording, made fit to be shown. SPDX-License-Identifier: MIT
 *
 * Names, values, output and sources may be a stranger's. All of it goes through here before a
 * widget gets it, as text and never as markup. The characters are those of base/plain.def.
 */
#ifndef GUI_MODEL_TEXT_H
#define GUI_MODEL_TEXT_H

#include <stdint.h>

/* One line. To be freed by the caller; NULL is "". */
char *text_line(const char *text);
/* The same of text with lines and tabs, which stay. */
char *text_lines(const char *text);
/* With commas: 2,114,969. */
char *text_number(uint64_t number);
/* 2.1 M, 516 k: for where there is little room. */
char *text_short_number(uint64_t number);
/* What follows the last slash; of a NULL it is "". */
const char *text_base(const char *path);

#endif
