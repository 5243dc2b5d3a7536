/* nesting_depth.c - a parser counts how deep it is, and forgets to count back on one way out.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8 };

struct parser {
    const char *at;
    int depth, failed;
    long sum;
};

static void skip(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static int parse_value(struct parser *p);

static int parse_number(struct parser *p)
{
    char *end;
    p->sum += strtol(p->at, &end, 10);
    p->at = end;
    return 1;
}

static int parse_list(struct parser *p)
{
    if (++p->depth > DEEPEST)
        return 0;
    p->at++;
    skip(p);
    if (*p->at == ']') {
        p->at++;
#ifdef FIXED
        p->depth--;
#endif
        return 1; /* ROOT CAUSE */
    }
    for (;;) {
        if (!parse_value(p))
            return 0;
        skip(p);
        if (*p->at == ',') {
            p->at++;
            continue;
        }
        if (*p->at++ != ']')
            return 0;
        p->depth--;
        return 1;
    }
}

static int parse_value(struct parser *p)
{
    skip(p);
    return *p->at == '[' ? parse_list(p) : parse_number(p);
}

static int parse(struct parser *p, const char *text)
{
    p->at = text;
    if (!parse_value(p))
        p->failed++;
    return p->failed == 0;
}

int main(void)
{
    static const char *const texts[] = {
        "[1, 2, [3, 4]]", "[[], 5, []]", "[[[6]], [], []]", "[[], [7, []], 8]", "[[[[9, 10]]]]",
    };
    struct parser p = {0};
    int good = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        good += parse(&p, texts[i]);
    printf("%d good, sum %ld\n", good, p.sum);
    assert(good == 5);
    return 0;
}
