/* text.h - the text of head, index, end and notes: lines of `key value`.
 *
 * SPDX-License-Identifier: MIT
 *
 * A key is made of a-z, 0-9 and _; a value is anything but NUL, with control characters and
 * backslashes escaped (\n, \\, \xHH), so that it stays on its line. Keys may repeat.
 */
#ifndef PINBALL_TEXT_H
#define PINBALL_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* ---- writing ---- */

/* {0} is an empty one. When memory runs out, data becomes NULL, bytes 0 and stay so: what takes
 * texts refuses that. */
struct text {
    char *data;
    size_t bytes, room;
    int failed;
};

void text_add(struct text *text, const char *key, const char *value);
void text_addf(struct text *text, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds lines that are text already. */
void text_join(struct text *text, const char *data, size_t bytes);
void text_deinit(struct text *text);

/* ---- reading ---- */

struct text_line {
    const char *key, *value; /* unescaped */
};

struct lines {
    char *data;
    struct text_line *line;
    size_t count;
};

/* Copies the text, which may be anything. The error names the line, not the file. */
int text_parse(struct lines *lines, const char *data, size_t bytes, struct err *err);
void text_free_lines(struct lines *lines);

/* The value of the last line with this key, or NULL. */
const char *text_get(const struct lines *lines, const char *key);

/* A decimal number and nothing else: 0, or -1 if it is not one or does not fit. */
int text_number(const char *value, uint64_t *number);

#endif
