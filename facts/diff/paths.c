/* paths.c - the ways of a recording's threads through the user's own code.
 *
 * SPDX-License-Identifier: MIT
 */
#include "facts/diff/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "pinball/kept.h"
#include "pinball/pinball.h"
#include "trace/pass.h"

/* What is known of a block of the trace. */
enum { OWN_UNKNOWN, OWN_NO, OWN_YES };
struct known {
    uint8_t own;
    gaddr by; /* to be added to its addresses */
};

/* A piece of the other recording's memory, and where the first has the same. */
struct moved {
    gaddr start, end, by;
};

struct job {
    struct study *first, *s;
    struct paths_table *table;
    struct paths *out;
    struct moved *moved;
    size_t moves;
    struct known *known;
    struct paths_want *want; /* NULL: all events are kept */
    size_t wants;
};

/* ---- stretches ---- */

/* Its number; PATHS_NONE: no memory. */
static uint32_t intern(struct paths_table *t, struct paths_stretch s)
{
    uint32_t n = numbers_add(&t->numbers, s.start, s.last);
    if (n == NUMBERS_NONE || (n == t->count && array_push(&t->stretch, &t->count, &t->room, s)))
        return PATHS_NONE;
    return n;
}

void paths_table_deinit(struct paths_table *t)
{
    free(t->stretch);
    numbers_deinit(&t->numbers);
    *t = (struct paths_table){0};
}

/* ---- one program ---- */

bool paths_same_file(const struct kept_file *a, const struct kept_file *b)
{
    if (a->build_id && b->build_id)
        return !strcmp(a->build_id, b->build_id);
    return a->size == b->size && a->ranges && a->ranges == b->ranges &&
           !strcmp(a->range[0].sha256, b->range[0].sha256);
}

/* Code of files that both have mapped: where the first recording has it. */
static int find_moved(struct job *j, struct err *err)
{
    const struct trace_map *a, *b;
    size_t as = trace_maps(j->first->trace, &a), bs = trace_maps(j->s->trace, &b);
    for (size_t i = 0; i < bs; i++)
        for (size_t k = 0; k < as; k++) {
            if (b[i].file < 0 || a[k].file < 0 || !(b[i].prot & 4) || !(a[k].prot & 4) ||
                a[k].offset != b[i].offset ||
                !paths_same_file(pinball_file(j->first->pinball, (uint32_t)a[k].file),
                                 pinball_file(j->s->pinball, (uint32_t)b[i].file)))
                continue;
            struct moved m = {b[i].start, b[i].end, a[k].start - b[i].start};
            if (array_append(&j->moved, &j->moves, m))
                return err_set(err, "no memory");
            break;
        }
    return 0;
}

/* The program is the first file that a recording maps. */
static const struct kept_file *program_of(struct study *s)
{
    const struct trace_map *map;
    size_t maps = trace_maps(s->trace, &map);
    int32_t first = INT32_MAX;
    for (size_t i = 0; i < maps; i++)
        if (map[i].file >= 0 && (map[i].prot & 4) && map[i].file < first)
            first = map[i].file;
    return first == INT32_MAX ? NULL : pinball_file(s->pinball, (uint32_t)first);
}

static int check_program(struct study *first, struct study *s, struct err *err)
{
    const struct kept_file *a = program_of(first), *b = program_of(s);
    if (!a || !b)
        return err_set(err, "a recording has no program file");
    if (pinball_is_part(first->pinball) || pinball_is_part(s->pinball))
        return err_set(err, "one of them is of a part of a run: only whole ones are compared");
    return paths_same_file(a, b) ? 0
                                 : err_set(err, "they are not of one program: %s, %s (%s)", a->path,
                                           b->path, "other build-ids or contents");
}

static int look_at(struct job *j, const struct code_block *b, struct known *k, struct err *err)
{
    struct source_line line;
    k->own = OWN_NO;
    for (size_t i = 0; i < j->moves; i++) {
        const struct moved *m = &j->moved[i];
        if (b->pc < m->start || b->end > m->end)
            continue;
        k->by = m->by;
        k->own = study_own(j->first, b->pc + m->by, &line) ? OWN_YES : OWN_NO;
        break;
    }
    if (k->own == OWN_YES && !j->want && reads_add(&j->out->reads, b, k->by))
        return err_set(err, "no memory");
    return 0;
}

/* ---- ways ---- */

/* Frames of own code below this one; the first step in a frame tells whose it is. */
static uint32_t depth_of(struct frame *f, bool own)
{
    if (!f->mark) {
        uint32_t below = f->parent && f->parent->mark ? f->parent->mark - 1 : 0;
        f->mark = below + own + 1;
    }
    return f->mark - 1;
}

static bool transfers(uint8_t kind)
{
    return kind != INSN_PLAIN && kind != INSN_SYSCALL && kind != INSN_EMULATE;
}

/* An event more; what is known of its moment, if it is one of the first. */
static int add_event(struct job *j, struct paths_thread *t, const struct pass_step *st,
                     struct paths_event e)
{
    const struct frame *f = st->frame;
    gaddr cfa = f->kind == FRAME_CALL ? f->slot + 8 : 0;
    if (!t->base)
        t->base = cfa;
    if (t->moments == t->events && j->out->moments < PATHS_MOMENTS) {
        struct paths_moment m = {.insn = st->insn, .cfa = cfa};
        if (array_push(&t->moment, &t->moments, &t->moment_room, m))
            return -1;
        j->out->moments++;
    }
    j->out->events++;
    return array_push(&t->event, &t->events, &t->room, e);
}

static int keep(struct job *j, struct paths_thread *t, const struct pass_step *st, gaddr by,
                bool more, uint32_t depth, struct err *err)
{
    const struct insn *last = &st->block->insn[st->step->insns - 1].in;
    if (j->want) {
        t->events += !more;
        return 0;
    }
    struct paths_stretch s = {t->start, last->pc + by, t->insns, last->kind};
    uint32_t n = intern(j->table, s);
    if (n != PATHS_NONE && more)
        t->event[t->events - 1].stretch = n;
    if (n == PATHS_NONE || (!more && add_event(j, t, st, (struct paths_event){n, depth})))
        return err_set(err, "no memory");
    return 0;
}

static void tell_wants(struct job *j, const struct pass_step *st, const struct paths_thread *t,
                       gaddr by)
{
    const struct paths_want *want = j->want;
    size_t low =
        search_first(j->wants, i,
                     want[i].thread < st->step->thread ||
                         (want[i].thread == st->step->thread && want[i].event < t->events - 1));
    for (; low < j->wants && j->want[low].thread == st->step->thread &&
           j->want[low].event == t->events - 1;
         low++) {
        struct paths_want *w = &j->want[low];
        uint32_t at = st->step->insns - 1u;
        while (w->pc && at && st->block->insn[at].in.pc + by != w->pc)
            at--;
        if (w->pc && st->block->insn[at].in.pc + by != w->pc)
            continue;
        w->insn = st->insn + at;
        w->at = (struct position){
            .thread = t->number, .count = st->count, .pc = st->block->insn[at].in.pc};
    }
}

/* 1: enough. */
static int take_step(struct job *j, const struct pass_step *st, struct err *err)
{
    const struct code_block *b = st->block;
    struct known *k = &j->known[b->number];
    struct paths_thread *t = &j->out->thread[st->step->thread];
    if (!k->own && look_at(j, b, k, err))
        return -1;
    uint32_t depth = depth_of(st->frame, k->own == OWN_YES);
    if (k->own != OWN_YES || !st->step->insns)
        return 0;
    gaddr start = b->pc + k->by;
    bool more = t->open && t->serial == st->frame->serial && t->next == start;
    const struct insn *last = &b->insn[st->step->insns - 1].in;
    if (!more) {
        t->start = start;
        t->insns = 0;
    }
    t->insns += st->step->insns;
    t->open = st->step->insns < b->insns || !transfers(last->kind);
    t->next = last->pc + last->len + k->by;
    t->serial = st->frame->serial;
    if (keep(j, t, st, k->by, more, depth, err))
        return -1;
    if (j->want)
        tell_wants(j, st, t, k->by);
    return !j->want && j->out->events >= PATHS_MOST;
}

/* A thread was made. */
static int take_note(void *arg, const struct pass *p, struct err *err)
{
    struct job *j = arg;
    const struct flow_begin *begin = (const struct flow_begin *)p->at.note;
    (void)err;
    if (p->at.note->kind != FLOW_BEGIN || j->want)
        return 0;
    uint32_t child = trace_thread_find(p->trace, begin->thread);
    uint32_t maker = trace_thread_find(p->trace, begin->parent);
    if (!child || child >= j->out->threads || maker >= j->out->threads)
        return 0;
    struct paths_thread *t = &j->out->thread[child];
    const struct paths_thread *m = &j->out->thread[maker];
    t->maker = maker;
    t->site = m->events ? m->event[m->events - 1].stretch : PATHS_NONE;
    for (uint32_t i = 0; i < j->out->threads; i++)
        t->ordinal +=
            i != child && j->out->thread[i].maker == maker && j->out->thread[i].site == t->site;
    return 0;
}

static int run(struct job *j, struct err *err)
{
    struct pass pass;
    struct pass_step st;
    uint32_t threads = trace_threads(j->s->trace);
    j->known = calloc(code_count(trace_code(j->s->trace)) + 1, sizeof *j->known);
    j->out->thread = calloc(threads + 1, sizeof *j->out->thread);
    if (!j->known || !j->out->thread)
        return err_set(err, "no memory");
    j->out->threads = threads;
    for (uint32_t i = 0; i < threads; i++) {
        j->out->thread[i].number = trace_thread(j->s->trace, i);
        j->out->thread[i].maker = PATHS_NONE;
    }
    if (find_moved(j, err) || pass_init(&pass, j->s->trace, err))
        return -1;
    pass.note = take_note;
    pass.arg = j;
    int more, end = 0;
    while (!end && (more = pass_next(&pass, &st, err)))
        end = more < 0 ? -1 : take_step(j, &st, err);
    pass_deinit(&pass);
    j->out->cut = end > 0;
    reads_sort(&j->out->reads);
    return end < 0 ? -1 : 0;
}

static int go(struct job *j, struct err *err)
{
    int bad = check_program(j->first, j->s, err) || run(j, err);
    free(j->moved);
    free(j->known);
    return bad ? -1 : 0;
}

int paths_make(struct study *first, struct study *s, struct paths_table *table, struct paths *out,
               struct err *err)
{
    struct job j = {.first = first, .s = s, .table = table, .out = out};
    *out = (struct paths){0};
    return go(&j, err);
}

void paths_deinit(struct paths *p)
{
    for (uint32_t i = 0; p->thread && i < p->threads; i++) {
        free(p->thread[i].event);
        free(p->thread[i].moment);
    }
    reads_deinit(&p->reads);
    free(p->thread);
    *p = (struct paths){0};
}

int paths_find(struct study *first, struct study *s, struct paths_want *want, size_t wants,
               struct err *err)
{
    struct paths out = {0};
    struct job j = {.first = first, .s = s, .out = &out, .want = want, .wants = wants};
    int bad = wants ? go(&j, err) : 0;
    paths_deinit(&out);
    return bad;
}
