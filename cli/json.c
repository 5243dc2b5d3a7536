/* json.c - text for machines and for shells, made of strings that may hold anything.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/json.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

void json_begin(void)
{
    printf("{\n  \"version\": %d", JSON_VERSION);
}

void json_string(const char *text)
{
    if (!text) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    plain_put(stdout, PLAIN_JSON, text);
    putchar('"');
}

/* Are all its characters shown as they are? */
static bool is_plain(const char *text)
{
    char one[PLAIN_ONE];

    for (size_t n = strlen(text), took; n; text += took, n -= took) {
        took = plain_one(PLAIN_TEXT, text, n, one);
        if (strncmp(one, text, took) != 0)
            return false;
    }
    return true;
}

/* $'...': bash reads escapes there as plain.h writes them. */
static void put_escaped(const char *text)
{
    char one[PLAIN_ONE];

    fputs("$'", stdout);
    for (size_t n = strlen(text), took; n; text += took, n -= took) {
        took = plain_one(PLAIN_TEXT, text, n, one);
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        fputs(one, stdout);
    }
    putchar('\'');
}

void json_shell_word(const char *text)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "%+,-./:=@_";

    if (*text && text[strspn(text, bare)] == '\0') {
        fputs(text, stdout);
        return;
    }
    if (!is_plain(text)) {
        put_escaped(text);
        return;
    }
    putchar('\'');
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, stdout);
    putchar('\'');
}
