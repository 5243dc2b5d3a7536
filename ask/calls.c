/* calls.c - `ask calls`: every execution of a function.
 *
 * SPDX-License-Identifier: MIT
 *
 * Without values rows are told as they are found. With values all calls are found first.
 */
#include "facts/calls/calls.h"

#include "ask/calls_values.h"
#include "ask/location.h"
#include "ask/question.h"

enum { AT, FUNCTION, ARGUMENTS, RESULT, CALLER, INSNS, SELF, DEPTH, AGAIN, HOW, ENDED, COLUMNS };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},           [FUNCTION] = {"function", ROWS_TEXT},
    [ARGUMENTS] = {"arguments", ROWS_TEXT}, [RESULT] = {"result", ROWS_TEXT},
    [CALLER] = {"caller", ROWS_PLACE},      [INSNS] = {"insns", ROWS_NUMBER},
    [SELF] = {"self", ROWS_NUMBER},         [DEPTH] = {"depth", ROWS_NUMBER},
    [AGAIN] = {"again", ROWS_NUMBER},       [HOW] = {"how", ROWS_TEXT},
    [ENDED] = {"ended", ROWS_TEXT},
};

static void tell_caller(struct asking *q, const struct call *c)
{
    const struct functions_one *f = c->function;
    if (c->from)
        location_place(q, CALLER, c->from);
    else if (f->file)
        rows_place(q->rows, CALLER,
                   &(struct rows_place){.file = f->file, .line = f->line, .pc = f->entry});
}

static void fill(struct asking *q, const struct call *c)
{
    struct rows *r = q->rows;
    rows_position(r, AT, &c->at, c->first);
    rows_text(r, FUNCTION, c->function->name);
    if (rows_shows(r, CALLER))
        tell_caller(q, c);
    rows_number(r, DEPTH, c->depth);
    if (c->how != FOLLOW_INLINED) {
        rows_number(r, INSNS, c->inclusive);
        rows_number(r, SELF, c->self);
    }
    if (c->again)
        rows_number(r, AGAIN, c->again);
    if (calls_how(c)[0])
        rows_text(r, HOW, calls_how(c));
    if (calls_ended(c)[0])
        rows_text(r, ENDED, calls_ended(c));
}

static int tell(void *arg, const struct call *c, struct err *err)
{
    struct asking *q = arg;
    fill(q, c);
    return rows_end(q->rows, err);
}

/* ---- with values ---- */

static int add(void *arg, const struct call *c, struct err *err)
{
    return calls_values_add(arg, c, err);
}

static int tell_valued(struct asking *q, const struct calls_values *v, struct err *err)
{
    int end = 0;
    for (size_t i = 0; !end && i < v->calls; i++) {
        const struct calls_valued *c = &v->call[i];
        if (v->condition && !c->met)
            continue;
        fill(q, &c->call);
        rows_text(q->rows, ARGUMENTS, c->arguments);
        rows_text(q->rows, RESULT, c->result);
        for (size_t k = 0; k < v->expressions; k++)
            rows_text(q->rows, (unsigned)(COLUMNS + k),
                      v->text ? *calls_values_text(v, i, k) : NULL);
        end = rows_end(q->rows, err);
    }
    return end;
}

static bool wants_values(const struct asking *q)
{
    bool any = q->given->where;
    for (unsigned i = ARGUMENTS; i <= RESULT; i++)
        any |= rows_shows(q->rows, i);
    for (unsigned i = 0; i < CALLS_EXPRESSIONS; i++)
        any |= q->given->print && rows_shows(q->rows, COLUMNS + i);
    return any;
}

int ask_calls(struct asking *q, struct err *err)
{
    struct calls_values v;
    struct functions functions = {0};
    struct rows_column all[COLUMNS + CALLS_EXPRESSIONS];
    struct calls_options o = {.pattern = q->given->word[0],
                              .fn = tell,
                              .arg = q,
                              .watch = {q->progress, q->interrupted, q->arg}};
    int end = calls_values_init(&v, q->given, err);
    for (size_t i = 0; i < COLUMNS; i++)
        all[i] = columns[i];
    for (size_t i = 0; i < v.expressions; i++)
        all[COLUMNS + i] = (struct rows_column){v.expression[i], ROWS_TEXT};
    if (!end)
        end = rows_begin(q->rows, all, COLUMNS + v.expressions, err);
    if (!end && wants_values(q)) {
        o.fn = add;
        o.arg = &v;
        end = calls_find(q->study, &o, &functions, err);
        if (!end)
            end = calls_values_take(&v, q, err);
        if (end >= 0)
            end = tell_valued(q, &v, err);
    } else if (!end) {
        o.countless = !rows_shows(q->rows, AT);
        end = calls_find(q->study, &o, &functions, err);
    }
    calls_values_deinit(&v);
    functions_deinit(&functions);
    return end;
}
