/* why_not.c - why a line was not executed, or not more often.
 *
 * SPDX-License-Identifier: MIT
 *
 * Which branches decide whether the line is executed is a matter of the function's graph: those on
 * one of whose edges it is control dependent, those that decide about these, and so on up to the
 * function's entry. One pass over the trace counts which ways all of them went. If a branch went
 * elsewhere, the condition of its last instance is sliced. If a function was never entered, its
 * call sites are explained in turn.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/location.h"
#include "base/array.h"
#include "slicer/report/report.h"
#include "trace/outcome.h"

enum { DEPTH = 5, LEADS = 3, LEVEL_TEXT = 64 };

/* An edge of a function's graph that leads to the line. */
struct gate {
    gaddr branch, to; /* the branch; where the edge leads */
    unsigned level;   /* 0: the line depends on it itself */
};

struct job {
    struct asking *q;
    const struct cfg_function *f;
    struct gate *gate;
    size_t gates;
    bool *known; /* by block of the function: it is among the gates */
    struct outcome *out;
    size_t outs;
};

enum { R_AT, R_PLACE, R_WHAT, R_NEEDED, R_TIMES, R_OF, R_BECAUSE };
static const struct rows_column columns[] = {
    [R_AT] = {"at", ROWS_POSITION},       [R_PLACE] = {"place", ROWS_PLACE},
    [R_WHAT] = {"what", ROWS_TEXT},       [R_NEEDED] = {"needed", ROWS_TEXT},
    [R_TIMES] = {"times", ROWS_NUMBER},   [R_OF] = {"of", ROWS_NUMBER},
    [R_BECAUSE] = {"because", ROWS_TEXT},
};

/* ---- the graph ---- */

static int add_gates(struct job *j, int32_t block, unsigned level, struct err *err)
{
    for (int32_t b = 0; b < (int32_t)cfg_block_count(j->f); b++) {
        const struct cfg_block *from = cfg_block(j->f, b);
        const int32_t *succ = cfg_successors(j->f, b);
        if (!cfg_is_branch(from) || b == block)
            continue;
        for (uint32_t i = 0; i < from->succs; i++) {
            if (!cfg_depends(j->f, block, b, succ[i]))
                continue;
            struct gate g = {from->last, cfg_block(j->f, succ[i])->first, level};
            if (array_append(&j->gate, &j->gates, g))
                return err_set(err, "no memory");
            if (j->known[b])
                continue;
            j->known[b] = true;
            if (add_gates(j, b, level + 1, err))
                return -1;
        }
    }
    return 0;
}

static int by_level(const void *a, const void *b)
{
    const struct gate *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->branch < y->branch ? -1 : x->branch > y->branch;
}

static int by_address(const void *a, const void *b)
{
    const gaddr *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Which ways they went. */
static int count_gates(struct job *j, struct err *err)
{
    gaddr *pc = calloc(j->gates + 1, sizeof *pc);
    if (!pc)
        return err_set(err, "no memory");
    for (size_t i = 0; i < j->gates; i++)
        pc[i] = j->gate[i].branch;
    qsort(pc, j->gates, sizeof *pc, by_address);
    int bad = outcome_pass(j->q->study->trace, pc, j->gates, &j->out, &j->outs, err);
    free(pc);
    return bad;
}

/* ---- rows ---- */

/* Lines that the condition of a branch was decided by, the nearest first. */
static int find_leads(struct job *j, const struct outcome *o, char *text, size_t room,
                      struct err *err)
{
    struct study *s = j->q->study;
    struct slice_want want = {
        .kind = SLICE_USES, .at = o->last, .thread = trace_thread_find(s->trace, o->at.thread)};
    struct criterion c = {
        .want = &want, .wants = 1, .thread = want.thread, .position = o->at, .pc = o->pc};
    struct slice_options so = {.edges = SLICE_VALUE | SLICE_ADDRESS, .most = 1000};
    struct report_options ro = {.fold = true, .slice = so};
    struct slice *slice = slice_backward(s->index, &want, 1, &so, err);
    struct report *r = slice ? report_new(s, slice, &c, &ro, err) : NULL;
    size_t used = 0, leads = 0;
    text[0] = 0;
    for (size_t i = 0; r && i < r->rows && leads < LEADS && used < room; i++) {
        const struct report_row *row = &r->row[i];
        const char *slash = row->file ? strrchr(row->file, '/') : NULL;
        if (!row->own || !row->file)
            continue;
        used += (size_t)snprintf(text + used, room - used, "%s%s:%" PRIu32, leads++ ? " <- " : "",
                                 slash ? slash + 1 : row->file, row->line);
    }
    bool good = r != NULL;
    report_free(r);
    slice_free(slice);
    return good ? 0 : -1;
}

/* What a line is, without the space before it. */
static void put_text(struct job *j, gaddr pc)
{
    struct source_line line;
    const char *text = NULL;
    if (source_line(j->q->study->source, pc, &line) && line.file)
        text = source_text(j->q->study->source, line.file, line.line);
    rows_text(j->q->rows, R_WHAT, text ? text + strspn(text, " \t") : NULL);
}

static void put_needed(struct job *j, gaddr to)
{
    struct source_line line;
    source_line(j->q->study->source, to, &line);
    if (line.line)
        rows_printf(j->q->rows, R_NEEDED, "to line %" PRIu32, line.line);
    else
        rows_printf(j->q->rows, R_NEEDED, "to 0x%" PRIx64, to);
}

/* How often the branch went the way that is needed, and where it went last. */
static int tell_gate(struct job *j, const struct gate *g, struct err *err)
{
    struct rows *r = j->q->rows;
    const struct outcome *other = NULL, *right = NULL;
    uint64_t all = 0;
    char leads[512];
    for (size_t i = 0; i < j->outs; i++) {
        const struct outcome *o = &j->out[i];
        if (o->pc != g->branch)
            continue;
        all += o->count;
        if (o->next == g->to)
            right = o;
        else if (!other || o->last > other->last)
            other = o;
    }
    const struct outcome *shown = other ? other : right;
    if (shown)
        rows_position(r, R_AT, &shown->at, shown->last);
    location_place(j->q, R_PLACE, g->branch);
    put_text(j, g->branch);
    put_needed(j, g->to);
    rows_number(r, R_TIMES, right ? right->count : 0);
    rows_number(r, R_OF, all);
    if (!all) {
        rows_text(r, R_BECAUSE, "it was never reached");
    } else if (other) {
        if (find_leads(j, other, leads, sizeof leads, err))
            return -1;
        rows_text(r, R_BECAUSE, leads);
    }
    return rows_end(r, err);
}

static int tell_function(struct job *j, const struct source_line *of, const char *why,
                         struct err *err)
{
    location_place(j->q, R_PLACE, of->entry);
    rows_printf(j->q->rows, R_WHAT, "%s()", of->outer ? of->outer : "?");
    rows_number(j->q->rows, R_TIMES, 0);
    rows_text(j->q->rows, R_BECAUSE, why);
    return rows_end(j->q->rows, err);
}

/* An instruction, not a branch. */
static int tell_line(struct job *j, gaddr pc, const char *why, struct err *err)
{
    struct rows *r = j->q->rows;
    struct outcome done;
    if (outcome_executed(j->q->study->trace, pc, &done, err))
        return -1;
    if (done.count)
        rows_position(r, R_AT, &done.at, done.last);
    location_place(j->q, R_PLACE, pc);
    put_text(j, pc);
    rows_number(r, R_TIMES, done.count);
    rows_text(r, R_BECAUSE, why);
    return rows_end(r, err);
}

/* ---- functions that were not entered ---- */

/* Direct calls of a function in code that the recording has. */
static int find_callers(struct job *j, gaddr callee, gaddr **out, size_t *count, struct err *err)
{
    struct source *source = j->q->study->source;
    const struct trace_map *map;
    size_t maps = trace_maps(j->q->study->trace, &map);
    struct source_line of, line;
    source_line(source, callee, &of);
    for (size_t i = 0; i < maps; i++) {
        if (map[i].file < 0 || !(map[i].prot & 4))
            continue;
        source_line(source, map[i].start, &line);
        if (!line.module || !of.module || strcmp(line.module, of.module) != 0)
            continue;
        for (gaddr pc = map[i].start; pc + 5 <= map[i].end; pc++) {
            uint8_t code[5];
            int32_t by;
            if (trace_index_code(j->q->study->index, pc, code, sizeof code) != sizeof code)
                break;
            memcpy(&by, code + 1, sizeof by);
            /* A byte in the middle of an instruction is told from a call by where it leads. */
            if ((code[0] == 0xe8 || code[0] == 0xe9) && pc + 5 + (uint64_t)(int64_t)by == callee &&
                array_append(out, count, pc))
                return err_set(err, "no memory");
        }
    }
    return 0;
}

static int explain(struct job *j, gaddr pc, unsigned depth, struct err *err);

static int tell_callers(struct job *j, const struct source_line *of, unsigned depth,
                        struct err *err)
{
    gaddr *caller = NULL;
    size_t callers = 0;
    int end = find_callers(j, of->entry, &caller, &callers, err);
    if (!end && !callers)
        end = tell_function(j, of, "no direct call of it is in its module", err);
    for (size_t i = 0; !end && i < callers; i++) {
        struct source_line line;
        source_line(j->q->study->source, caller[i], &line);
        if (line.entry == of->entry) /* by itself */
            continue;
        end = tell_line(j, caller[i], "the call of it", err);
        if (!end && depth + 1 < DEPTH)
            end = explain(j, caller[i], depth + 1, err);
    }
    free(caller);
    return end;
}

/* ---- a place ---- */

static void forget(struct job *j)
{
    free(j->gate);
    free(j->known);
    free(j->out);
    *j = (struct job){.q = j->q};
}

static int explain(struct job *outer, gaddr pc, unsigned depth, struct err *err)
{
    struct job j = {.q = outer->q};
    struct study *s = j.q->study;
    struct source_line line;
    source_line(s->source, pc, &line);
    if (!trace_is_entry(s->trace, line.entry)) {
        int end = tell_function(&j, &line, "never called", err);
        return end ? end : tell_callers(&j, &line, depth, err);
    }
    j.f = cfg_function(s->index->cfg, line.entry, err);
    int32_t block = j.f ? cfg_block_of(j.f, pc) : CFG_NONE;
    int end = j.f ? 0 : -1;
    if (!end && block == CFG_NONE)
        return tell_line(&j, pc, "no way to it is known: through an indirect jump, perhaps", err);
    if (!end) {
        j.known = calloc(cfg_block_count(j.f) + 1, sizeof *j.known);
        end = j.known ? add_gates(&j, block, 0, err) : err_set(err, "no memory");
    }
    if (!end && j.gates)
        qsort(j.gate, j.gates, sizeof *j.gate, by_level);
    end = end ? end : count_gates(&j, err);
    if (!end && !depth)
        end = tell_line(
            &j, pc, j.gates ? "the line itself" : "nothing decides about it in its function", err);
    for (size_t i = 0; !end && i < j.gates; i++)
        end = tell_gate(&j, &j.gate[i], err);
    forget(&j);
    return end;
}

int ask_why_not(struct asking *q, struct err *err)
{
    struct source_breaks at = {0};
    struct job j = {.q = q};
    int end = rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err);
    if (!end)
        end = source_breaks_at(q->study->source, q->given->word[0], &at, err);
    for (size_t i = 0; !end && i < at.count; i++)
        end = explain(&j, at.at[i].pc, 0, err);
    source_breaks_deinit(&at);
    return end;
}
