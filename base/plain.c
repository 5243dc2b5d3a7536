/* plain.c - text from outside, made safe to print. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* vasprintf */
#include "base/plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct range {
    uint32_t first, last;
} hidden[] = {
#define HIDDEN(first, last) {first, last},
#include "base/plain.def"
#include "base/search.h"
#undef HIDDEN
};

static bool is_hidden(uint32_t code)
{
    const size_t ranges = sizeof hidden / sizeof hidden[0];
    const size_t i = search_below(hidden, ranges, last, code);

    return i < ranges && code >= hidden[i].first;
}

/* The length of the UTF-8 sequence that p begins with and its code; 0: it is none (RFC 3629). */
static size_t decode(const unsigned char *p, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    if (n == 0 || n > left || p[0] > 0xf4)
        return 0;
    *code = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3f);
    }
    if (*code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return n;
}

static void escape_for_people(uint32_t code, char out[PLAIN_ONE])
{
    static const char letters[] = "\tt\nn\rr";
    const char *letter = code && code < 0x80 ? strchr(letters, (int)code) : NULL;

    if (letter)
        snprintf(out, PLAIN_ONE, "\\%c", letter[1]);
    else if (code < 0x80)
        snprintf(out, PLAIN_ONE, "\\x%02x", (unsigned)code);
    else if (code < 0x10000)
        snprintf(out, PLAIN_ONE, "\\u%04x", (unsigned)code);
    else
        snprintf(out, PLAIN_ONE, "\\U%08x", (unsigned)code);
}

/* Beyond 16 bits as a pair (RFC 8259, section 7). */
static void escape_for_json(uint32_t code, char out[PLAIN_ONE])
{
    if (code < 0x10000)
        snprintf(out, PLAIN_ONE, "\\u%04x", (unsigned)code);
    else
        snprintf(out, PLAIN_ONE, "\\u%04x\\u%04x", 0xd800 + (unsigned)((code - 0x10000) >> 10),
                 0xdc00 + (unsigned)(code & 0x3ff));
}

/* Characters that have a meaning in this form. */
static bool quote(enum plain_form form, char c, char out[PLAIN_ONE])
{
    static const struct {
        enum plain_form form;
        char c;
        const char *text;
    } special[] = {{PLAIN_JSON, '"', "\\\""},  {PLAIN_JSON, '\\', "\\\\"},
                   {PLAIN_DOT, '"', "\\\""},   {PLAIN_DOT, '\\', "\\\\"},
                   {PLAIN_HTML, '<', "&lt;"},  {PLAIN_HTML, '>', "&gt;"},
                   {PLAIN_HTML, '&', "&amp;"}, {PLAIN_HTML, '"', "&quot;"}};

    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (special[i].form == form && special[i].c == c) {
            strcpy(out, special[i].text);
            return true;
        }
    return false;
}

size_t plain_one(enum plain_form form, const char *text, size_t n, char out[PLAIN_ONE])
{
    uint32_t code = 0;
    size_t length = decode((const unsigned char *)text, n, &code);
    /* In a string of Graphviz the backslash that begins an escape is escaped itself. */
    char *to = out + (form == PLAIN_DOT);

    out[0] = '\\';
    if (length == 0 && form == PLAIN_JSON) {
        strcpy(out, "\\ufffd");
    } else if (length == 0) {
        snprintf(to, PLAIN_ONE - 1, "\\x%02x", (unsigned char)*text);
    } else if (is_hidden(code) && !(form == PLAIN_HTML && code == '\t')) {
        if (form == PLAIN_JSON)
            escape_for_json(code, out);
        else
            escape_for_people(code, to);
    } else if (length > 1 || !quote(form, *text, out)) {
        memcpy(out, text, length);
        out[length] = 0;
    }
    return length ? length : 1;
}

void plain_put(FILE *to, enum plain_form form, const char *text)
{
    char one[PLAIN_ONE];

    for (size_t n = strlen(text); n;) {
        size_t took = plain_one(form, text, n, one);
        fputs(one, to);
        text += took;
        n -= took;
    }
}

void plain_json(FILE *to, const char *text)
{
    if (!text) {
        fputs("null", to);
        return;
    }
    fputc('"', to);
    plain_put(to, PLAIN_JSON, text);
    fputc('"', to);
}

void plain_copy(const char *text, char *out, size_t room)
{
    char one[PLAIN_ONE];
    size_t used = 0;

    for (size_t n = strlen(text); n;) {
        size_t took = plain_one(PLAIN_TEXT, text, n, one), length = strlen(one);
        if (length >= room - used)
            break;
        memcpy(out + used, one, length);
        used += length;
        text += took;
        n -= took;
    }
    out[used] = 0;
}

size_t plain_width(const char *text)
{
    char one[PLAIN_ONE];
    size_t width = 0;

    for (size_t n = strlen(text); n;) {
        size_t took = plain_one(PLAIN_TEXT, text, n, one);
        width += one[0] & 0x80 ? 1 : strlen(one);
        text += took;
        n -= took;
    }
    return width;
}

void plain_vprintf(FILE *to, const char *fmt, va_list args)
{
    size_t length = strlen(fmt);
    bool line = length && fmt[length - 1] == '\n';
    char *text;
    int n = vasprintf(&text, fmt, args);

    if (n < 0) {
        fputs("no memory", to);
    } else {
        if (line && n)
            text[n - 1] = 0;
        plain_put(to, PLAIN_TEXT, text);
        free(text);
    }
    if (line)
        fputc('\n', to);
}

void plain_printf(FILE *to, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    plain_vprintf(to, fmt, args);
    va_end(args);
}
