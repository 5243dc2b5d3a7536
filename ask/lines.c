/* lines.c - every execution of a line, with the values of expressions, as if a printf were there.
 *
 * SPDX-License-Identifier: MIT
 *
 * The places are those where GDB's `break` would stop. The expressions are compiled for each of
 * them (source/compile.h), and one replay takes what they need.
 *
 * An instruction that is begun again, after a signal for instance, takes its row back. So a row
 * waits until its thread comes by again, or until WAITING others wait behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "ask/question.h"
#include "source/compile.h"
#include "source/expression.h"
#include "study/probe.h"
#include "trace/number.h"

enum { AT, PLACE, FIXED };
enum { WAITING = 256, PIECES_MOST = 4096, EXPRESSIONS = ROWS_COLUMNS - FIXED - 1 };

/* A row that may be taken back. */
struct waiting {
    uint32_t probe;
    struct position at;
    uint64_t ticks;
    bool undone, passed;         /* its thread has come by again */
    char *text[EXPRESSIONS + 1]; /* of the columns behind the fixed ones */
};

struct job {
    struct asking *q;
    struct source_breaks breaks;
    struct compiled **compiled; /* of each place */
    struct probe *probe;
    const char *expression[EXPRESSIONS];
    unsigned expressions;
    bool where; /* there is a column for what is wrong with the condition */
    struct waiting queue[WAITING];
    size_t head, queued;
    struct compile_piece piece[PIECES_MOST];
};

/* ---- expressions ---- */

static int split(struct job *j, const char *list, struct err *err)
{
    while (list && *list) {
        size_t n = expression_length(list), blanks = strspn(list, " \t");
        if (j->expressions == EXPRESSIONS)
            return err_set_code(err, ASK_USAGE, "--print: more than %d expressions", EXPRESSIONS);
        char *text = strndup(list + blanks, n > blanks ? n - blanks : 0);
        if (!text)
            return err_set(err, "no memory");
        j->expression[j->expressions++] = source_keep(j->q->study->source, text);
        free(text);
        list += n + (list[n] == ',');
    }
    return 0;
}

/* The user's fault, not the compiler's. */
static bool is_wrong(int problem)
{
    return problem && problem != SOURCE_OPTIMIZED && problem != SOURCE_UNKNOWN_PLACE;
}

static int compile_place(struct job *j, size_t i, struct err *err)
{
    struct compiled *c = j->compiled[i] = compile_new(j->q->study->source, j->breaks.at[i].pc, err);
    if (!c)
        return -1;
    if (j->where && compile_when(c, j->q->given->where, err) && is_wrong(err->code))
        return err_set_code(err, ASK_USAGE, "--where %s", err->msg);
    for (unsigned k = 0; k < j->expressions; k++)
        if (compile_add(c, j->expression[k], err) < 0)
            return -1;
    struct probe *p = &j->probe[i];
    p->pc = j->breaks.at[i].pc;
    p->take = compile_take(c, &p->take_bytes);
    p->when = compile_condition(c, &p->when_bytes);
    return 0;
}

/* An expression that is wrong at every place is wrong. */
static int check_expressions(const struct job *j, struct err *err)
{
    for (unsigned k = 0; k < j->expressions; k++) {
        size_t i = 0;
        while (i < j->breaks.count && is_wrong(compile_problem(j->compiled[i], k)))
            i++;
        if (i && i == j->breaks.count)
            return err_set_code(err, ASK_USAGE, "--print %s: %s", j->expression[k],
                                compile_text(j->compiled[0], k));
    }
    return 0;
}

/* ---- rows ---- */

static int begin_rows(const struct job *j, struct err *err)
{
    struct rows_column column[ROWS_COLUMNS] = {
        [AT] = {"at", ROWS_POSITION}, [PLACE] = {"place", ROWS_PLACE}};
    size_t n = FIXED;
    if (j->where)
        column[n++] = (struct rows_column){"where", ROWS_TEXT};
    for (unsigned k = 0; k < j->expressions; k++)
        column[n++] = (struct rows_column){j->expression[k], ROWS_TEXT};
    return rows_begin(j->q->rows, column, n, err);
}

/* The order that --after is in is that of the trace. */
static int order_of(const struct job *j, const struct waiting *w, uint64_t *order, struct err *err)
{
    *order = w->ticks;
    return j->q->given->after.thread && number_find(j->q->study->trace, &w->at, order, err) < 0 ? -1
                                                                                                : 0;
}

static int write_row(struct job *j, const struct waiting *w, struct err *err)
{
    const struct source_break *b = &j->breaks.at[w->probe];
    struct rows_place place = {
        .file = b->file, .line = b->line, .function = b->function, .pc = b->pc};
    uint64_t order;
    if (order_of(j, w, &order, err))
        return -1;
    rows_position(j->q->rows, AT, &w->at, order);
    rows_place(j->q->rows, PLACE, &place);
    for (unsigned k = 0; k < j->expressions + j->where; k++)
        rows_text(j->q->rows, FIXED + k, w->text[k]);
    return rows_end(j->q->rows, err);
}

static void forget(struct waiting *w)
{
    for (size_t k = 0; k < sizeof w->text / sizeof *w->text; k++)
        free(w->text[k]);
    *w = (struct waiting){0};
}

/* Writes the oldest rows: those that cannot be taken back any more, and as many as are asked for.
 */
static int flush(struct job *j, size_t least, struct err *err)
{
    int end = 0;
    while (j->queued && !end) {
        struct waiting *w = &j->queue[j->head];
        if (!w->undone && !w->passed && !least)
            break;
        least -= least != 0;
        if (!w->undone)
            end = write_row(j, w, err);
        forget(w);
        j->head = (j->head + 1) % WAITING;
        j->queued--;
    }
    return end;
}

static struct waiting *queued(struct job *j, size_t i)
{
    return &j->queue[(j->head + i) % WAITING];
}

static bool is_same(const struct position *a, const struct position *b)
{
    return a->thread == b->thread && a->count == b->count && a->pc == b->pc;
}

/* The rows of its thread that wait: they stay, or one is taken back. */
static void settle(struct job *j, const struct probe_row *row)
{
    for (size_t i = 0; i < j->queued; i++) {
        struct waiting *w = queued(j, i);
        if (row->undone && w->probe == row->probe && is_same(&w->at, &row->at))
            w->undone = true;
        else if (!row->undone && w->at.thread == row->at.thread)
            w->passed = !is_same(&w->at, &row->at) || w->passed;
    }
}

static size_t pieces_of(struct job *j, const struct probe_row *row)
{
    size_t n = 0;
    uint32_t at = 0;
    while (n < PIECES_MOST && probe_piece(row, &at, &j->piece[n].head, &j->piece[n].bytes) > 0)
        n++;
    return n;
}

static int keep(struct job *j, const struct probe_row *row, struct err *err)
{
    struct compiled *c = j->compiled[row->probe];
    const char *why = "";
    if (row->when != AGENT_DONE)
        why = compile_failure(row->when);
    else if (j->where && !j->probe[row->probe].when_bytes && !compile_decides(c))
        why = "<optimized out>";
    int wanted = row->when == AGENT_DONE ? compile_read(c, j->piece, pieces_of(j, row)) : -1;
    if (!wanted)
        return 0;
    if (wanted < 0 && !why[0])
        why = compile_reason(c);
    struct waiting *w = queued(j, j->queued++);
    *w = (struct waiting){.probe = row->probe, .at = row->at, .ticks = row->ticks};
    if (j->where && !(w->text[0] = strdup(why)))
        return err_set(err, "no memory");
    for (unsigned k = 0; k < j->expressions && wanted > 0; k++)
        if (!(w->text[k + j->where] = strdup(compile_text(c, k))))
            return err_set(err, "no memory");
    return 0;
}

static int take_row(void *arg, const struct probe_row *row, struct err *err)
{
    struct job *j = arg;
    int end = 0;
    settle(j, row);
    if (!row->undone) {
        end = flush(j, j->queued == WAITING, err);
        if (!end && keep(j, row, err))
            return -1;
    }
    return end ? end : flush(j, 0, err);
}

/* ---- the question ---- */

static bool stop(void *arg)
{
    const struct job *j = arg;
    return j->q->interrupted();
}

static void progress(void *arg, uint64_t done, uint64_t total)
{
    const struct job *j = arg;
    if (j->q->progress)
        j->q->progress(j->q->arg, done, total);
}

static int run(struct job *j, struct err *err)
{
    const struct ask_given *g = j->q->given;
    struct study_probe_options options = {.progress = progress, .stop = stop, .arg = j};
    j->where = g->where != NULL;
    if (split(j, g->print, err))
        return -1;
    if (source_breaks_at(j->q->study->source, g->word[0], &j->breaks, err))
        return err_set_code(err, ASK_USAGE, "%s", err->msg);
    j->compiled = calloc(j->breaks.count + 1, sizeof *j->compiled);
    j->probe = calloc(j->breaks.count + 1, sizeof *j->probe);
    if (!j->compiled || !j->probe)
        return err_set(err, "no memory");
    for (size_t i = 0; i < j->breaks.count; i++)
        if (compile_place(j, i, err))
            return -1;
    if (check_expressions(j, err) || begin_rows(j, err))
        return -1;
    int end = study_probe(j->q->study, j->probe, j->breaks.count, &options, take_row, j, err);
    return end < 0 ? -1 : flush(j, j->queued, err) < 0 ? -1 : end;
}

int ask_lines(struct asking *q, struct err *err)
{
    struct job *j = calloc(1, sizeof *j);
    if (!j)
        return err_set(err, "no memory");
    j->q = q;
    int end = run(j, err);
    for (size_t i = 0; j->compiled && i < j->breaks.count; i++)
        compile_free(j->compiled[i]);
    for (size_t i = 0; i < WAITING; i++)
        forget(&j->queue[i]);
    source_breaks_deinit(&j->breaks);
    free(j->compiled);
    free(j->probe);
    free(j);
    return end;
}
