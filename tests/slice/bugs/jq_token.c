/* jq_token.c - the zero behind a token is one byte too far.
 *
 * SPDX-License-Identifier: MIT
 *
 * After jq 1.5, CVE-2015-8863: tokenadd() made room for the character that it was given, and
 * check_literal() put a zero behind the last one.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    char *token;
    size_t used, room;
    struct value *top;
};

struct value {
    double number;
    struct value *below;
    long depth;
};

static void token_add(struct parser *p, char c)
{
#ifdef FIXED
    if (p->used + 1 >= p->room) {
#else
    if (p->used == p->room) { /* ROOT CAUSE */
#endif
        p->room = (p->room + 12) * 2;
        p->token = realloc(p->token, p->room);
    }
    p->token[p->used++] = c;
}

static void push(struct parser *p, double number)
{
    struct value *v = malloc(sizeof *v);
    *v = (struct value){number, p->top, p->top ? p->top->depth + 1 : 1};
    p->top = v;
}

static void check_literal(struct parser *p)
{
    if (!p->used)
        return;
    p->token[p->used] = 0;
    push(p, strtod(p->token, NULL));
    p->used = 0;
}

static void scan(struct parser *p, const char *text)
{
    for (; *text; text++)
        if (strchr("0123456789.+-e", *text))
            token_add(p, *text);
        else
            check_literal(p);
    check_literal(p);
}

static double sum_of(struct parser *p)
{
    double sum = 0;
    while (p->top) {
        struct value *v = p->top;
        p->top = v->below;
        sum += v->number;
        free(v);
    }
    return sum;
}

int main(void)
{
    struct parser p = {0};
    scan(&p, "[1, 2.5, 31, 0.25, 17e2");
    scan(&p, "[3, 3.1415926535897932384626, 1, 9");
    printf("%g\n", sum_of(&p));
    free(p.token);
    char *reply = malloc(2000);
    snprintf(reply, 2000, "%zu", p.room);
    free(reply);
    return 0;
}
