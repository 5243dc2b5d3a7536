/* findings.c - what facts say of the lines of a slice. SPDX-License-Identifier: MIT */
#include "slicer/story/findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "facts/heap/words.h"
#include "facts/order/story.h"
#include "pinball/pinball.h"
#include "slicer/story/turns.h"

enum { NO_ROW = UINT32_MAX };

/* The row of a thread's line; NO_ROW: none. */
static uint32_t row_of(struct study *s, const struct report *r, uint32_t thread, gaddr pc)
{
    struct source_line l;
    if (!pc || !study_line(s, pc, &l))
        return NO_ROW;
    for (size_t i = 0; i < r->rows; i++)
        if (r->row[i].thread == thread && r->row[i].file && r->row[i].line == l.line &&
            strcmp(r->row[i].file, l.file) == 0)
            return (uint32_t)i;
    return NO_ROW;
}

/* Are they the same for a reader: of one kind for a row, or for blocks that one call allocated, or
 * in the same words? */
static bool alike(const struct finding *a, const struct finding *b)
{
    bool near = a->row == b->row || (a->made && a->made == b->made);
    return (a->kind == b->kind && near) || strcmp(a->text, b->text) == 0;
}

/* Is one told before the other? */
static bool before(const struct finding *a, const struct finding *b)
{
    return a->beside != b->beside ? b->beside : a->row < b->row;
}

/* Keeps it at its place, by row; of those that are alike, the nearest to the criterion. */
static void add(struct findings *f, const struct finding *x)
{
    for (size_t i = 0; i < f->count; i++) {
        if (!alike(&f->list[i], x))
            continue;
        if (!before(x, &f->list[i]))
            return;
        memmove(&f->list[i], &f->list[i + 1], sizeof *f->list * (--f->count - i));
        break;
    }
    size_t at = f->count;
    while (at && before(x, &f->list[at - 1]))
        at--;
    f->more += f->count == FINDINGS_MOST;
    if (at == FINDINGS_MOST)
        return;
    size_t last = f->count < FINDINGS_MOST ? f->count++ : FINDINGS_MOST - 1;
    memmove(&f->list[at + 1], &f->list[at], sizeof *f->list * (last - at));
    f->list[at] = *x;
}

/* Who, and how far. */
static void describe(struct study *s, const struct heap *h, const struct heap_error *e,
                     struct findings_mark *m)
{
    const struct heap_block *b = e->block == HEAP_NONE ? NULL : &h->block[e->block];
    char who[FINDINGS_DETAIL / 2] = "";
    if (b)
        heap_words_caller(s, h,
                          m->mark == MARK_FREED && b->freed != HEAP_NONE ? b->freed : b->allocated,
                          who, sizeof who);
    if (m->mark == MARK_FREED && b && b->freed != HEAP_NONE)
        snprintf(m->detail, sizeof m->detail, "freed by %s", who);
    else if (m->mark == MARK_OVERFLOW && !b && e->low >= e->variable)
        snprintf(m->detail, sizeof m->detail, "%" PRIu64 " bytes behind a variable of %" PRIu64,
                 e->high - e->variable - e->variable_bytes, e->variable_bytes);
    else if (m->mark == MARK_OVERFLOW && b && e->low < b->start)
        snprintf(m->detail, sizeof m->detail, "%" PRIu64 " bytes before the block of %s",
                 b->start - e->low, who);
    else if (m->mark == MARK_OVERFLOW && b)
        snprintf(m->detail, sizeof m->detail, "%" PRIu64 " bytes behind the block of %s",
                 e->high - b->start - b->size, who);
    else if (m->mark == MARK_UNSET && b)
        snprintf(m->detail, sizeof m->detail, "since %s", who);
}

static enum mark mark_of(const struct heap_error *e)
{
    bool undefined = e->kind == HEAP_UNDEFINED_BRANCH || e->kind == HEAP_UNDEFINED_ADDRESS ||
                     e->kind == HEAP_UNDEFINED_CALL;
    if (undefined)
        return e->from_pc ? MARK_UNSET : MARK_NONE;
    if (e->block == HEAP_NONE && !e->variable)
        return MARK_NONE;
    return e->kind == HEAP_OVERFLOW && e->write          ? MARK_OVERFLOW
           : e->kind == HEAP_USE_AFTER_FREE && !e->write ? MARK_FREED
                                                         : MARK_NONE;
}

/* What the error says of values that flow. */
static void add_mark(struct study *s, const struct heap *h, const struct heap_error *e,
                     uint32_t row, struct findings *f)
{
    struct findings_mark m = {.row = row, .insn = e->insn, .last = e->last, .freed = UINT64_MAX};
    m.mark = mark_of(e);
    m.low = e->low;
    m.high = e->high;
    if (m.mark == MARK_UNSET) {
        m.insn = e->from_insn;
        m.low = e->addr;
        m.high = e->addr + e->bytes;
    }
    if (!m.mark || f->marks == FINDINGS_MARKS)
        return;
    if (m.mark != MARK_UNSET && e->block != HEAP_NONE) {
        const struct heap_block *b = &h->block[e->block];
        m.freed = b->freed == HEAP_NONE ? UINT64_MAX : b->to;
        m.asked = h->call[b->allocated].first;
        m.asked_last = h->call[b->allocated].last;
    } else {
        m.asked = UINT64_MAX; /* nobody has allocated it */
    }
    describe(s, h, e, &m);
    f->mark[f->marks++] = m;
}

/* Is it the mark of such a dependence, on the same bytes? What was not set when it was read first
 * is not set either where it is read later, and nobody has written since. */
static bool fits(const struct findings_mark *m, const struct slice_dependence *d, uint32_t row,
                 uint32_t on)
{
    if (m->mark == MARK_UNSET)
        return d->node >= m->insn && (d->on == SLICE_NOBODY || d->on < m->insn);
    bool write = m->mark == MARK_OVERFLOW;
    uint64_t insn = write ? d->on : d->node;
    return d->on != SLICE_NOBODY && (write ? on : row) == m->row && insn >= m->insn &&
           insn <= m->last;
}

/* Was a block allocated after what the user's code reads from it was written? */
static bool is_older(const struct findings *f, const struct slice_dependence *d)
{
    enum { WORD = 8 }; /* what reads more is looking for an end, or copies padding, too */
    const struct heap *h = f->heap;
    struct source_line l;
    if (!h || d->node == UINT64_MAX || d->bytes > WORD)
        return false;
    uint32_t block = heap_find(h, d->addr, d->node, false);
    if (block == HEAP_NONE)
        return false;
    const struct heap_call *c = &h->call[h->block[block].allocated];
    return h->functions.list[c->function].does == HEAP_ALLOCATES &&
           d->node > h->block[block].from && (d->on == SLICE_NOBODY || d->on < c->first) &&
           study_line(f->study, d->node_pc, &l);
}

enum mark findings_mark(const struct findings *f, const struct slice_dependence *d, uint32_t row,
                        uint32_t on, const char **detail)
{
    if (!d->memory || d->kind == SLICE_CONTROL)
        return MARK_NONE;
    for (size_t i = 0; i < f->marks; i++) {
        const struct findings_mark *m = &f->mark[i];
        if (d->addr >= m->high || m->low >= d->addr + d->bytes || !fits(m, d, row, on))
            continue;
        if (detail)
            *detail = m->detail;
        bool reused = m->mark == MARK_FREED && d->on < m->insn && d->on > m->freed;
        return reused ? MARK_REUSED : m->mark;
    }
    return is_older(f, d) ? MARK_UNSET : MARK_NONE;
}

const char *findings_word(enum mark mark)
{
    static const char *const words[] = {
        [MARK_NONE] = "",
#define MARK(name, word) [MARK_##name] = (word),
#include "slicer/story/marks.def"
#undef MARK
    };
    return words[mark];
}

/* Where the block that an error is about was allocated; 0: not known. */
static gaddr made_at(struct study *s, const struct heap *h, const struct heap_error *e)
{
    return e->block == HEAP_NONE ? 0
                                 : heap_caller(h, s, h->call[h->block[e->block].allocated].stack);
}

static int add_errors(struct study *s, const struct report *r, struct findings *f, struct err *err)
{
    struct heap *h = heap_of(s, NULL, err);
    const struct heap_errors *e = h ? heap_errors(h, s, err) : NULL;
    f->heap = e ? h : NULL;
    for (size_t i = 0; e && i < e->count; i++) {
        const struct heap_error *x = &e->list[i];
        uint32_t thread = trace_thread(s->trace, x->thread);
        struct finding found = {.kind = heap_words_kind(x->kind),
                                .made = made_at(s, h, x),
                                .at = {.thread = thread, .count = x->count, .pc = x->pc}};
        found.row = row_of(s, r, thread, heap_words_own(s, h, x));
        if (found.row == NO_ROW)
            continue;
        heap_words_error(s, h, x, true, found.text);
        add_mark(s, h, x, found.row, f);
        add(f, &found);
    }
    return e ? 0 : -1;
}

static uint32_t row_of_side(struct study *s, const struct report *r, const struct races_side *x)
{
    return row_of(s, r, x->at.thread, x->line_pc ? x->line_pc : x->pc);
}

/* A word of memory that rows of the user's have, by when one of them had it. */
struct word {
    uint64_t number; /* its address by WORD, plus one */
    uint64_t insn;
    uint32_t row;
};

struct words {
    TABLE(struct word) all;
    const struct report *report;
};

enum { WORD = 8, WORDS_OF_EDGE = 16 };

static int add_words(struct words *w, const struct flows_edge *x, uint32_t node)
{
    const struct flows *f = w->report->flows;
    uint32_t row = f->row_of[node];
    gaddr end = x->addr + (x->bytes < WORD * WORDS_OF_EDGE ? x->bytes : WORD * WORDS_OF_EDGE);
    if (row >= w->report->rows || !w->report->row[row].own)
        return 0;
    for (gaddr at = x->addr / WORD; at * WORD < end; at++) {
        if (table_reserve(&w->all))
            return -1;
        struct word *word = table_find(&w->all, at + 1);
        w->all.used += !word->number;
        if (!word->number || row < word->row)
            *word = (struct word){at + 1, f->insn[node], row};
    }
    return 0;
}

/* All memory by which values of the slice went. */
static int find_words(struct words *w, struct err *err)
{
    const struct flows *f = w->report->flows;
    for (uint32_t node = 0; f && node < f->nodes; node++) {
        uint32_t count;
        const struct flows_edge *x = flows_of(f, node, &count);
        for (uint32_t i = 0; i < count; i++)
            if (x[i].memory &&
                (add_words(w, &x[i], node) || (x[i].on < f->nodes && add_words(w, &x[i], x[i].on))))
                return err_set(err, "no memory");
    }
    return 0;
}

/* The row that has the memory of a race, of a variable or of the same block; NO_ROW: none. */
static uint32_t row_with(struct study *s, const struct findings *f, const struct words *w,
                         const struct races_side *x)
{
    struct source_line l;
    const struct word *word = w->all.used ? table_find(&w->all, x->addr / WORD + 1) : NULL;
    if (!word || !word->number)
        return NO_ROW;
    source_line(s->source, x->addr, &l);
    uint32_t then = f->heap ? heap_find(f->heap, x->addr, x->insn, true) : HEAP_NONE;
    uint32_t now = f->heap ? heap_find(f->heap, x->addr, word->insn, true) : HEAP_NONE;
    return then == now && (l.module || then != HEAP_NONE) ? word->row : NO_ROW;
}

static int add_races(struct study *s, const struct report *r, struct findings *f, struct err *err)
{
    const struct races *all = races_find(s, false, err);
    struct words words = {.report = r};
    if (all && find_words(&words, err))
        all = NULL;
    for (size_t i = 0; all && i < all->pairs; i++) {
        const struct races_pair *p = &all->pair[i];
        struct finding found = {
            .kind = pattern_name(p->around.pattern), .at = p->first.at, .then = p->then.at};
        uint32_t first = row_of_side(s, r, &p->first), then = row_of_side(s, r, &p->then);
        found.row = first < then ? first : then;
        if (found.row == NO_ROW) {
            found.row = row_with(s, f, &words, &p->first);
            found.beside = true;
        }
        if (!p->around.pattern || p->race != RACE_CERTAIN || found.row == NO_ROW)
            continue;
        story_tell(s, p, found.text);
        add(f, &found);
    }
    free(words.all.slot);
    return all ? 0 : -1;
}

/* Branches that another order of two threads would have turned. What a pattern says is not said
 * again. */
static int add_turns(struct study *s, const struct report *r, struct findings *f, struct err *err)
{
    struct turn turn[TURNS_MOST];
    size_t turns;
    if (turns_find(s, r, turn, &turns, err))
        return -1;
    for (size_t i = 0; i < turns; i++) {
        struct finding found = {
            .kind = "other order", .at = turn[i].at, .then = turn[i].then, .row = turn[i].row};
        bool told = false;
        for (size_t k = 0; k < f->count; k++)
            told = told || (f->list[k].then.thread && f->list[k].row == found.row);
        snprintf(found.text, sizeof found.text, "%s", turn[i].text);
        if (!told)
            add(f, &found);
    }
    return 0;
}

struct findings *findings_new(struct study *s, const struct report *r, struct err *err)
{
    struct findings *f = calloc(1, sizeof *f);
    struct err why;
    if (!f) {
        err_set(err, "no memory");
        return NULL;
    }
    f->study = s;
    if (pinball_end_get(s->pinball, "gaps"))
        snprintf(f->unsought, sizeof f->unsought, "the recording leaves instructions out");
    else if (trace_insns(s->trace) > FINDINGS_INSNS)
        snprintf(f->unsought, sizeof f->unsought, "there are more than %d M instructions",
                 FINDINGS_INSNS / 1000000);
    else if (add_errors(s, r, f, &why) || (trace_threads(s->trace) > 1 &&
                                           (add_races(s, r, f, &why) || add_turns(s, r, f, &why))))
        snprintf(f->unsought, sizeof f->unsought, "%.250s", why.msg);
    return f;
}

void findings_free(struct findings *f)
{
    free(f);
}
