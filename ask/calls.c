/* calls.c - `ask calls`: every execution of a function. SPDX-License-Identifier: MIT */
#include "facts/calls/calls.h"

#include "ask/location.h"
#include "ask/question.h"

enum { AT, FUNCTION, CALLER, INSNS, SELF, DEPTH, AGAIN, HOW, ENDED };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},      [FUNCTION] = {"function", ROWS_TEXT},
    [CALLER] = {"caller", ROWS_PLACE}, [INSNS] = {"insns", ROWS_NUMBER},
    [SELF] = {"self", ROWS_NUMBER},    [DEPTH] = {"depth", ROWS_NUMBER},
    [AGAIN] = {"again", ROWS_NUMBER},  [HOW] = {"how", ROWS_TEXT},
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

static int tell(void *arg, const struct call *c, struct err *err)
{
    struct asking *q = arg;
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
    return rows_end(r, err);
}

int ask_calls(struct asking *q, struct err *err)
{
    struct calls_options o = {.pattern = q->given->word[0],
                              .fn = tell,
                              .arg = q,
                              .progress = q->progress,
                              .progress_arg = q->arg,
                              .interrupted = q->interrupted};
    struct functions functions = {0};
    if (rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err))
        return -1;
    o.countless = !rows_shows(q->rows, AT);
    int end = calls_find(q->study, &o, &functions, err);
    functions_deinit(&functions);
    return end;
}
