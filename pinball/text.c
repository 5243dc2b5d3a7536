/* text.c - the text of head, index, end and notes: lines of `key value`.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* vasprintf */
#include "pinball/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void put(struct text *t, const char *data, size_t bytes)
{
    if (t->failed)
        return;
    if (array_reserve(&t->data, &t->room, t->bytes + bytes)) {
        text_deinit(t);
        t->failed = 1;
        return;
    }
    memcpy(t->data + t->bytes, data, bytes);
    t->bytes += bytes;
}

static bool is_control(unsigned char c)
{
    return c < ' ' || c == 0x7f;
}

static void put_escaped(struct text *t, const char *value)
{
    for (const char *p = value; *p; p++) {
        char hex[5];
        if (*p == '\n') {
            put(t, "\\n", 2);
        } else if (*p == '\\') {
            put(t, "\\\\", 2);
        } else if (is_control((unsigned char)*p)) {
            snprintf(hex, sizeof hex, "\\x%02x", (unsigned char)*p);
            put(t, hex, 4);
        } else {
            put(t, p, 1);
        }
    }
}

void text_add(struct text *text, const char *key, const char *value)
{
    put(text, key, strlen(key));
    put(text, " ", 1);
    put_escaped(text, value);
    put(text, "\n", 1);
}

void text_addf(struct text *text, const char *key, const char *fmt, ...)
{
    char *value;
    va_list args;

    va_start(args, fmt);
    int n = vasprintf(&value, fmt, args);
    va_end(args);
    if (n < 0) {
        text_deinit(text);
        text->failed = 1;
        return;
    }
    text_add(text, key, value);
    free(value);
}

void text_join(struct text *text, const char *data, size_t bytes)
{
    put(text, data, bytes);
}

void text_deinit(struct text *text)
{
    free(text->data);
    *text = (struct text){.failed = text->failed};
}

static bool is_key(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Unescapes [from, end) in place and ends it with NUL; NULL if it is malformed. */
static const char *unescape(char *from, const char *end)
{
    char *to = from;

    for (const char *p = from; p < end; p++) {
        if (is_control((unsigned char)*p))
            return NULL;
        if (*p != '\\') {
            *to++ = *p;
            continue;
        }
        if (++p == end)
            return NULL;
        if (*p == 'n') {
            *to++ = '\n';
        } else if (*p == '\\') {
            *to++ = '\\';
        } else if (*p == 'x' && end - p > 2) {
            int high = hex_digit(p[1]), low = hex_digit(p[2]);
            if (high < 0 || low < 0 || high + low == 0)
                return NULL;
            *to++ = (char)(high << 4 | low);
            p += 2;
        } else {
            return NULL;
        }
    }
    *to = '\0';
    return from;
}

/* [p, end) is a line without its newline, which may be overwritten. */
static int parse_line(struct text_line *line, char *p, char *end)
{
    char *space = p;

    while (space < end && is_key(*space))
        space++;
    if (space == p || space == end || *space != ' ')
        return -1;
    *space = '\0';
    line->key = p;
    line->value = unescape(space + 1, end);
    return line->value ? 0 : -1;
}

static size_t count_lines(const char *data, size_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < bytes; i++)
        n += data[i] == '\n';
    return n;
}

int text_parse(struct lines *lines, const char *data, size_t bytes, struct err *err)
{
    size_t count = count_lines(data, bytes);

    *lines = (struct lines){0};
    lines->data = malloc(bytes + 1);
    lines->line = calloc(count + 1, sizeof *lines->line);
    if (!lines->data || !lines->line) {
        text_free_lines(lines);
        return err_set(err, "no memory");
    }
    memcpy(lines->data, data, bytes);

    char *p = lines->data, *end = p + bytes;
    while (p < end) {
        char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline || parse_line(&lines->line[lines->count], p, newline)) {
            err_set(err, "line %zu: not a key and a value", lines->count + 1);
            text_free_lines(lines);
            return -1;
        }
        lines->count++;
        p = newline + 1;
    }
    return 0;
}

void text_free_lines(struct lines *lines)
{
    free(lines->data);
    free(lines->line);
    *lines = (struct lines){0};
}

const char *text_get(const struct lines *lines, const char *key)
{
    for (size_t i = lines->count; i > 0; i--)
        if (strcmp(lines->line[i - 1].key, key) == 0)
            return lines->line[i - 1].value;
    return NULL;
}

int text_number(const char *value, uint64_t *number)
{
    uint64_t n = 0;

    if (*value == '\0')
        return -1;
    for (const char *p = value; *p; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            return -1;
    *number = n;
    return 0;
}
