/* json.c - text for machines and for terminals, made of strings that may hold anything.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/json.h"

#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 sequence that p begins with, 0 if it is none (RFC 3629, section 4). */
static int sequence(const unsigned char *p)
{
    int n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : 4;

    if ((p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4)
        return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* C0 and C1 controls and DEL. */
static int is_control(const unsigned char *p)
{
    return p[0] < ' ' || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

void json_string(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    if (!text) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    for (int n; *p; p += n ? n : 1) {
        n = sequence(p);
        if (n == 0)
            fputs("\\ufffd", stdout);
        else if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else if (n == 1 && is_control(p))
            printf("\\u%04x", *p);
        else
            fwrite(p, 1, (size_t)n, stdout);
    }
    putchar('"');
}

/* One character, or what stands for it. */
static const char *print_plain(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    int n = sequence(p);

    if (n == 0 || is_control(p))
        putchar('?');
    else
        fwrite(p, 1, (size_t)n, stdout);
    return text + (n ? n : 1);
}

void json_plain(const char *text)
{
    while (*text)
        text = print_plain(text);
}

void json_shell_word(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";

    if (*text && text[strspn(text, plain)] == '\0') {
        fputs(text, stdout);
        return;
    }
    putchar('\'');
    while (*text) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            text++;
        } else {
            text = print_plain(text);
        }
    }
    putchar('\'');
}
