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
    plain_json(stdout, text);
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
static void put_escaped(FILE *to, const char *text)
{
    char one[PLAIN_ONE];

    fputs("$'", to);
    for (size_t n = strlen(text), took; n; text += took, n -= took) {
        took = plain_one(PLAIN_TEXT, text, n, one);
        if (*text == '\'' || *text == '\\')
            fputc('\\', to);
        fputs(one, to);
    }
    fputc('\'', to);
}

void json_shell_word(FILE *to, const char *text)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "%+,-./:=@_";

    if (*text && text[strspn(text, bare)] == '\0') {
        fputs(text, to);
        return;
    }
    if (!is_plain(text)) {
        put_escaped(to, text);
        return;
    }
    fputc('\'', to);
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, to);
    fputc('\'', to);
}
