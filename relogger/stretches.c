/* stretches.c - what is left out as regions of each thread. SPDX-License-Identifier: MIT */
#include "relogger/stretches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "relogger/pieces.h"

/* The nth execution of an instruction in a thread. */
struct point {
    uint64_t pc, instance;
    uint32_t thread; /* number */
};

struct region {
    struct point from, to; /* to.instance 0: the thread's end */
    size_t line;
    bool begun, ended;
};

/* Executions of an instruction in a thread, so far. */
struct count {
    uint64_t place, thread; /* pc plus one; 0: free */
    uint64_t executed;
};

struct counts {
    TABLE(struct count) table;
};

struct stretches {
    char *name;
    struct region *list;
    size_t count, room;
    struct counts counts; /* of instructions that begin or end one */
    struct trace *trace;
    uint8_t *known;      /* by block: 1: none of those is in it; 2: some are */
    struct region **now; /* by thread: the one that it is in */
};

/* ---- counting ---- */

static struct count *count_of(struct counts *c, uint64_t pc, uint32_t thread, bool make)
{
    if (make && table_reserve_pair(&c->table))
        return NULL;
    if (!c->table.room)
        return NULL;
    struct count *k = table_find_pair(&c->table, pc + 1, thread);
    if (k->place || !make)
        return k->place ? k : NULL;
    c->table.used++;
    *k = (struct count){.place = pc + 1, .thread = thread};
    return k;
}

/* ---- reading ---- */

static bool take_point(const char *text, const char *form, struct point *out, int *end)
{
    *end = 0;
    return sscanf(text, form, &out->pc, &out->instance, &out->thread, end) == 3 && *end &&
           out->instance && out->thread && !(out->pc >> 47);
}

static int take_line(struct stretches *r, char *text, size_t line, struct err *err)
{
    struct region region = {.line = line};
    int at, end;
    text[strcspn(text, "#\n")] = 0;
    if (!text[strspn(text, " \t\r")])
        return 0;
    bool good =
        take_point(text, " [ %" SCNx64 " : %" SCNu64 " : %" SCNu32 " , %n", &region.from, &at);
    if (good && !strncmp(text + at, "end", 3))
        good = !strcmp(text + at + 3 + strspn(text + at + 3, " \t"), ")");
    else if (good)
        good = take_point(text + at, "%" SCNx64 " : %" SCNu64 " : %" SCNu32 " ) %n", &region.to,
                          &end) &&
               !text[at + end] && region.to.thread == region.from.thread;
    if (!good)
        return err_set(err, "%s:%zu: not a region, such as [0x401136:3:1, 0x40114a:7:1)", r->name,
                       line);
    return array_push(&r->list, &r->count, &r->room, region) ? err_set(err, "no memory") : 0;
}

struct stretches *stretches_read(FILE *in, const char *name, struct err *err)
{
    struct stretches *r = calloc(1, sizeof *r);
    char *text = NULL;
    size_t room = 0, line = 0;
    int bad = r && (r->name = strdup(name)) ? 0 : err_set(err, "no memory");
    while (!bad && getline(&text, &room, in) > 0)
        bad = take_line(r, text, ++line, err);
    if (!bad && ferror(in))
        bad = err_set(err, "%s: %m", name);
    free(text);
    for (size_t i = 0; !bad && i < r->count; i++) {
        const struct region *x = &r->list[i];
        if (!count_of(&r->counts, x->from.pc, x->from.thread, true) ||
            (x->to.instance && !count_of(&r->counts, x->to.pc, x->to.thread, true)))
            bad = err_set(err, "no memory");
    }
    if (!bad)
        return r;
    stretches_free(r);
    return NULL;
}

void stretches_free(struct stretches *r)
{
    if (!r)
        return;
    free(r->name);
    free(r->list);
    free(r->counts.table.slot);
    free(r->known);
    free(r->now);
    free(r);
}

/* ---- in a pass ---- */

int stretches_begin(struct stretches *r, struct trace *trace, struct err *err)
{
    r->trace = trace;
    r->known = calloc(code_count(trace_code(trace)) + 1u, sizeof *r->known);
    r->now = calloc(trace_threads(trace) + 1u, sizeof *r->now);
    return r->known && r->now ? 0 : err_set(err, "no memory");
}

static bool is_point(const struct point *p, const struct count *c)
{
    return p->pc + 1 == c->place && p->thread == c->thread && p->instance == c->executed;
}

/* An instruction that begins or ends regions is about to be executed. */
static int reach(struct stretches *r, const struct count *c, struct region **now, struct err *err)
{
    if (*now && (*now)->to.instance && is_point(&(*now)->to, c)) {
        (*now)->ended = true;
        *now = NULL;
    }
    for (size_t i = 0; i < r->count; i++) {
        struct region *x = &r->list[i];
        if (!is_point(&x->from, c))
            continue;
        if (*now)
            return err_set(err, "%s:%zu: the region overlaps that of line %zu", r->name, x->line,
                           (*now)->line);
        x->begun = true;
        *now = x;
    }
    return 0;
}

int stretches_step(struct stretches *r, const struct pass_step *s, uint64_t *out, struct err *err)
{
    const uint32_t thread = trace_thread(r->trace, s->step->thread);
    struct region **now = &r->now[s->step->thread];
    uint8_t *known = &r->known[s->block->number];
    for (uint32_t i = 0; !*known && i < s->block->insns; i++)
        for (size_t k = 0; k < r->count && !*known; k++)
            if (r->list[k].from.pc == s->block->insn[i].in.pc ||
                r->list[k].to.pc == s->block->insn[i].in.pc)
                *known = 2;
    *known = *known ? *known : 1;
    *out = *now ? UINT64_MAX : 0;
    for (uint32_t i = 0; *known == 2 && i < s->step->insns; i++) {
        struct count *c = count_of(&r->counts, s->block->insn[i].in.pc, thread, false);
        if (c) {
            c->executed++;
            if (reach(r, c, now, err))
                return -1;
        }
        *out = *now ? *out | 1ull << i : *out & ~(1ull << i);
    }
    return 0;
}

int stretches_check(const struct stretches *r, struct err *err)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct region *x = &r->list[i];
        if (!x->begun)
            return err_set(err,
                           "%s:%zu: the region does not begin: thread %" PRIu32
                           " does not execute 0x%" PRIx64 " %" PRIu64 " times",
                           r->name, x->line, x->from.thread, x->from.pc, x->from.instance);
        if (x->to.instance && !x->ended)
            return err_set(err,
                           "%s:%zu: the region never ends: thread %" PRIu32
                           " does not come to 0x%" PRIx64 " for the %" PRIu64 ". time behind its "
                           "begin",
                           r->name, x->line, x->to.thread, x->to.pc, x->to.instance);
    }
    return 0;
}

/* ---- writing ---- */

struct writing {
    const struct pieces *kept;
    size_t next;
    struct counts counts;
    bool *out; /* by thread: it is in a region */
    FILE *file;
};

static bool is_kept(struct writing *w, uint64_t insn)
{
    const struct pieces *k = w->kept;
    while (w->next < k->pieces && k->piece[w->next].first + k->piece[w->next].insns <= insn)
        w->next++;
    return w->next < k->pieces && k->piece[w->next].first <= insn;
}

static int write_step(struct writing *w, struct point *begun, const struct pass_step *s,
                      uint32_t number, struct err *err)
{
    const uint32_t t = s->step->thread;
    for (uint32_t i = 0; i < s->step->insns && !s->block->gap; i++) {
        const uint64_t pc = s->block->insn[i].in.pc;
        const bool kept = is_kept(w, s->insn + i);
        struct count *c = count_of(&w->counts, pc, number, true);
        if (!c)
            return err_set(err, "no memory");
        c->executed++;
        if (kept && w->out[t])
            fprintf(w->file,
                    "[0x%" PRIx64 ":%" PRIu64 ":%" PRIu32 ", 0x%" PRIx64 ":%" PRIu64 ":%" PRIu32
                    ")\n",
                    begun[t].pc, begun[t].instance, number, pc, c->executed, number);
        if (!kept && !w->out[t])
            begun[t] = (struct point){pc, c->executed, number};
        w->out[t] = !kept;
    }
    return 0;
}

int stretches_write(struct trace *trace, const struct pieces *kept, FILE *out, struct err *err)
{
    struct writing w = {.kept = kept, .file = out};
    struct point *begun = calloc(trace_threads(trace) + 1u, sizeof *begun);
    struct pass p;
    struct pass_step s;
    int more = 0;
    w.out = calloc(trace_threads(trace) + 1u, sizeof *w.out);
    if (!begun || !w.out)
        more = err_set(err, "no memory");
    else if (pass_init(&p, trace, err))
        more = -1;
    else {
        while ((more = pass_next(&p, &s, err)) > 0)
            if (write_step(&w, begun, &s, trace_thread(trace, s.step->thread), err)) {
                more = -1;
                break;
            }
        pass_deinit(&p);
    }
    for (uint32_t t = 0; !more && t < trace_threads(trace); t++)
        if (w.out[t])
            fprintf(out, "[0x%" PRIx64 ":%" PRIu64 ":%" PRIu32 ", end)\n", begun[t].pc,
                    begun[t].instance, begun[t].thread);
    free(begun);
    free(w.out);
    free(w.counts.table.slot);
    return more;
}
