/* expression.c - the expression that a place in a source line means. SPDX-License-Identifier: MIT
 */
#include "gui/model/expression.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

static const char *const words[] = {
    "auto",    "break",   "case",     "char",   "class", "const",   "continue", "default",
    "delete",  "do",      "double",   "else",   "enum",  "extern",  "false",    "float",
    "for",     "goto",    "if",       "inline", "int",   "long",    "new",      "NULL",
    "nullptr", "private", "public",   "return", "short", "signed",  "sizeof",   "static",
    "struct",  "switch",  "template", "throw",  "true",  "typedef", "union",    "unsigned",
    "using",   "void",    "while",    "bool",   "catch", "try",     "virtual",  "volatile"};

static bool is_name(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

static bool is_word(const char *name, size_t n)
{
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strlen(words[i]) == n && strncmp(words[i], name, n) == 0)
            return true;
    return false;
}

/* Where the bracket that is closed before `at` was opened, or -1. */
static int open_bracket(const char *line, int at)
{
    int depth = 0;
    for (int i = at; i >= 0; i--) {
        if (line[i] == '(' || line[i] == ')')
            return -1;
        depth += (line[i] == ']') - (line[i] == '[');
        if (depth == 0)
            return i;
    }
    return -1;
}

/* Where the name, or the name with brackets behind it, that ends before `end` begins; -1: there is
 * none. */
static int part_begin(const char *line, int end)
{
    int at = end - 1;
    while (at >= 0 && line[at] == ']') {
        if ((at = open_bracket(line, at)) < 0)
            return -1;
        at--;
    }
    int last = at;
    while (at >= 0 && is_name(line[at]))
        at--;
    return at == last || g_ascii_isdigit(line[at + 1]) ? -1 : at + 1;
}

/* The text before `at` that leads to what is there: `.`, `->` or `::`; how many bytes. */
static int link_before(const char *line, int at)
{
    if (at >= 2 && (strncmp(line + at - 2, "->", 2) == 0 || strncmp(line + at - 2, "::", 2) == 0))
        return 2;
    return at >= 1 && line[at - 1] == '.';
}

static bool is_call(const char *line, int end)
{
    while (line[end] == ' ')
        end++;
    return line[end] == '(';
}

/* The name at the column; false: there is none, or it is a word of the language. */
static bool find_name(const char *line, unsigned column, int *begin, int *end)
{
    *begin = *end = (int)column;
    if (column >= strlen(line) || !is_name(line[column]))
        return false;
    while (*begin > 0 && is_name(line[*begin - 1]))
        (*begin)--;
    while (is_name(line[*end]))
        (*end)++;
    return !g_ascii_isdigit(line[*begin]) && !is_word(line + *begin, (size_t)(*end - *begin));
}

char *expression_at(const char *line, unsigned column)
{
    int begin, end, n;
    if (!find_name(line, column, &begin, &end) || is_call(line, end))
        return NULL;
    while ((n = link_before(line, begin)) > 0) {
        int before = part_begin(line, begin - n);
        if (before < 0)
            return NULL; /* what leads there is more than can be read here */
        begin = before;
    }
    return g_strndup(line + begin, (size_t)(end - begin));
}

char *function_at(const char *line, unsigned column)
{
    int begin, end;
    if (!find_name(line, column, &begin, &end) || !is_call(line, end))
        return NULL;
    while (begin >= 3 && strncmp(line + begin - 2, "::", 2) == 0 && is_name(line[begin - 3]))
        begin = part_begin(line, begin - 2);
    return begin < 0 ? NULL : g_strndup(line + begin, (size_t)(end - begin));
}
