/* lexer_state.c - a lexer that has met an error in a comment is still in it when it is used for the
 * next text.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { CODE, COMMENT, STRING };

struct lexer {
    enum state state;
    const char *at;
    int words, depth, errors;
};

static void reset(struct lexer *l, const char *text)
{
    l->at = text;
    l->words = 0;
#ifdef FIXED
    l->state = CODE;
    l->depth = 0;
#else
    l->depth = 0; /* ROOT CAUSE */
#endif
}

static void in_code(struct lexer *l)
{
    if (strncmp(l->at, "/*", 2) == 0) {
        l->state = COMMENT; /* ROOT CAUSE */
        l->at++;
    } else if (*l->at == '"') {
        l->state = STRING;
    } else if (isalpha((unsigned char)*l->at)) {
        l->words++;
        while (isalnum((unsigned char)l->at[1]))
            l->at++;
    } else if (strchr("{}", *l->at)) {
        l->depth += *l->at == '{' ? 1 : -1;
    }
}

static void in_comment(struct lexer *l)
{
    if (strncmp(l->at, "*/", 2) == 0) {
        l->state = CODE;
        l->at++;
    }
}

static void in_string(struct lexer *l)
{
    if (*l->at == '"')
        l->state = CODE;
    else if (*l->at == '\n')
        l->errors++;
}

static int scan(struct lexer *l, const char *text)
{
    static void (*const step[])(struct lexer *) = {in_code, in_comment, in_string};
    for (reset(l, text); *l->at; l->at++)
        step[l->state](l);
    if (l->state != CODE)
        l->errors++;
    return l->words;
}

int main(void)
{
    static const char *const texts[] = {"int main { return 0; }",
                                        "int a; /* a comment */ char *b = \"a string\";",
                                        "long total; /* a comment that does not end",
                                        "static int count; { count = 1; if (count) return; }"};
    struct lexer l = {0};
    int words = 0;
    for (int i = 0; i < 4; i++)
        words += scan(&l, texts[i]);
    printf("%d words, %d errors\n", words, l.errors);
    assert(words == 16);
    return 0;
}
