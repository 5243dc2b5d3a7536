/* instances.c - which time a line was executed.
 *
 * SPDX-License-Identifier: MIT
 *
 * One pass: at each instruction where a breakpoint of a row's line would be, the row is counted.
 * What a block has of those is listed once.
 */
#include "slicer/report/instances.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "trace/pass.h"

struct stop {
    gaddr pc;
    uint32_t row;
};

struct block_stops {
    uint32_t first, count; /* in `found`, by instruction */
    bool known;
};

struct found {
    uint32_t insn, row;
};

struct counter {
    struct study *study;
    const struct report *report;
    struct stop *stop; /* by pc */
    size_t stops, stop_room;
    struct block_stops *block;
    struct found *found;
    size_t founds, found_room;
    uint32_t *count; /* by row */
    uint32_t *out;
    uint64_t next; /* node */
};

static int by_pc(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int add_stop(struct counter *c, gaddr pc, uint32_t row, struct err *err)
{
    return array_push(&c->stop, &c->stops, &c->stop_room, (struct stop){pc, row})
               ? err_set(err, "no memory")
               : 0;
}

static int find_stops(struct counter *c, struct err *err)
{
    struct source_breaks breaks = {0};
    struct err unused;
    int bad = 0;
    for (size_t i = 0; !bad && i < c->report->rows; i++) {
        const struct report_row *r = &c->report->row[i];
        if (!r->file || source_breaks(c->study->source, r->file, r->line, &breaks, &unused))
            continue;
        for (size_t k = 0; !bad && k < breaks.count; k++)
            if (breaks.at[k].line == r->line)
                bad = add_stop(c, breaks.at[k].pc, (uint32_t)i, err);
    }
    source_breaks_deinit(&breaks);
    qsort(c->stop, c->stops, sizeof *c->stop, by_pc);
    return bad;
}

/* The first stop at or behind pc. */
static size_t stop_from(const struct counter *c, gaddr pc)
{
    return search_below(c->stop, c->stops, pc, pc);
}

static int list_block(struct counter *c, const struct code_block *b, struct err *err)
{
    struct block_stops *list = &c->block[b->number];
    *list = (struct block_stops){.first = (uint32_t)c->founds, .known = true};
    for (uint32_t i = 0; i < b->insns; i++) {
        gaddr pc = b->insn[i].in.pc;
        for (size_t k = stop_from(c, pc); k < c->stops && c->stop[k].pc == pc; k++) {
            const struct found new = {i, c->stop[k].row};
            if (array_push(&c->found, &c->founds, &c->found_room, new))
                return err_set(err, "no memory");
            list->count++;
        }
    }
    return 0;
}

static void take_step(struct counter *c, const struct pass_step *st)
{
    const struct block_stops *list = &c->block[st->block->number];
    const struct found *f = c->found + list->first, *end = f + list->count;
    uint32_t thread = trace_thread(c->study->trace, st->step->thread);
    const struct report *r = c->report;
    for (uint32_t i = 0; i < st->step->insns; i++) {
        for (; list->count && f < end && f->insn == i; f++)
            c->count[f->row] += r->row[f->row].thread == thread;
        if (c->next < r->nodes && r->node[c->next].insn == st->insn + i) {
            c->out[c->next] = c->count[r->node[c->next].row];
            c->next++;
        }
    }
}

static int run(struct counter *c, struct err *err)
{
    struct pass pass;
    struct pass_step st;
    int more;
    if (pass_init(&pass, c->study->trace, err))
        return -1;
    while ((more = pass_next(&pass, &st, err)) == 1 && c->next < c->report->nodes) {
        if (!c->block[st.block->number].known && list_block(c, st.block, err)) {
            more = -1;
            break;
        }
        take_step(c, &st);
    }
    pass_deinit(&pass);
    return more < 0 ? -1 : 0;
}

uint32_t *instances_find(struct study *s, const struct report *report, struct err *err)
{
    struct counter c = {.study = s, .report = report};
    c.block = calloc(code_count(trace_code(s->trace)) + 1, sizeof *c.block);
    c.count = calloc(report->rows + 1, sizeof *c.count);
    c.out = calloc(report->nodes + 1, sizeof *c.out);
    int bad = c.block && c.count && c.out ? find_stops(&c, err) || run(&c, err)
                                          : err_set(err, "no memory");
    free(c.block);
    free(c.count);
    free(c.stop);
    free(c.found);
    if (!bad)
        return c.out;
    free(c.out);
    return NULL;
}
