/* scout.c - which instructions touch memory that threads share. SPDX-License-Identifier: MIT */
#include "maple-bridge/scout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "facts/order/chance.h"
#include "facts/order/numbers.h"
#include "facts/order/race.h"
#include "facts/order/survey.h"
#include "facts/order/touches.h"
#include "pinball/pinball.h"
#include "study/study.h"
#include "trace/trace.h"

enum { WINDOW = 1000, RECENT = 6, PAIRS_MOST = 20000 };

/* Two sites touched the same word. */
struct scout_union {
    uint64_t a, b;
};

/* What a thread touched last. */
struct recent {
    struct {
        uint64_t key, word, insn;
    } at[RECENT];
    unsigned next;
};

struct look {
    struct scout *out;
    struct study *study;
    const struct sync *sync;
    struct survey survey;
    struct chance *chance;
    bool libraries;
    struct numbers insns; /* pc, what is known of it: see site_of() */
    struct scout_site *known;
    size_t knowns;
    struct numbers words; /* word, 0: the first site that touched it */
    uint64_t *first;
    size_t firsts;
    struct numbers pairs;  /* key and key, the lowest bit of the second one is `same` */
    struct recent *recent; /* by thread */
};

/* ---- sites ---- */

static uint64_t key_of(struct study *s, gaddr pc)
{
    const struct trace_map *map;
    const size_t maps = trace_maps(s->trace, &map);
    for (size_t i = 0; i < maps; i++) {
        if (pc < map[i].start || pc >= map[i].end || map[i].file < 0)
            continue;
        const struct kept_file *f = pinball_file(s->pinball, (uint32_t)map[i].file);
        if (f && f->path)
            return agenda_key(agenda_module(f->path), map[i].offset + (pc - map[i].start));
    }
    return 0;
}

/* The number of what is known of an instruction; NUMBERS_NONE: no memory. */
static uint32_t known_of(struct look *q, gaddr pc)
{
    const uint32_t n = numbers_add(&q->insns, pc, 0);
    if (n == NUMBERS_NONE || n < q->knowns)
        return n;
    struct scout_site s = {.key = key_of(q->study, pc)};
    struct source_line line;
    s.sync = !study_own(q->study, pc, &line);
    study_place(q->study, pc, s.place, sizeof s.place);
    return array_append(&q->known, &q->knowns, s) ? NUMBERS_NONE : n;
}

static bool is_variable(const struct look *q, gaddr addr, uint64_t bytes, bool *chance)
{
    const struct sync *s = q->sync;
    size_t i = sync_may(s, addr) ? sync_find(s, addr) : s->variables;
    if (i >= s->variables || s->variable[i].start >= addr + bytes)
        return false;
    *chance = q->survey.chance[i];
    return true;
}

/* What a library does for itself is nobody's business. */
static bool is_wanted(struct look *q, const struct scout_site *k, const struct pass_step *st,
                      const struct touches_one *t)
{
    bool chance = false;
    if (!k->key)
        return false;
    if (!k->sync || q->libraries)
        return true;
    if (is_variable(q, t->addr, t->bytes, &chance))
        return !chance;
    return !chance_is(q->chance, st->frame);
}

static struct scout_site *find(const struct scout *p, uint64_t key)
{
    const size_t i = search_below(p->site, p->sites, key, key);
    return i < p->sites && p->site[i].key == key ? &p->site[i] : NULL;
}

const struct scout_site *scout_find(const struct scout *p, uint64_t key)
{
    return find(p, key);
}

static int add_site(struct scout *p, const struct scout_site *k, bool write)
{
    struct scout_site *s = find(p, k->key);
    if (!s) {
        if (array_append(&p->site, &p->sites, *k))
            return -1;
        size_t i = p->sites - 1;
        for (; i && p->site[i - 1].key > k->key; i--)
            p->site[i] = p->site[i - 1];
        p->site[i] = *k;
        s = &p->site[i];
    }
    s->reads = s->reads || !write;
    s->writes = s->writes || write;
    return 0;
}

/* ---- words and pairs ---- */

/* Libraries work on everybody's words: they would make one variable of all. */
static int join(struct look *q, const struct scout_site *k, uint64_t word)
{
    if (k->sync)
        return 0;
    const uint32_t n = numbers_add(&q->words, word, 0);
    if (n == NUMBERS_NONE)
        return -1;
    if (n == q->firsts)
        return array_append(&q->first, &q->firsts, k->key);
    if (q->first[n] == k->key)
        return 0;
    const struct scout_union u = {q->first[n], k->key};
    for (size_t i = 0; i < q->out->joins; i++)
        if (q->out->joined[i].a == u.a && q->out->joined[i].b == u.b)
            return 0;
    return array_append(&q->out->joined, &q->out->joins, u);
}

static int pair(struct look *q, uint32_t thread, uint64_t key, uint64_t word, uint64_t insn)
{
    struct recent *r = &q->recent[thread];
    for (unsigned i = 0; i < RECENT; i++) {
        if (!r->at[i].key || insn - r->at[i].insn > WINDOW || q->pairs.count >= PAIRS_MOST)
            continue;
        const uint64_t same = r->at[i].word == word;
        if (numbers_add(&q->pairs, r->at[i].key, key << 1 | same) == NUMBERS_NONE)
            return -1;
    }
    r->at[r->next % RECENT].key = key;
    r->at[r->next % RECENT].word = word;
    r->at[r->next++ % RECENT].insn = insn;
    return 0;
}

static int take_word(struct look *q, const struct pass_step *st, const struct touches_one *t,
                     uint64_t addr)
{
    const uint32_t n = known_of(q, st->block->insn[t->insn].in.pc);
    if (n == NUMBERS_NONE)
        return -1;
    const struct scout_site *k = &q->known[n];
    if (!is_wanted(q, k, st, t))
        return 0;
    return add_site(q->out, k, t->write) || join(q, k, addr >> 3) ||
                   pair(q, st->step->thread, k->key, addr >> 3, st->insn + t->insn)
               ? -1
               : 0;
}

static int take_touch(void *arg, const struct pass_step *st, const struct touches_one *t,
                      struct err *err)
{
    struct look *q = arg;
    if (t->renews || t->noted)
        return 0;
    for (uint64_t at = t->addr; at < t->addr + t->bytes; at = (at | 7) + 1) {
        const struct shared_page *page = shared_find(&q->survey.shared, at);
        if (page && shared_has(page, at))
            return take_word(q, st, t, at) ? err_set(err, "no memory") : 0;
    }
    return 0;
}

/* ---- the result ---- */

static int add_pairs(struct look *q)
{
    struct scout *p = q->out;
    for (size_t i = 0; i < q->pairs.count; i++) {
        const uint64_t *pair_ = q->pairs.pair[i];
        const struct scout_pair new = {pair_[0], pair_[1] >> 1, pair_[1] & 1};
        bool there = false;
        for (size_t k = 0; k < p->pairs && !there; k++)
            there = p->pair[k].first == new.first && p->pair[k].then == new.then &&
                    p->pair[k].same == new.same;
        if (!there && p->pairs < PAIRS_MOST && array_append(&p->pair, &p->pairs, new))
            return -1;
    }
    return 0;
}

static uint32_t root(const uint32_t *of, uint32_t i)
{
    while (of[i] != i)
        i = of[i];
    return i;
}

/* Groups are numbered in the order of their first site; 0 is what libraries touch. */
static int make_groups(struct scout *p)
{
    uint32_t *of = malloc((p->sites + 1) * sizeof *of);
    if (!of)
        return -1;
    for (uint32_t i = 0; i < p->sites; i++)
        of[i] = i;
    for (size_t i = 0; i < p->joins; i++) {
        const struct scout_site *a = find(p, p->joined[i].a), *b = find(p, p->joined[i].b);
        uint32_t x = root(of, (uint32_t)(a - p->site)), y = root(of, (uint32_t)(b - p->site));
        of[x < y ? y : x] = x < y ? x : y;
    }
    p->groups = 1;
    for (uint32_t i = 0; i < p->sites; i++) {
        const uint32_t r = root(of, i);
        p->site[i].group = p->site[i].sync ? 0 : r == i ? p->groups++ : p->site[r].group;
    }
    free(of);
    return 0;
}

static int look(struct look *q, struct err *err)
{
    const struct touches_visitor visitor = {.touch = take_touch, .arg = q};
    q->sync = race_sync(q->study, err);
    if (!q->sync || survey_init(&q->survey, q->study, q->sync, err))
        return -1;
    q->out->threads = trace_threads(q->study->trace);
    q->chance = chance_new(q->study, err);
    q->recent = calloc(q->out->threads + 1, sizeof *q->recent);
    if (!q->chance || !q->recent)
        return err_set(err, "no memory");
    if (touches_pass(q->study, q->sync->first_chunk, &visitor, err))
        return -1;
    return add_pairs(q) || make_groups(q->out) ? err_set(err, "no memory") : 0;
}

int scout_add(struct scout *p, const char *dir, bool libraries, struct err *err)
{
    const struct study_options options = {.trace = NULL};
    struct look q = {.out = p, .libraries = libraries, .study = study_open(dir, &options, err)};
    int bad = q.study ? look(&q, err) : -1;
    chance_free(q.chance);
    survey_deinit(&q.survey);
    numbers_deinit(&q.insns);
    numbers_deinit(&q.words);
    numbers_deinit(&q.pairs);
    free(q.known);
    free(q.first);
    free(q.recent);
    study_close(q.study);
    return bad;
}

void scout_deinit(struct scout *p)
{
    free(p->site);
    free(p->pair);
    free(p->joined);
    *p = (struct scout){0};
}

const struct scout_site *scout_site(const struct scout *p, uint32_t number)
{
    return number && number <= p->sites ? &p->site[number - 1] : NULL;
}

void scout_tell(const struct scout *p, struct agenda *agenda)
{
    const size_t most = p->sites < AGENDA_SITES ? p->sites : AGENDA_SITES - 1;
    agenda->sites = (uint32_t)most + 1;
    agenda->groups = p->groups < AGENDA_GROUPS ? p->groups : AGENDA_GROUPS;
    for (size_t i = 0; i < most; i++)
        agenda->site[i + 1] = (struct agenda_site){
            .key = p->site[i].key,
            .group =
                (uint16_t)(p->site[i].group < AGENDA_GROUPS ? p->site[i].group : AGENDA_GROUPS - 1),
            .flags = p->site[i].sync ? AGENDA_SYNC : 0};
}
