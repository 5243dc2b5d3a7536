/* pieces.c - which executed instructions are kept, by statements. SPDX-License-Identifier: MIT
 *
 * One pass forwards. Each frame has the statement that it is in, with its pieces so far: they are
 * kept as soon as one of its instructions is wanted, and dropped when another statement begins. So
 * what waits is never more than a piece or two for each frame, except where a line calls in a loop.
 */
#include "relogger/pieces.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/search.h"
#include "relogger/exclude.h"
#include "relogger/stretches.h"
#include "slicer/slice.h"
#include "study/study.h"
#include "trace/pass.h"

/* The statement that a frame is in. */
struct statement {
    uint32_t line; /* number, see below */
    bool out;      /* its frame is excluded */
    bool kept;
    bool begun; /* a piece of it was kept */
    struct piece *waits;
    size_t waiting, room;
};

enum { EXCLUDED = UINT32_MAX }; /* in place of a line's number */

/* Lines have numbers: 0 is code without source. */
struct line {
    const char *file;
    uint32_t line;
};

struct finding {
    struct study *study;
    const struct pieces_rule *rule;
    struct pieces *out;
    uint64_t node; /* of the slice, the next one from where the pass is; 0: not looked for yet */
    uint32_t **line_of; /* by block: of each of its instructions; NULL: not met yet */
    struct line *line;
    size_t lines, line_room;
};

/* ---- lines ---- */

static bool same_line(const struct line *a, const struct source_line *b)
{
    return a->line == b->line && (a->file == b->file || !strcmp(a->file, b->file));
}

/* A block's lines are few and mostly those that were met last. */
static int number_of(struct finding *f, gaddr pc, uint32_t *out, struct err *err)
{
    struct source_line l;
    *out = 0;
    if (!study_line(f->study, pc, &l) || !l.file || !l.line)
        return 0;
    for (size_t i = f->lines; i-- > 0;)
        if (same_line(&f->line[i], &l)) {
            *out = (uint32_t)i + 1;
            return 0;
        }
    if (array_push(&f->line, &f->lines, &f->line_room, (struct line){l.file, l.line}))
        return err_set(err, "no memory");
    *out = (uint32_t)f->lines;
    return 0;
}

static int look_at(struct finding *f, const struct code_block *b, struct err *err)
{
    uint32_t *list = malloc(sizeof *list * (b->insns + 1u));
    if (!list)
        return err_set(err, "no memory");
    f->line_of[b->number] = list;
    for (unsigned i = 0; i < b->insns; i++) {
        const gaddr pc = b->insn[i].in.pc;
        if (number_of(f, pc, &list[i], err))
            return -1;
        if (f->rule->exclude && exclude_pc(f->rule->exclude, f->study, pc))
            list[i] = EXCLUDED;
    }
    return 0;
}

/* ---- frames ---- */

static void drop(void *own)
{
    struct statement *s = own;
    free(s->waits);
    free(s);
}

/* What an excluded function calls is excluded, too. */
static struct statement *statement_of(struct finding *f, struct frame *frame)
{
    struct statement *s = frame->own;
    if (s || !(s = calloc(1, sizeof *s)))
        return s;
    frame->own = s;
    frame->drop = drop;
    const struct statement *above = frame->parent ? statement_of(f, frame->parent) : NULL;
    s->out = f->rule->exclude && exclude_frame(f->rule->exclude, f->study, frame);
    s->out |= above && above->out;
    return s;
}

/* Frames without a step of their own have no mark yet. */
static uint32_t depth_of(struct frame *frame)
{
    uint32_t above = 0;
    struct frame *at = frame;
    for (; at && !at->mark; at = at->parent)
        above++;
    frame->mark = (at ? at->mark : 0) + above;
    return frame->mark;
}

/* ---- pieces ---- */

/* Nodes may be far from each other, so each is looked for once. */
static uint64_t next_node(struct finding *f, uint64_t from)
{
    if (f->node <= from)
        f->node = slice_next(f->rule->slice, from);
    return f->node;
}

static bool is_wanted(struct finding *f, uint64_t first, uint64_t insns)
{
    return !f->rule->slice || next_node(f, first) < first + insns;
}

/* A piece that goes on where the last one ends is one with it. */
static int put(struct piece **list, size_t *count, size_t *room, const struct piece *p, bool joins,
               struct err *err)
{
    struct piece *last = *count ? &(*list)[*count - 1] : NULL;
    if (joins && last && last->first + last->insns == p->first) {
        last->insns += p->insns;
        return 0;
    }
    return array_push(list, count, room, *p) ? err_set(err, "no memory") : 0;
}

static int keep(struct finding *f, struct statement *s, const struct piece *p, bool joins,
                struct err *err)
{
    struct piece piece = *p;
    piece.goes_on = s && s->begun;
    if (s)
        s->begun = true;
    return put(&f->out->piece, &f->out->pieces, &f->out->room, &piece, joins, err);
}

static int keep_waiting(struct finding *f, struct statement *s, struct err *err)
{
    for (size_t i = 0; i < s->waiting; i++)
        if (keep(f, s, &s->waits[i], false, err))
            return -1;
    s->waiting = 0;
    s->kept = true;
    return 0;
}

/* Instructions of one line, in one frame. */
static int take_run(struct finding *f, struct statement *s, uint32_t line, struct piece p,
                    struct err *err)
{
    const bool same = s->line == line;
    if (!same) {
        s->line = line;
        s->kept = s->begun = false;
        s->waiting = 0;
    }
    if (!s->kept && is_wanted(f, p.first, p.insns) && keep_waiting(f, s, err))
        return -1;
    return s->kept ? keep(f, s, &p, same, err)
                   : put(&s->waits, &s->waiting, &s->room, &p, true, err);
}

static int take_bare(struct finding *f, struct piece p, struct err *err)
{
    const uint64_t end = p.first + p.insns;
    if (!f->rule->slice)
        return keep(f, NULL, &p, false, err);
    p.insns = 1;
    for (uint64_t at = next_node(f, p.first); at < end; at = next_node(f, at + 1)) {
        p.first = at;
        if (keep(f, NULL, &p, false, err))
            return -1;
    }
    return 0;
}

static int take_step(struct finding *f, const struct pass_step *s, struct err *err)
{
    const struct code_block *b = s->block;
    uint64_t out = 0;
    if (b->gap)
        return 0; /* what is left out already stays so */
    if (f->rule->regions && stretches_step(f->rule->regions, s, &out, err))
        return -1;
    if (!f->line_of[b->number] && look_at(f, b, err))
        return -1;
    const uint32_t *line = f->line_of[b->number];
    struct statement *now = statement_of(f, s->frame);
    if (!now)
        return err_set(err, "no memory");
    if (now->out ||
        (f->rule->exclude &&
         exclude_thread(f->rule->exclude, trace_thread(f->study->trace, s->step->thread))))
        return 0;
    for (unsigned from = 0, to; from < s->step->insns; from = to) {
        const bool skip = out >> from & 1;
        for (to = from + 1;
             to < s->step->insns && line[to] == line[from] && (out >> to & 1) == skip; to++)
            ;
        struct piece p = {.first = s->insn + from, .insns = to - from, .depth = depth_of(s->frame)};
        if (!line[from] || line[from] == EXCLUDED || skip)
            now->line = 0;
        if (line[from] == EXCLUDED || skip)
            continue;
        if (line[from] ? take_run(f, now, line[from], p, err) : take_bare(f, p, err))
            return -1;
    }
    return 0;
}

/* ---- the list ---- */

static int by_first(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Mostly they are found in their order; only statements that wait for their first node are not. */
static void sort(struct pieces *list)
{
    for (size_t i = 1; i < list->pieces; i++)
        if (list->piece[i].first < list->piece[i - 1].first) {
            qsort(list->piece, list->pieces, sizeof *list->piece, by_first);
            return;
        }
}

static int finish(struct pieces *list, uint64_t insns, struct err *err)
{
    sort(list);
    const struct piece *last = list->pieces ? &list->piece[list->pieces - 1] : NULL;
    const struct piece end = {.first = insns - 1, .insns = 1, .depth = last ? last->depth : 1};
    if ((!last || last->first + last->insns < insns) &&
        array_push(&list->piece, &list->pieces, &list->room, end))
        return err_set(err, "no memory");
    for (size_t i = 0; i < list->pieces; i++)
        list->insns += list->piece[i].insns;
    return 0;
}

static int find(struct finding *f, struct err *err)
{
    struct pass p;
    struct pass_step s;
    int more;
    if ((f->rule->regions && stretches_begin(f->rule->regions, f->study->trace, err)) ||
        pass_init(&p, f->study->trace, err))
        return -1;
    while ((more = pass_next(&p, &s, err)) > 0)
        if (take_step(f, &s, err)) {
            more = -1;
            break;
        }
    pass_deinit(&p);
    return more;
}

int pieces_find(struct study *s, const struct pieces_rule *rule, struct pieces *out,
                struct err *err)
{
    const uint32_t blocks = code_count(trace_code(s->trace));
    struct finding f = {.study = s, .rule = rule, .out = out};
    f.line_of = calloc(blocks + 1, sizeof *f.line_of);
    *out = (struct pieces){0};
    int bad = f.line_of ? find(&f, err) : err_set(err, "no memory");
    if (!bad && rule->exclude)
        bad = exclude_check(rule->exclude, s->trace, err);
    if (!bad && rule->regions)
        bad = stretches_check(rule->regions, err);
    if (!bad && !trace_insns(s->trace))
        bad = err_set(err, "nothing was executed");
    if (!bad)
        bad = finish(out, trace_insns(s->trace), err);
    for (uint32_t i = 0; f.line_of && i < blocks; i++)
        free(f.line_of[i]);
    free(f.line_of);
    free(f.line);
    if (bad)
        pieces_deinit(out);
    return bad;
}

void pieces_deinit(struct pieces *list)
{
    free(list->piece);
    *list = (struct pieces){0};
}

/* ---- numbers ---- */

int pieces_move(struct pieces_moved *m, const struct pieces *list, uint64_t gap, struct err *err)
{
    *m = (struct pieces_moved){.pieces = list, .gap = gap};
    m->begin = malloc((list->pieces + 1) * sizeof *m->begin);
    if (!m->begin)
        return err_set(err, "no memory");
    for (size_t i = 0; i < list->pieces; i++) {
        const struct piece *p = &list->piece[i];
        const uint64_t out = i ? p->first - (p[-1].first + p[-1].insns) : 0;
        m->total += i && piece_behind_gap(p, gap) ? 1 : out;
        m->begin[i] = m->total;
        m->total += p->insns;
    }
    return 0;
}

void pieces_moved_deinit(struct pieces_moved *m)
{
    free(m->begin);
    m->begin = NULL;
}

uint64_t pieces_moved(const void *arg, uint64_t insn, bool *gone)
{
    const struct pieces_moved *m = arg;
    const size_t behind = search_upto(m->pieces->piece, m->pieces->pieces, first, insn);
    *gone = !behind;
    if (*gone)
        return 0;
    const struct piece *p =
        &m->pieces->piece[behind - 1]; /* the last that does not begin behind it */
    const uint64_t in = insn - p->first;
    if (in < p->insns || behind == m->pieces->pieces)
        return m->begin[behind - 1] + (in < p->insns ? in : p->insns);
    *gone = piece_behind_gap(&p[1], m->gap);
    return m->begin[behind - 1] + (*gone ? p->insns : in);
}

/* ---- through a file ---- */

int pieces_write(const struct pieces *list, int fd, struct err *err)
{
    const uint8_t *at = (const uint8_t *)list->piece;
    size_t left = list->pieces * sizeof *list->piece;
    while (left) {
        const ssize_t n = write(fd, at, left);
        if (n <= 0)
            return err_set(err, "what is kept cannot be written down: %m");
        at += n;
        left -= (size_t)n;
    }
    return 0;
}

int pieces_read(int fd, const struct trace *trace, struct pieces *out, struct err *err)
{
    struct piece p;
    uint64_t end = 0;
    ssize_t n;
    *out = (struct pieces){0};
    FILE *in = lseek(fd, 0, SEEK_SET) ? NULL : fdopen(dup(fd), "r");
    if (!in)
        return err_set(err, "what is kept cannot be read: %m");
    while ((n = (ssize_t)fread(&p, sizeof p, 1, in)) == 1) {
        if (p.first < end || !p.insns || p.insns > trace_insns(trace) ||
            p.first > trace_insns(trace) - p.insns) {
            err_set(err, "what is kept does not fit the trace");
            break;
        }
        if (array_push(&out->piece, &out->pieces, &out->room, p)) {
            err_set(err, "no memory");
            break;
        }
        end = p.first + p.insns;
        out->insns += p.insns;
    }
    fclose(in);
    if (n == 0 && out->pieces && end == trace_insns(trace))
        return 0;
    if (n == 0)
        err_set(err, "what is kept does not fit the trace");
    pieces_deinit(out);
    return -1;
}
