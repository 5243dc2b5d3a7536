/* condition.c - the memory that decides whether a thread goes on waiting.
 *
 * SPDX-License-Identifier: MIT
 */
#include "facts/hang/condition.h"

#include <inttypes.h>
#include <stdio.h>

#include "facts/hang/ahead.h"
#include "study/writer.h"

enum { STEPS_MOST = 2000, STRAIGHT_MOST = 24, DECISIONS_MOST = 3, WRITERS_MOST = 16 };

struct search {
    struct hang_job *job;
    struct hang_place *place;
    struct ahead ahead;
    size_t frame;   /* of the place's, in which the code that is tried is */
    unsigned depth; /* calls that were made there */
    uint32_t from;  /* places that decided */
    bool left;      /* a branch went where it does not wait */
};

/* Where the call that waits returns to, in the frame that is tried. */
static gaddr back_at(const struct search *q)
{
    return q->place->frame[q->frame].reg[STACK_PC];
}

static bool is_wait(const struct search *q, const struct insn *in)
{
    return (in->kind == INSN_CALL || in->kind == INSN_CALL_IND) && in->pc + in->len == back_at(q);
}

/* May code from pc on come to the wait, with few decisions and without a call of a library? What
 * follows the loop gives back the mutex first, and an outer loop takes it again. */
static bool leads_to_wait(const struct search *q, gaddr pc, unsigned decisions)
{
    struct source_line l;
    struct insn in;
    for (unsigned i = 0; i < STRAIGHT_MOST && ahead_fetch(&q->ahead, pc, &in); i++) {
        gaddr next = pc + in.len;
        if (is_wait(q, &in))
            return true;
        if (in.kind == INSN_JCC)
            return decisions && (leads_to_wait(q, in.target, decisions - 1) ||
                                 leads_to_wait(q, next, decisions - 1));
        if (in.kind != INSN_PLAIN && in.kind != INSN_JMP &&
            !(in.kind == INSN_CALL && study_line(q->job->study, in.target, &l)))
            return false;
        pc = in.kind == INSN_JMP ? in.target : next;
    }
    return false;
}

enum verdict { GO_ON, WAITS, OUTSIDE };

/* A branch of the function that waits. */
static enum verdict take_branch(struct search *q, const struct insn *in)
{
    int holds = ahead_condition(&q->ahead, in);
    gaddr next = in->pc + in->len;
    if (holds < 0)
        return OUTSIDE;
    bool stays = leads_to_wait(q, holds ? in->target : next, DECISIONS_MOST);
    q->left = !stays && leads_to_wait(q, holds ? next : in->target, DECISIONS_MOST);
    if (stays || q->left)
        q->from |= q->ahead.flags_from;
    return stays ? GO_ON : OUTSIDE;
}

static enum verdict step(struct search *q)
{
    struct source_line l;
    struct insn in;
    if (!ahead_fetch(&q->ahead, q->ahead.pc, &in))
        return OUTSIDE;
    if (!q->depth && is_wait(q, &in))
        return WAITS;
    if (in.kind == INSN_CALL && !study_own(q->job->study, in.target, &l))
        return OUTSIDE;
    if (in.kind == INSN_JCC && q->depth)
        q->from |= q->ahead.flags_from;
    else if (in.kind == INSN_JCC) {
        enum verdict v = take_branch(q, &in);
        if (v != GO_ON)
            return v;
    }
    if (in.kind == INSN_RET && !q->depth && ++q->frame >= q->place->frames)
        return OUTSIDE;
    if (in.kind == INSN_RET && q->depth)
        q->depth--;
    if (in.kind == INSN_CALL)
        q->depth++;
    return ahead_step(&q->ahead, &in) ? GO_ON : OUTSIDE;
}

/* ---- what it was ---- */

static void add_cause(struct search *q, unsigned i)
{
    struct hang_thread *t = &q->place->thread;
    const struct ahead *a = &q->ahead;
    struct hang_cause c = {.addr = a->place[i].addr, .bytes = a->place[i].bytes};
    struct study *s = q->job->study;
    const struct stack_frame *f = &q->place->frame[q->frame < q->place->frames ? q->frame : 0];
    const struct source_frame frame = {.cfa = f->cfa, .fs_base = q->place->fs_base};
    if (t->causes == HANG_CAUSES)
        return;
    struct source_type type = {.class = TYPE_NONE};
    uint8_t value[sizeof(uint64_t)] = {0};
    past_read(q->job->end, c.addr, value, c.bytes);
    if (!source_variable_typed(s->source, f->reg[STACK_PC] - 1, &frame, c.addr, c.bytes, c.name,
                               sizeof c.name, &type))
        snprintf(c.name, sizeof c.name, "%" PRIu32 " bytes at 0x%" PRIx64, c.bytes, c.addr);
    source_value_write(&type, value, c.bytes, c.value, sizeof c.value);
    t->cause[t->causes++] = c;
}

static size_t read_end(void *arg, gaddr addr, void *out, size_t bytes)
{
    return past_read(arg, addr, out, bytes);
}

static void try_condition(struct hang_job *j, struct hang_place *p)
{
    const struct stack_memory memory = {read_end, j->end};
    struct search q = {.job = j, .place = p, .frame = p->own};
    enum verdict v = GO_ON;
    ahead_begin(&q.ahead, j->study, &memory, &p->frame[p->own], p->fs_base);
    for (unsigned i = 0; v == GO_ON && i < STEPS_MOST; i++)
        v = step(&q);
    if (v != WAITS && !q.left)
        return;
    p->thread.goes_on = v != WAITS;
    for (unsigned i = 0; i < q.ahead.places; i++)
        if (q.from >> i & 1)
            add_cause(&q, i);
}

/* ---- who wrote it ---- */

static int find_writer(struct hang_job *j, const struct hang_thread *t, struct hang_cause *c,
                       struct err *err)
{
    struct writer_write w;
    struct source_line l;
    if (writer_last(j->study, c->addr, c->bytes, &w, err))
        return -1;
    c->written = (struct hang_moment){.at = w.at, .ticks = w.ticks};
    if (w.at.thread && study_own(j->study, w.at.pc, &l))
        c->written.line_pc = w.at.pc;
    c->signalled = t->signalled.at.thread && t->signalled.ticks >= w.ticks;
    return 0;
}

int condition_find_all(struct hang_job *j, struct err *err)
{
    unsigned writers = 0;
    for (size_t i = 0; i < j->places; i++) {
        struct hang_place *p = &j->place[i];
        struct hang_thread *t = &p->thread;
        if (t->kind != LOCKS_CONDITION || p->own == p->frames)
            continue;
        try_condition(j, p);
        for (unsigned k = 0; k < t->causes && writers < WRITERS_MOST; k++, writers++)
            if (find_writer(j, t, &t->cause[k], err))
                return -1;
    }
    return 0;
}
