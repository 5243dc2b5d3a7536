/* missed.c - branches that kept lines of a slice from being executed once more.
 *
 * SPDX-License-Identifier: MIT
 *
 * 1. Sites: branches of which, by the graph of their function, an instruction of the slice's own
 *    lines is control dependent.
 * 2. One pass over the trace finds the latest executions of each that led past all such
 *    instructions, and are in the slice for nothing else.
 * 3. The nearest of these to the criterion get a slice together, and each a story in it, of lines
 *    that are not known yet. The cheapest are told.
 */
#include "slicer/story/missed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "slicer/story/story_int.h"
#include "study/look.h"
#include "trace/walk.h"

enum {
    SITES = 512,
    TOLD = 12,        /* sites whose stories are told, to choose from */
    LATEST = 3,       /* executions of each */
    SPOTS = 2000,     /* blocks with instructions of the slice that are looked at */
    LOOKED = 1 << 17, /* bytes of code that are looked at */
    LATE = 1000,      /* nearness of lines that the story has not */
};

/* A branch, with its latest executions that led past. */
struct site {
    gaddr pc;
    const struct cfg_function *in;
    int32_t block;
    uint32_t near; /* of the line that it kept from being executed: how near that is, ... */
    uint32_t row;  /* ... and the row of the report */
    uint32_t thread;
    bool loop; /* its line ends a loop: it is not looked at */
    uint64_t times;
    uint64_t insn[LATEST]; /* at number `times` modulo LATEST */
};

/* A block of a function with an instruction of the slice. */
struct spot {
    const struct cfg_function *in;
    int32_t block;
    uint32_t near, row;
};

struct seen {
    uint64_t pc;
};

struct finder {
    struct study *study;
    const struct slice *slice;
    const struct report *report;
    const struct criterion *of;
    const struct slice_options *options;
    const struct story *story;
    struct spot spot[SPOTS];
    size_t spots;
    struct site site[SITES];
    size_t sites;
    bool *does; /* by row of the report: it does more than to decide */
    TABLE(struct seen) seen;
    size_t looked;       /* bytes of code */
    uint16_t *at;        /* by block of code: the site that it ends with, plus one */
    uint32_t *left;      /* by thread: the site that its last step ended with, plus one, ... */
    uint64_t *left_insn; /* ... and that instruction */
    uint64_t end;        /* the criterion is here */
    struct err *err;
};

/* ---- sites ---- */

/* How near is a row to the criterion? */
static uint32_t nearness(const struct finder *t, uint32_t row)
{
    for (size_t i = 0; i < t->story->rows; i++)
        if (t->story->row[i].row == row || story_attached(&t->story->row[i], row))
            return (uint32_t)i;
    uint32_t distance = t->report->row[row].distance;
    return LATE + (distance < LATE ? distance : LATE);
}

static const struct cfg_function *function_of(const struct finder *t, gaddr pc)
{
    struct source_line l;
    return study_line(t->study, pc, &l) && l.entry
               ? cfg_function(t->study->index->cfg, l.entry, t->err)
               : NULL;
}

static void add_spot(struct finder *t, const struct cfg_function *f, int32_t block, uint32_t row)
{
    const struct spot new = {.in = f, .block = block, .near = nearness(t, row), .row = row};
    for (size_t i = 0; i < t->spots; i++) {
        if (t->spot[i].in != f || t->spot[i].block != block)
            continue;
        if (new.near < t->spot[i].near)
            t->spot[i] = new;
        return;
    }
    if (t->spots < SPOTS)
        t->spot[t->spots++] = new;
}

/* The row with a line that does more than to decide; UINT32_MAX: none. */
static uint32_t row_of_line(const struct finder *t, const struct source_line *l)
{
    for (uint32_t i = 0; i < t->report->rows; i++) {
        const struct report_row *r = &t->report->row[i];
        if (t->does[i] && r->line == l->line && r->file && !strcmp(r->file, l->file))
            return i;
    }
    return UINT32_MAX;
}

/* A function's blocks with code of such lines, whether they were executed or not: a compiler makes
 * several of a line. */
static void add_function(struct finder *t, const struct cfg_function *f)
{
    for (size_t i = 0; i < t->spots; i++)
        if (t->spot[i].in == f)
            return;
    for (int32_t i = 0; i < (int32_t)cfg_block_count(f); i++) {
        const struct cfg_block *b = cfg_block(f, i);
        uint32_t known = 0; /* line */
        bool branches = cfg_is_branch(b);
        for (gaddr pc = b->first; pc < b->last + !branches && t->looked < LOOKED;
             pc++, t->looked++) {
            struct source_line l;
            if (!study_line(t->study, pc, &l) || l.line == known)
                continue;
            uint32_t row = row_of_line(t, &l);
            known = l.line;
            if (row != UINT32_MAX)
                add_spot(t, f, i, row);
        }
    }
}

/* Is it the first time that the pc is met? -1: no memory. */
static int is_new(struct finder *t, gaddr pc)
{
    if (table_reserve(&t->seen))
        return err_set(t->err, "no memory");
    struct seen *x = table_find(&t->seen, pc);
    if (x->pc)
        return 0;
    x->pc = pc;
    t->seen.used++;
    return 1;
}

static int find_spots(struct finder *t)
{
    const struct flows *f = t->report->flows;
    t->does = calloc(t->report->rows + 1, 1);
    if (!t->does)
        return err_set(t->err, "no memory");
    for (uint32_t node = 0; node < f->nodes; node++)
        if (f->row_of[node] < t->report->rows && t->report->row[f->row_of[node]].own &&
            !f->node[node].branch)
            t->does[f->row_of[node]] = true;
    for (uint32_t node = f->nodes; node-- > 0;) {
        uint32_t row = f->row_of[node];
        if (row >= t->report->rows || !t->does[row])
            continue;
        int new = is_new(t, f->node[node].pc);
        const struct cfg_function *in = new > 0 ? function_of(t, f->node[node].pc) : NULL;
        if (new < 0)
            return -1;
        if (in)
            add_function(t, in);
    }
    return 0;
}

/* Does an edge of the branch decide that a place is executed? */
static bool decides(const struct cfg_function *f, int32_t branch, int32_t spot)
{
    const int32_t *to = cfg_successors(f, branch);
    for (uint32_t i = 0; i < cfg_block(f, branch)->succs; i++)
        if (cfg_depends(f, spot, branch, to[i]))
            return true;
    return false;
}

/* Is there a way from a block to another one? */
static bool reaches(const struct cfg_function *f, int32_t from, int32_t to, uint8_t *been)
{
    const int32_t *next = cfg_successors(f, from);
    if (from == to || been[from])
        return from == to;
    been[from] = true;
    for (uint32_t i = 0; i < cfg_block(f, from)->succs; i++)
        if (reaches(f, next[i], to, been))
            return true;
    return false;
}

/* May a branch go round again, or leave for good? */
static bool leaves_loop(const struct cfg_function *f, int32_t branch)
{
    enum { BLOCKS = 2048 };
    const int32_t *next = cfg_successors(f, branch);
    bool again = false, leaves = cfg_block(f, branch)->exits;
    if (cfg_block_count(f) > BLOCKS)
        return false;
    for (uint32_t i = 0; i < cfg_block(f, branch)->succs; i++) {
        uint8_t been[BLOCKS] = {0};
        bool back = reaches(f, next[i], branch, been);
        again = again || back;
        leaves = leaves || !back;
    }
    return again && leaves;
}

/* Does its line end a loop? That leads past the loop's lines each time that it is done. A compiler
 * may have put a copy of it before the loop. */
static bool ends_loop(const struct finder *t, const struct cfg_function *f, int32_t branch)
{
    struct source_line is, l;
    source_line(t->study->source, cfg_block(f, branch)->last, &is);
    for (int32_t b = 0; b < (int32_t)cfg_block_count(f); b++) {
        bool same = b == branch;
        if (!same && is.file && cfg_is_branch(cfg_block(f, b)))
            same = source_line(t->study->source, cfg_block(f, b)->last, &l) && l.line == is.line &&
                   l.file == is.file;
        if (same && leaves_loop(f, b))
            return true;
    }
    return false;
}

static void add_site(struct finder *t, const struct spot *p, int32_t branch)
{
    const struct cfg_block *b = cfg_block(p->in, branch);
    for (size_t i = 0; i < t->sites; i++) {
        struct site *x = &t->site[i];
        if (x->pc != b->last || x->in != p->in)
            continue;
        if (p->near < x->near) {
            x->near = p->near;
            x->row = p->row;
        }
        return;
    }
    if (t->sites < SITES)
        t->site[t->sites++] = (struct site){.pc = b->last,
                                            .in = p->in,
                                            .block = branch,
                                            .near = p->near,
                                            .row = p->row,
                                            .loop = ends_loop(t, p->in, branch)};
}

static void find_sites(struct finder *t)
{
    for (size_t i = 0; i < t->spots; i++) {
        const struct spot *p = &t->spot[i];
        for (int32_t b = 0; b < (int32_t)cfg_block_count(p->in); b++)
            if (cfg_is_branch(cfg_block(p->in, b)) && decides(p->in, b, p->block))
                add_site(t, p, b);
    }
}

/* ---- executions that led past ---- */

/* Did a branch go where no instruction of the slice depends on it? */
static bool leads_past(const struct finder *t, const struct site *x, gaddr to)
{
    int32_t next = cfg_block_of(x->in, to);
    for (size_t i = 0; next != CFG_NONE && i < t->spots; i++)
        if (t->spot[i].in == x->in && cfg_depends(x->in, t->spot[i].block, x->block, next))
            return false;
    return next != CFG_NONE;
}

static int take_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct finder *t = arg;
    const struct trace_step *st = w->step;
    const struct code_block *b = code_block(trace_code(t->study->trace), st->block);
    uint32_t left = t->left[w->thread];
    (void)err;
    if (left) {
        struct site *x = &t->site[left - 1];
        uint64_t insn = t->left_insn[w->thread];
        if (leads_past(t, x, b->pc) && !slice_has(t->slice, insn)) {
            x->insn[x->times++ % LATEST] = insn;
            x->thread = w->thread;
        }
    }
    uint64_t last = w->insns + st->insns - 1u;
    t->left[w->thread] = st->insns == b->insns && last < t->end ? t->at[st->block] : 0;
    t->left_insn[w->thread] = last;
    return 0;
}

static int take_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct finder *t = arg;
    (void)err;
    if (w->note->kind == FLOW_SIGNAL)
        t->left[w->thread] = 0; /* the next step is the handler's */
    return 0;
}

static int find_executions(struct finder *t)
{
    static const struct trace_visitor visitor = {take_step, take_note};
    const struct code *code = trace_code(t->study->trace);
    uint32_t threads = trace_threads(t->study->trace);
    t->at = calloc(code_count(code) + 1ull, sizeof *t->at);
    t->left = calloc(threads + 1ull, sizeof *t->left);
    t->left_insn = calloc(threads + 1ull, sizeof *t->left_insn);
    if (!t->at || !t->left || !t->left_insn)
        return err_set(t->err, "no memory");
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        for (size_t k = 0; b->insns && k < t->sites; k++)
            if (!t->site[k].loop && t->site[k].pc == code_last(b)->pc)
                t->at[i] = (uint16_t)(k + 1);
    }
    return trace_walk_all(t->study->trace, 0, &visitor, t, t->err);
}

static int by_nearness(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    if (!x->times != !y->times)
        return x->times ? -1 : 1;
    if (x->near != y->near)
        return x->near < y->near ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

/* ---- stories ---- */

/* What an execution of a site used. */
static int want(const struct site *x, struct criterion *c, struct err *err)
{
    for (unsigned i = 0; i < LATEST && i < x->times; i++) {
        struct slice_want w = {.kind = SLICE_USES, .at = x->insn[i], .thread = x->thread};
        if (criterion_want(c, w, err))
            return -1;
    }
    c->thread = x->thread;
    c->pc = x->pc;
    c->position.pc = x->pc;
    return 0;
}

static void tell_site(const struct finder *t, const struct site *x, struct missed_row *out)
{
    const struct report_row *to = &t->report->row[x->row];
    char place[64] = "";
    if (to->file && out->row.file && !strcmp(to->file, out->row.file))
        snprintf(place, sizeof place, ":%" PRIu32, to->line);
    else
        study_place(t->study, to->pc, place, sizeof place);
    out->how = "led past";
    snprintf(out->words, sizeof out->words, "%s, %" PRIu64 " time%s", place, x->times,
             x->times == 1 ? "" : "s");
}

struct told {
    struct missed_row row;
    uint32_t cost;
    uint32_t least; /* of the first one: so many rows say something new */
    uint64_t insn;
};

/* What a site's story has that is new, behind the site itself. */
static size_t tell(const struct finder *t, const struct site *x, const struct report *r,
                   const struct story *story, struct told out[MISSED_ROWS])
{
    size_t n = 0;
    for (size_t i = 0; i < story->rows && n < MISSED_ROWS; i++) {
        const struct story_row *row = &story->row[i];
        struct told *o = &out[n++];
        *o = (struct told){.row = {.row = r->row[row->row]}, .cost = row->cost, .insn = row->insn};
        if (i) {
            o->row.how = story_how(row->how);
            story_words(t->study, r, row, NULL, o->row.words, sizeof o->row.words);
        } else {
            tell_site(t, x, &o->row);
        }
    }
    return n;
}

static int tell_best(struct finder *t, const struct report *r, struct told out[MISSED_ROWS],
                     size_t *rows)
{
    struct findings *none = calloc(1, sizeof *none);
    int bad = none ? 0 : err_set(t->err, "no memory");
    uint32_t best = UINT32_MAX;
    *rows = 0;
    for (size_t i = 0; !bad && i < t->sites && i < TOLD && t->site[i].times; i++) {
        struct criterion c = {0};
        struct story *story = NULL;
        none->study = t->study;
        none->heap = heap_of(t->study, NULL, t->err);
        bad = want(&t->site[i], &c, t->err) ||
              !(story = story_beside(t->study, r, &c, none, t->report, t->err));
        bool new = !bad && story->rows && !story_knows(t->report, &r->row[story->row[0].row]);
        if (!bad && (story->rows > 1 || new)) {
            uint32_t cost = (new ? 0 : story->row[1].cost) + (uint32_t)i * story_missed_cost(true);
            if (cost < best) {
                best = cost;
                *rows = tell(t, &t->site[i], r, story, out);
                out->least = new ? 1 : 2;
            }
        }
        story_free(story);
        criterion_deinit(&c);
    }
    free(none);
    return bad ? -1 : 0;
}

/* The slice of what all of them used. */
static int tell_all(struct finder *t, struct told out[MISSED_ROWS], size_t *rows)
{
    const struct report_options o = {
        .flows = true, .fold = true, .slice = *t->options, .kind = SLICE_BACKWARD};
    struct criterion all = *t->of;
    struct slice *slice = NULL;
    struct report *r = NULL;
    int bad = 0;
    all.want = NULL;
    all.wants = 0;
    for (size_t i = 0; !bad && i < t->sites && i < TOLD && t->site[i].times; i++)
        bad = want(&t->site[i], &all, t->err);
    if (!bad && all.wants) {
        slice = slice_backward(t->study->index, all.want, all.wants, t->options, t->err);
        r = slice ? report_new(t->study, slice, &all, &o, t->err) : NULL;
        bad = !r || tell_best(t, r, out, rows);
    }
    report_free(r);
    slice_free(slice);
    criterion_deinit(&all);
    return bad ? -1 : 0;
}

/* ---- beside the story ---- */

static int find_positions(struct finder *t, const struct told *told, struct missed *out)
{
    for (size_t i = 0; i < out->rows; i++)
        if (look_positions(t->study, &told[i].insn, 1, &out->row[i].at, t->err))
            return -1;
    return 0;
}

/* Rows that say less give way, of the story or of these. */
static void fit(struct story *story, const struct told *told, size_t *rows)
{
    size_t left = story->rows, most = *rows;
    while (most && left + most > story->rows) {
        if (left > 1 && story->row[left - 1].cost > told[most - 1].cost + story_missed_cost(false))
            left--;
        else
            most--;
    }
    *rows = most < told->least ? 0 : most;
    if (*rows)
        story->rows = left;
}

int missed_find(struct study *s, const struct slice *slice, const struct report *r,
                const struct criterion *c, const struct slice_options *options, struct story *story,
                struct missed *out, struct err *err)
{
    struct finder *t = calloc(1, sizeof *t);
    struct told told[MISSED_ROWS];
    size_t rows = 0;
    out->rows = 0;
    if (!t)
        return err_set(err, "no memory");
    *t = (struct finder){.study = s,
                         .slice = slice,
                         .report = r,
                         .of = c,
                         .options = options,
                         .story = story,
                         .err = err};
    for (size_t i = 0; i < c->wants; i++)
        t->end = c->want[i].at > t->end ? c->want[i].at : t->end;
    int bad = find_spots(t);
    find_sites(t);
    bad = bad || find_executions(t);
    qsort(t->site, t->sites, sizeof *t->site, by_nearness);
    bad = bad || tell_all(t, told, &rows);
    if (!bad)
        fit(story, told, &rows);
    for (size_t i = 0; !bad && i < rows; i++)
        out->row[out->rows++] = told[i].row;
    bad = bad || find_positions(t, told, out);
    free(t->does);
    free(t->seen.slot);
    free(t->at);
    free(t->left);
    free(t->left_insn);
    free(t);
    return bad ? -1 : 0;
}
