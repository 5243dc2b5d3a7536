/* diff.c - where two recordings of one program took different ways. SPDX-License-Identifier: MIT */
#include "facts/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/diff/values.h"

#define NOWHERE UINT64_MAX /* a branch that nothing post-dominates */

struct way {
    const struct paths_thread *thread;
    size_t at; /* the next event */
};

struct job {
    struct study *a;
    struct diff *out;
    struct paths_table table;
    struct paths paths[2];
    struct way way[2];
    uint32_t pairs;  /* of events, that were numbered */
    uint32_t *match; /* by thread of the first: of the second, or PATHS_NONE */
    gaddr *meet;     /* by stretch: where ways that part at its end meet; 0: not asked yet */
};

static bool is_over(const struct way *w)
{
    return w->at >= w->thread->events;
}

static const struct paths_event *event(const struct way *w)
{
    return &w->thread->event[w->at];
}

static const struct paths_stretch *stretch(const struct job *j, const struct way *w)
{
    return &j->table.stretch[event(w)->stretch];
}

/* ---- where they meet ---- */

/* Where ways meet that part at the end of a stretch. */
static int find_meeting(struct job *j, uint32_t number, gaddr *out, struct err *err)
{
    const struct paths_stretch *s = &j->table.stretch[number];
    struct source_line line;
    if (j->meet[number]) {
        *out = j->meet[number];
        return 0;
    }
    *out = NOWHERE;
    source_line(j->a->source, s->last, &line);
    if (line.entry && (s->kind == INSN_JCC || s->kind == INSN_JCXZ || s->kind == INSN_JMP_IND)) {
        const struct cfg_function *f = cfg_function(j->a->index->cfg, line.entry, err);
        int32_t b = f ? cfg_block_of(f, s->last) : CFG_NONE;
        if (!f)
            return -1;
        int32_t meet = b == CFG_NONE ? CFG_EXIT : cfg_block(f, b)->ipdom;
        if (meet != CFG_EXIT)
            *out = cfg_block(f, meet)->first;
    }
    j->meet[number] = *out;
    return 0;
}

/* Goes on until the frame of that depth is at `meet`, or is left. True: it is there. */
static bool run_to(const struct job *j, struct way *w, uint32_t depth, gaddr meet, uint64_t *insns)
{
    for (; !is_over(w); w->at++) {
        const struct paths_stretch *s = stretch(j, w);
        if (event(w)->depth < depth)
            return false;
        if (event(w)->depth == depth && s->start <= meet && meet <= s->last)
            return true;
        *insns += s->insns;
    }
    return false;
}

/* Until they are in frames of the same depth, which is at most `most`. */
static void level(const struct job *j, struct diff_part *p, uint32_t most)
{
    for (;;) {
        uint32_t depth = most;
        for (int i = 0; i < 2; i++)
            if (!is_over(&j->way[i]) && event(&j->way[i])->depth < depth)
                depth = event(&j->way[i])->depth;
        for (int i = 0; i < 2; i++)
            run_to(j, (struct way *)&j->way[i], depth + 1, NOWHERE, &p->side[i].insns);
        if (is_over(&j->way[0]) || is_over(&j->way[1]) ||
            event(&j->way[0])->depth == event(&j->way[1])->depth)
            return;
        most = depth;
    }
}

/* Takes both to where they are together again. *inside: they meet in the middle of stretches. */
static int rejoin(struct job *j, struct diff_part *p, const struct paths_event *last, bool *inside,
                  struct err *err)
{
    struct way *a = &j->way[0], *b = &j->way[1];
    gaddr meet = NOWHERE;
    size_t from[2] = {a->at, b->at};
    *inside = false;
    if (last && find_meeting(j, last->stretch, &meet, err))
        return -1;
    if (meet != NOWHERE) {
        bool there[2];
        for (int i = 0; i < 2; i++)
            there[i] = run_to(j, &j->way[i], last->depth, meet, &p->side[i].insns);
        if (there[0] && there[1]) {
            uint32_t x = stretch(j, a)->insns, y = stretch(j, b)->insns, both = x < y ? x : y;
            p->side[0].insns += x - both;
            p->side[1].insns += y - both;
            *inside = true;
            return 0;
        }
        if (!is_over(a) && !is_over(b) && last->depth)
            level(j, p, last->depth - 1);
    } else if (!is_over(a) && !is_over(b)) {
        level(j, p, last ? last->depth : UINT32_MAX - 1);
    }
    /* Nothing was passed: they are in one frame, and not at the same place of it. */
    if (!is_over(a) && !is_over(b) && a->at == from[0] && b->at == from[1]) {
        uint32_t depth = event(a)->depth;
        for (int i = 0; i < 2; i++)
            run_to(j, &j->way[i], depth, NOWHERE, &p->side[i].insns);
        if (!is_over(a) && !is_over(b))
            level(j, p, depth);
    }
    return 0;
}

/* ---- two ways ---- */

/* They have the next event in common. */
static void go_together(struct job *j)
{
    struct paths_moment *m[2];
    bool both = true;
    j->out->together++;
    for (int i = 0; i < 2; i++) {
        const struct way *w = &j->way[i];
        m[i] = &w->thread->moment[w->at];
        both &= w->at < w->thread->moments;
        j->way[i].at++;
    }
    if (both)
        m[0]->pair = m[1]->pair = ++j->pairs;
}

static struct diff_part begin_part(const struct job *j, const struct paths_event *last,
                                   uint32_t other)
{
    struct diff_part p = {.times = 1, .depth = last ? last->depth : 0};
    const uint32_t thread[2] = {(uint32_t)(j->way[0].thread - j->paths[0].thread), other};
    for (int i = 0; i < 2; i++) {
        const struct way *w = &j->way[i];
        p.side[i] = (struct diff_side){.thread = thread[i],
                                       .event = last ? w->at - 1 : SIZE_MAX,
                                       .to = is_over(w) ? 0 : stretch(j, w)->start};
    }
    p.branch = last ? j->table.stretch[last->stretch].last : 0;
    return p;
}

int diff_add(struct diff *d, const struct diff_part *p, struct err *err)
{
    uint32_t n = NUMBERS_NONE;
    if (p->branch) {
        n = numbers_add(&d->folded, (uint64_t)p->side[0].thread << 1 | (p->kind == DIFF_VALUE),
                        p->branch);
        if (n == NUMBERS_NONE)
            return err_set(err, "no memory");
    }
    if (n < d->folds) {
        struct diff_part *have = &d->part[d->folded_part[n]];
        have->times++;
        for (int i = 0; i < 2; i++) {
            have->side[i].insns += p->side[i].insns;
            have->side[i].ended |= p->side[i].ended;
        }
        return 0;
    }
    if ((p->branch && array_push(&d->folded_part, &d->folds, &d->fold_room, d->parts)) ||
        array_append(&d->part, &d->parts, *p))
        return err_set(err, "no memory");
    return 0;
}

/* One of them is over, or both: the other one goes to its end. */
static void run_out(struct job *j, struct diff_part *p)
{
    for (int i = 0; i < 2; i++) {
        p->side[i].ended = is_over(&j->way[i]);
        run_to(j, &j->way[i], 0, NOWHERE, &p->side[i].insns);
    }
}

static bool is_common(const struct job *j, bool inside)
{
    const struct way *a = &j->way[0], *b = &j->way[1];
    return !is_over(a) && !is_over(b) && event(a)->depth == event(b)->depth &&
           (event(a)->stretch == event(b)->stretch ||
            (inside && stretch(j, a)->last == stretch(j, b)->last));
}

/* How a way that is over went on may not be known. */
static bool is_cut(const struct job *j)
{
    return (is_over(&j->way[0]) && j->paths[0].cut) || (is_over(&j->way[1]) && j->paths[1].cut);
}

static int align(struct job *j, uint32_t first, uint32_t second, struct err *err)
{
    struct way *a = &j->way[0], *b = &j->way[1];
    const struct paths_event *last = NULL; /* what they had in common right before */
    bool inside = false;
    *a = (struct way){.thread = &j->paths[0].thread[first]};
    *b = (struct way){.thread = &j->paths[1].thread[second]};
    while ((!is_over(a) || !is_over(b)) && !is_cut(j)) {
        if (is_common(j, inside)) {
            last = event(a);
            go_together(j);
            inside = false;
            continue;
        }
        struct diff_part p = begin_part(j, last, second);
        if (!is_over(a) && !is_over(b) && rejoin(j, &p, last, &inside, err))
            return -1;
        if ((is_over(a) || is_over(b)) && !is_cut(j))
            run_out(j, &p);
        if (diff_add(j->out, &p, err))
            return -1;
        last = NULL;
    }
    return 0;
}

/* ---- all of it ---- */

static void match_threads(struct job *j)
{
    const struct paths *a = &j->paths[0], *b = &j->paths[1];
    uint32_t matched = 0;
    for (uint32_t i = 0; i < a->threads; i++) {
        const struct paths_thread *x = &a->thread[i];
        uint32_t maker = x->maker == PATHS_NONE ? PATHS_NONE : j->match[x->maker];
        j->match[i] = PATHS_NONE;
        for (uint32_t k = 0; k < b->threads && j->match[i] == PATHS_NONE; k++) {
            const struct paths_thread *y = &b->thread[k];
            if (x->maker == PATHS_NONE ? y->maker == PATHS_NONE && i == k
                                       : maker != PATHS_NONE && y->maker == maker &&
                                             y->site == x->site && y->ordinal == x->ordinal)
                j->match[i] = k;
        }
        matched += j->match[i] != PATHS_NONE;
    }
    j->out->alone[0] = a->threads - matched;
    j->out->alone[1] = b->threads - matched;
}

static int by_event(const void *a, const void *b)
{
    const struct paths_want *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static struct paths_want want_of(const struct diff_part *p, int side)
{
    return (struct paths_want){.thread = p->side[side].thread,
                               .event = p->side[side].event,
                               .pc = p->kind == DIFF_VALUE ? p->branch : 0};
}

/* The moments of one side. */
static int find_moments(struct job *j, struct study *s, int side, struct err *err)
{
    struct diff *d = j->out;
    struct paths_want *want = calloc(d->parts + 1, sizeof *want);
    size_t wants = 0;
    if (!want)
        return err_set(err, "no memory");
    for (size_t i = 0; i < d->parts; i++)
        if (d->part[i].side[side].event != SIZE_MAX)
            want[wants++] = want_of(&d->part[i], side);
    qsort(want, wants, sizeof *want, by_event);
    int bad = paths_find(j->a, s, want, wants, err);
    for (size_t i = 0; !bad && i < d->parts; i++) {
        struct diff_side *x = &d->part[i].side[side];
        struct paths_want key = want_of(&d->part[i], side);
        const struct paths_want *w =
            wants ? bsearch(&key, want, wants, sizeof *want, by_event) : NULL;
        if (w) {
            x->insn = w->insn;
            x->at = w->at;
        }
    }
    free(want);
    return bad;
}

static int compare(struct job *j, struct study *b, struct err *err)
{
    if (paths_make(j->a, j->a, &j->table, &j->paths[0], err) ||
        paths_make(j->a, b, &j->table, &j->paths[1], err))
        return -1;
    j->match = calloc(j->paths[0].threads + 1, sizeof *j->match);
    j->meet = calloc(j->table.count + 1, sizeof *j->meet);
    if (!j->match || !j->meet)
        return err_set(err, "no memory");
    match_threads(j);
    for (uint32_t i = 0; i < j->paths[0].threads; i++)
        if (j->match[i] != PATHS_NONE && align(j, i, j->match[i], err))
            return -1;
    struct values_input in = {{j->a, b}, {&j->paths[0], &j->paths[1]}, &j->table, j->match};
    if (values_compare(&in, j->out, err))
        return -1;
    for (int i = 0; i < 2; i++) {
        j->out->cut[i] = j->paths[i].cut;
        j->out->cut_values[i] = j->paths[i].events > j->paths[i].moments;
    }
    return find_moments(j, j->a, 0, err) || find_moments(j, b, 1, err) ? -1 : 0;
}

int diff_make(struct study *a, struct study *b, struct diff *out, struct err *err)
{
    struct job j = {.a = a, .out = out};
    *out = (struct diff){0};
    int bad = compare(&j, b, err);
    paths_deinit(&j.paths[0]);
    paths_deinit(&j.paths[1]);
    paths_table_deinit(&j.table);
    free(j.match);
    free(j.meet);
    if (bad)
        diff_deinit(out);
    return bad;
}

void diff_deinit(struct diff *d)
{
    free(d->part);
    free(d->folded_part);
    numbers_deinit(&d->folded);
    *d = (struct diff){0};
}
