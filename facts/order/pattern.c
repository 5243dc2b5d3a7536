/* pattern.c - what went wrong between two threads. SPDX-License-Identifier: MIT */
#include "facts/order/pattern.h"

#include <stdio.h>
#include <string.h>

/* Which accesses make a pattern; of several that do the first counts. */
struct rule {
    enum pattern pattern;
    const char *kinds;   /* R or W for each access */
    const char *threads; /* a: the one, b: the other */
    bool one_frame, updates, unset;
    const char *sentence;
};

/* Sentences: $0 to $3 are accesses, "T2 read it at work.c:12"; $T1 is the second one's thread, $V1
 * its variable. */
static const struct rule rules[] = {
    {PATTERN_LOST_UPDATE, "RWW", "aba", false, true, false,
     "$0, $1, and $2, made from what it had read: what $T1 wrote is lost"},
    {PATTERN_RWW, "RWW", "aba", true, false, false, "$0, $1, and $2 without having seen that"},
    {PATTERN_RWR, "RWR", "aba", true, false, false, "$0, $1, and $2 again: it may have changed"},
    {PATTERN_WWR, "WWR", "aba", true, false, false, "$0, $1, and $2: it may be the other's value"},
    {PATTERN_WRW, "WRW", "aba", true, false, false, "$0, $1 in between, and $2 once more"},
    {PATTERN_TOGETHER, "RWWR", "abba", true, false, false,
     "$0, $1 and $2, and $3: it put an old $V0 and a new $V3 together"},
    {PATTERN_TOGETHER, "WRRW", "abba", true, false, false,
     "$0, $1 and $2, and only then $3: $T1 put a new $V0 and an old $V3 together"},
    {PATTERN_TOGETHER, "WWWW", "abba", true, false, false,
     "$0, $1 and $2, and $3: $V0 is what $T1 wrote, and $V3 is not"},
    {PATTERN_TOGETHER, "RWWW", "abba", true, false, false,
     "$0, $1 and $2, and $3, without having seen the new $V0"},
    {PATTERN_TOGETHER, "WWWR", "abba", true, false, false,
     "$0, $1 and $2, and $3: $V3 is of $T1, and so is $V0 now"},
    {PATTERN_UNSET, "RW", "ab", false, false, true, "$0 before it was set: $1"},
    {PATTERN_DOUBLE_FETCH, "RRW", "aab", true, false, false,
     "$0, and $1 again; $2, which might have come in between"},
    {PATTERN_DOUBLE_FETCH, "WRR", "baa", true, false, false,
     "$0; $1, and $2 again: the write might have come in between"},
};

static bool fits(const struct rule *r, const struct pattern_case *c)
{
    if (strlen(r->kinds) != c->accesses || !c->unordered || (r->one_frame && !c->one_frame) ||
        (r->updates && !c->updates) || (r->unset && !c->unset))
        return false;
    uint32_t a = c->access[strchr(r->threads, 'a') - r->threads].thread;
    for (unsigned i = 0; i < c->accesses; i++)
        if ((r->kinds[i] == 'W') != c->access[i].write ||
            (r->threads[i] == 'a') != (c->access[i].thread == a) ||
            (c->accesses == PATTERN_ACCESSES && i / 2) != c->access[i].other)
            return false;
    return true;
}

/* ---- sentences ---- */

struct line {
    char *at;
    size_t room;
};

static void put(struct line *l, const char *piece, size_t length)
{
    if (!l->room)
        return;
    size_t n = length < l->room - 1 ? length : l->room - 1;
    memcpy(l->at, piece, n);
    l->at += n;
    l->room -= n;
    *l->at = 0;
}

static void put_text(struct line *l, const char *piece)
{
    put(l, piece, strlen(piece));
}

/* The first access alone names a variable, if there is one variable only. */
static const char *name_for(const struct pattern_case *c, unsigned i)
{
    const char *name = c->access[i].other ? c->other : c->variable;
    return !name || (i && c->accesses < PATTERN_ACCESSES) ? "it" : name;
}

static void put_access(struct line *l, const struct pattern_case *c, unsigned i)
{
    const struct pattern_access *a = &c->access[i];
    char thread[16];
    snprintf(thread, sizeof thread, "T%u", a->thread);
    put_text(l, thread);
    put_text(l, a->write ? " wrote " : " read ");
    put_text(l, a->value ? a->value : name_for(c, i));
    if (a->value) {
        put_text(l, a->write ? " to " : " from ");
        put_text(l, name_for(c, i));
    }
    if (a->line) {
        put_text(l, " at ");
        put_text(l, a->line);
    }
}

static void put_sentence(struct line *l, const struct pattern_case *c, const char *sentence)
{
    char thread[16];
    while (*sentence) {
        size_t plain = strcspn(sentence, "$");
        put(l, sentence, plain);
        sentence += plain;
        if (!*sentence)
            break;
        char what = *++sentence;
        bool short_form = what == 'T' || what == 'V';
        unsigned i = (unsigned)(sentence[short_form] - '0');
        snprintf(thread, sizeof thread, "T%u", c->access[i].thread);
        if (!short_form)
            put_access(l, c, i);
        else
            put_text(l, what == 'T' ? thread : name_for(c, i));
        sentence += short_form + 1;
    }
}

enum pattern pattern_find(const struct pattern_case *c, char *sentence, size_t room)
{
    struct line l = {sentence, room};
    put_text(&l, "");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!fits(&rules[i], c))
            continue;
        put_sentence(&l, c, rules[i].sentence);
        return rules[i].pattern;
    }
    return PATTERN_NONE;
}

const char *pattern_name(enum pattern p)
{
    static const char *const name[] = {
        "",
#define PATTERN(NAME, name) name,
#include "facts/order/patterns.def"
#undef PATTERN
    };
    return name[p];
}
