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

/* Sentences: $0 to $2 are accesses, "T2 read it at work.c:12"; $T1 is the second one's thread. */
static const struct rule rules[] = {
    {PATTERN_LOST_UPDATE, "RWW", "aba", false, true, false,
     "$0, $1, and $2, made from what it had read: what $T1 wrote is lost"},
    {PATTERN_RWW, "RWW", "aba", true, false, false, "$0, $1, and $2 without having seen that"},
    {PATTERN_RWR, "RWR", "aba", true, false, false, "$0, $1, and $2 again: it may have changed"},
    {PATTERN_WWR, "WWR", "aba", true, false, false, "$0, $1, and $2: it may be the other's value"},
    {PATTERN_WRW, "WRW", "aba", true, false, false, "$0, $1 in between, and $2 once more"},
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
            (r->threads[i] == 'a') != (c->access[i].thread == a))
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

static void put_access(struct line *l, const struct pattern_case *c, unsigned i)
{
    const struct pattern_access *a = &c->access[i];
    char thread[16];
    snprintf(thread, sizeof thread, "T%u", a->thread);
    put_text(l, thread);
    put_text(l, a->write ? " wrote " : " read ");
    put_text(l, a->value ? a->value : i || !c->variable ? "it" : c->variable);
    if (a->value) {
        put_text(l, a->write ? " to " : " from ");
        put_text(l, i || !c->variable ? "it" : c->variable);
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
        sentence++;
        bool name = *sentence == 'T';
        unsigned i = (unsigned)(sentence[name] - '0');
        snprintf(thread, sizeof thread, "T%u", c->access[i].thread);
        if (name)
            put_text(l, thread);
        else
            put_access(l, c, i);
        sentence += name + 1;
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
    static const char *const name[] = {[PATTERN_NONE] = "",
                                       [PATTERN_LOST_UPDATE] = "lost update",
                                       [PATTERN_RWW] = "atomicity violation",
                                       [PATTERN_RWR] = "atomicity violation",
                                       [PATTERN_WWR] = "atomicity violation",
                                       [PATTERN_WRW] = "atomicity violation",
                                       [PATTERN_UNSET] = "order violation",
                                       [PATTERN_DOUBLE_FETCH] = "double fetch"};
    return name[p];
}
