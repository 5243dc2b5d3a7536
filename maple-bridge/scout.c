/* scout.c - which instructions touch memory that threads share. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "maple-bridge/scout.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "facts/order/chance.h"
#include "facts/order/numbers.h"
#include "facts/order/race.h"
#include "facts/order/survey.h"
#include "facts/order/touches.h"
#include "pinball/pinball.h"
#include "slicer/criterion/criterion.h"
#include "study/study.h"
#include "trace/trace.h"

enum { RECENT = 6, PAIRS_MOST = 20000, SITES_MOST = 1 << 20 };

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
    const struct scout_options *o;
    struct feasible *feasible;
    struct numbers insns; /* pc, what is known of it: see site_of() */
    struct scout_site *known;
    size_t knowns;
    struct numbers words; /* word, 0: the first site that touched it */
    uint64_t *first;
    size_t firsts;
    struct scout_site *fresh; /* sites that no run before had */
    size_t freshes;
    struct numbers fresh_keys; /* in the same order */
    struct recent *recent;     /* by thread */
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

/* The hash of a line's text, of all but spaces; 0: it cannot be read. */
static uint64_t text_of(const struct source_line *line)
{
    uint64_t hash = 0;
    uint32_t at = 1;
    FILE *f = line->file && line->line ? fopen(line->file, "re") : NULL;
    for (int c; f && at <= line->line && (c = getc(f)) != EOF; at += c == '\n')
        if (at == line->line && !isspace(c))
            hash = hash_fold(hash ^ hash >> 29, (uint64_t)c);
    if (f)
        fclose(f);
    return hash;
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
    if (!s.sync) {
        s.text = text_of(&line);
        snprintf(s.function, sizeof s.function, "%s", line.function ? line.function : "");
        for (char *c = s.function; *c; c++) /* a word in a memo */
            *c = isspace((unsigned char)*c) ? '_' : *c;
    }
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

/* The C library takes a lock, or gives it back, by one instruction; what else it does to the lock
 * need not be an event. */
static bool is_event(struct look *q, const struct insn *in, struct frame *f)
{
    return insn_locks(in) ||
           !(chance_synchronises(q->chance, f) || source_is_libc(q->study->source, in->pc));
}

/* What a library does for itself is nobody's business. */
static bool is_wanted(struct look *q, const struct scout_site *k, const struct pass_step *st,
                      const struct touches_one *t)
{
    bool chance = false;
    if (!k->key)
        return false;
    if (!k->sync || q->o->libraries)
        return true;
    if (!is_event(q, &st->block->insn[t->insn].in, st->frame))
        return false;
    if (is_variable(q, t->addr, t->bytes, &chance))
        return !chance;
    return !chance_is(q->chance, st->frame);
}

static struct scout_site *find(const struct scout *p, uint64_t key)
{
    const uint32_t n = numbers_find(&p->keys, key, 0);
    return n == NUMBERS_NONE ? NULL : &p->site[n];
}

const struct scout_site *scout_find(const struct scout *p, uint64_t key)
{
    return find(p, key);
}

static int add_site(struct look *q, const struct scout_site *k, bool write)
{
    struct scout_site *s = find(q->out, k->key);
    if (!s) {
        const uint32_t n = numbers_add(&q->fresh_keys, k->key, 0);
        if (n == NUMBERS_NONE || (n == q->freshes && array_append(&q->fresh, &q->freshes, *k)))
            return -1;
        s = &q->fresh[n];
    }
    s->reads = s->reads || !write;
    s->writes = s->writes || write;
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const struct scout_site *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Which of the new sites was touched first is chance: they are numbered by their keys. */
static int add_fresh(struct look *q)
{
    struct scout *p = q->out;
    if (q->freshes)
        qsort(q->fresh, q->freshes, sizeof *q->fresh, by_key);
    for (size_t i = 0; i < q->freshes; i++)
        if (numbers_add(&p->keys, q->fresh[i].key, 0) == NUMBERS_NONE ||
            array_append(&p->site, &p->sites, q->fresh[i]))
            return -1;
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

static int add_pair(struct scout *p, uint64_t first, uint64_t then, bool same)
{
    if (p->pairs >= PAIRS_MOST)
        return 0;
    const uint32_t n = numbers_add(&p->paired, first, then << 1 | same);
    const struct scout_pair new = {first, then, same};
    return n == NUMBERS_NONE || (n == p->pairs && array_append(&p->pair, &p->pairs, new)) ? -1 : 0;
}

static int pair(struct look *q, uint32_t thread, uint64_t key, uint64_t word, uint64_t insn)
{
    struct recent *r = &q->recent[thread];
    if (feasible_touch(q->feasible, key, thread, insn))
        return -1;
    for (unsigned i = 0; i < RECENT; i++) {
        if (!r->at[i].key || insn - r->at[i].insn > q->o->window)
            continue;
        if (add_pair(q->out, r->at[i].key, key, r->at[i].word == word) ||
            feasible_pair(q->feasible, r->at[i].key, r->at[i].insn, key, thread))
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
    const uint64_t word = addr >> q->o->shift;
    return add_site(q, k, t->write) || join(q, k, word) ||
                   pair(q, st->step->thread, k->key, word, st->insn + t->insn)
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
        if (!a || !b)
            continue;
        uint32_t x = root(of, (uint32_t)(a - p->site)), y = root(of, (uint32_t)(b - p->site));
        of[x < y ? y : x] = x < y ? x : y;
    }
    p->groups = 1;
    bool any = false;
    for (uint32_t i = 0; i < p->sites; i++) {
        const uint32_t r = root(of, i);
        p->site[i].group = p->site[i].sync ? 0 : r == i ? p->groups++ : p->site[r].group;
        any |= p->site[i].sliced;
    }
    for (uint32_t i = 0; i < p->sites; i++) /* a root tells for its group first */
        p->site[root(of, i)].idle = any;
    for (uint32_t i = 0; i < p->sites; i++)
        if (p->site[i].sliced)
            p->site[root(of, i)].idle = false;
    for (uint32_t i = 0; i < p->sites; i++)
        p->site[i].idle = p->site[root(of, i)].idle;
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
    q->feasible = feasible_new(q->study, q->sync, err);
    q->recent = calloc(q->out->threads + 1, sizeof *q->recent);
    if (!q->feasible)
        return -1;
    if (!q->chance || !q->recent)
        return err_set(err, "no memory");
    if (touches_pass(q->study, q->sync->first_chunk, &visitor, err))
        return -1;
    return add_fresh(q) || make_groups(q->out) ? err_set(err, "no memory") : 0;
}

int scout_add(struct scout *p, const char *dir, const struct scout_options *o, struct err *err)
{
    const struct study_options options = {.trace = NULL};
    struct look q = {.out = p, .o = o, .study = study_open(dir, &options, err)};
    int bad = q.study ? look(&q, err) : -1;
    p->shift = o->shift;
    chance_free(q.chance);
    survey_deinit(&q.survey);
    numbers_deinit(&q.insns);
    numbers_deinit(&q.words);
    numbers_deinit(&q.fresh_keys);
    free(q.fresh);
    free(q.known);
    free(q.first);
    free(q.recent);
    feasible_free(p->feasible);
    p->feasible = bad ? NULL : q.feasible;
    if (bad)
        feasible_free(q.feasible);
    study_close(q.study);
    return bad;
}

void scout_deinit(struct scout *p)
{
    free(p->site);
    free(p->pair);
    free(p->joined);
    numbers_deinit(&p->keys);
    numbers_deinit(&p->paired);
    feasible_free(p->feasible);
    *p = (struct scout){0};
}

/* ---- a slice ---- */

static int mark_slice(struct scout *p, struct study *s, const struct slice *slice, struct err *err)
{
    for (uint64_t n = slice_next(slice, 0); n != UINT64_MAX; n = slice_next(slice, n + 1)) {
        struct study_insn insn;
        if (study_insn(s, n, &insn, err))
            return -1;
        struct scout_site *site = find(p, key_of(s, insn.block->insn[insn.index].in.pc));
        if (site && !site->sync)
            site->sliced = true;
    }
    return make_groups(p) ? err_set(err, "no memory") : 0;
}

static int slice_study(struct scout *p, struct study *s, const char *text, struct err *err)
{
    const struct criterion_options given = {.text = text};
    const struct slice_options options = {.edges = SLICE_ALL};
    struct criterion c;
    if (criterion_find(s, &given, &c, err))
        return -1;
    struct slice *slice = slice_backward(s->index, c.want, c.wants, &options, err);
    int bad = slice ? mark_slice(p, s, slice, err) : -1;
    slice_free(slice);
    criterion_deinit(&c);
    return bad;
}

int scout_slice(struct scout *p, const char *dir, const char *criterion, struct err *err)
{
    const struct study_options options = {.trace = NULL};
    struct study *s = study_open(dir, &options, err);
    int bad = s ? slice_study(p, s, criterion, err) : -1;
    bool any = false;
    for (size_t i = 0; i < p->sites; i++)
        any |= p->site[i].sliced;
    study_close(s);
    if (!bad && !any)
        return err_set(err, "the slice of '%s' has nothing that threads share", criterion);
    return bad;
}

/* ---- in a memo ---- */

void scout_write(const struct scout *p, FILE *to)
{
    fprintf(to, "threads %" PRIu32 " %u\n", p->threads, p->shift);
    for (size_t i = 0; i < p->sites; i++) {
        const struct scout_site *s = &p->site[i];
        fprintf(to, "site %" PRIx64 " %d %d %d %d %" PRIx64 " %s %s\n", s->key, s->sync, s->reads,
                s->writes, s->sliced, s->text, *s->function ? s->function : "-", s->place);
    }
    for (size_t i = 0; i < p->pairs; i++)
        fprintf(to, "pair %" PRIx64 " %" PRIx64 " %d\n", p->pair[i].first, p->pair[i].then,
                p->pair[i].same);
    for (size_t i = 0; i < p->joins; i++)
        fprintf(to, "join %" PRIx64 " %" PRIx64 "\n", p->joined[i].a, p->joined[i].b);
}

static int site_line(struct scout *p, const char *line)
{
    struct scout_site s = {.key = 0};
    int sync, reads, writes, sliced, n = 0;
    if (sscanf(line, "site %" SCNx64 " %d %d %d %d %" SCNx64 " %63s %n", &s.key, &sync, &reads,
               &writes, &sliced, &s.text, s.function, &n) != 7 ||
        !n || strlen(line + n) >= sizeof s.place || p->sites >= SITES_MOST)
        return -1;
    s.sync = sync, s.reads = reads, s.writes = writes, s.sliced = sliced;
    memcpy(s.place, line + n, strlen(line + n) + 1);
    if (numbers_add(&p->keys, s.key, 0) != p->sites || array_append(&p->site, &p->sites, s))
        return -1;
    return 1;
}

int scout_line(struct scout *p, const char *line)
{
    struct scout_union u;
    uint64_t first, then;
    int same;
    if (strncmp(line, "site ", 5) == 0)
        return site_line(p, line);
    if (sscanf(line, "pair %" SCNx64 " %" SCNx64 " %d", &first, &then, &same) == 3)
        return find(p, first) && find(p, then) && !add_pair(p, first, then, same) ? 1 : -1;
    if (sscanf(line, "join %" SCNx64 " %" SCNx64, &u.a, &u.b) == 2)
        return find(p, u.a) && find(p, u.b) && !array_append(&p->joined, &p->joins, u) ? 1 : -1;
    return sscanf(line, "threads %" SCNu32 " %u", &p->threads, &p->shift) == 2;
}

int scout_settle(struct scout *p)
{
    return make_groups(p);
}

const struct scout_site *scout_site(const struct scout *p, uint32_t number)
{
    return number && number <= p->sites ? &p->site[number - 1] : NULL;
}

static int by_its_key(const void *a, const void *b, void *arg)
{
    const struct scout *p = arg;
    const uint64_t x = p->site[*(const uint16_t *)a - 1].key,
                   y = p->site[*(const uint16_t *)b - 1].key;
    return (x > y) - (x < y);
}

void scout_tell(const struct scout *p, struct agenda *agenda)
{
    const size_t most = p->sites < AGENDA_SITES ? p->sites : AGENDA_SITES - 1;
    agenda->sites = (uint32_t)most + 1;
    agenda->wanted = 0;
    agenda->shift = p->shift ? p->shift : SCOUT_SHIFT;
    agenda->groups = p->groups < AGENDA_GROUPS ? p->groups : AGENDA_GROUPS;
    for (size_t i = 0; i < most; i++) {
        agenda->site[i + 1] = (struct agenda_site){
            .key = p->site[i].key,
            .group =
                (uint16_t)(p->site[i].group < AGENDA_GROUPS ? p->site[i].group : AGENDA_GROUPS - 1),
            .flags = p->site[i].sync ? AGENDA_SYNC : 0};
        if (!p->site[i].idle)
            agenda->by_key[agenda->wanted++] = (uint16_t)(i + 1);
    }
    qsort_r(agenda->by_key, agenda->wanted, sizeof agenda->by_key[0], by_its_key,
            (void *)(uintptr_t)p);
}
