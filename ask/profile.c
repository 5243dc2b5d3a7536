/* profile.c - `ask profile`: where instructions were executed. SPDX-License-Identifier: MIT */
#include "facts/calls/profile.h"

#include <stdlib.h>
#include <string.h>

#include "ask/profile_formats.h"
#include "ask/question.h"

/* ---- by function ---- */

enum { F_SELF, F_SHARE, F_INCLUSIVE, F_CALLS, F_FUNCTION, F_PLACE, F_MODULE };
static const struct rows_column function_columns[] = {
    [F_SELF] = {"self", ROWS_NUMBER},           [F_SHARE] = {"share", ROWS_TEXT},
    [F_INCLUSIVE] = {"inclusive", ROWS_NUMBER}, [F_CALLS] = {"calls", ROWS_NUMBER},
    [F_FUNCTION] = {"function", ROWS_TEXT},     [F_PLACE] = {"place", ROWS_PLACE},
    [F_MODULE] = {"module", ROWS_TEXT},
};

static int by_self(const void *a, const void *b)
{
    const struct profile_function *x = *(const struct profile_function *const *)a,
                                  *y = *(const struct profile_function *const *)b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static void tell_share(struct rows *r, unsigned column, uint64_t part, uint64_t all)
{
    rows_printf(r, column, "%.2f%%", all ? 100.0 * (double)part / (double)all : 0.0);
}

static int tell_functions(struct asking *q, const struct profile *p, struct err *err)
{
    const struct profile_function **list = calloc(p->functions + 1, sizeof *list);
    struct rows *r = q->rows;
    int end = list ? rows_begin(r, function_columns,
                                sizeof function_columns / sizeof *function_columns, err)
                   : err_set(err, "no memory");
    for (size_t i = 0; list && i < p->functions; i++)
        list[i] = &p->function[i];
    if (!end)
        qsort(list, p->functions, sizeof *list, by_self);
    for (size_t i = 0; !end && i < p->functions; i++) {
        const struct profile_function *f = list[i];
        if (!f->calls)
            continue; /* a part of another one, by its symbol */
        rows_number(r, F_SELF, f->self);
        tell_share(r, F_SHARE, f->self, p->insns);
        rows_number(r, F_INCLUSIVE, f->inclusive);
        rows_number(r, F_CALLS, f->calls);
        rows_text(r, F_FUNCTION, f->name);
        if (f->file)
            rows_place(r, F_PLACE, &(struct rows_place){f->file, f->line, f->name, f->entry});
        rows_text(r, F_MODULE, f->module);
        rows_thread(r, rows_only(r));
        end = rows_end(r, err);
    }
    free(list);
    return end;
}

/* ---- by line ---- */

enum { L_SELF, L_SHARE, L_PLACE, L_FUNCTION };
static const struct rows_column line_columns[] = {
    [L_SELF] = {"self", ROWS_NUMBER},
    [L_SHARE] = {"share", ROWS_TEXT},
    [L_PLACE] = {"place", ROWS_PLACE},
    [L_FUNCTION] = {"function", ROWS_TEXT},
};

static int by_cost(const void *a, const void *b)
{
    const struct profile_line *x = *(const struct profile_line *const *)a,
                              *y = *(const struct profile_line *const *)b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int tell_lines(struct asking *q, const struct profile *p, struct err *err)
{
    const struct profile_line **list = calloc(p->lines + 1, sizeof *list);
    struct rows *r = q->rows;
    int end = list ? rows_begin(r, line_columns, sizeof line_columns / sizeof *line_columns, err)
                   : err_set(err, "no memory");
    for (size_t i = 0; list && i < p->lines; i++)
        list[i] = &p->line[i];
    if (!end)
        qsort(list, p->lines, sizeof *list, by_cost);
    for (size_t i = 0; !end && i < p->lines; i++) {
        const struct profile_line *l = list[i];
        const struct profile_function *f = &p->function[l->function];
        rows_number(r, L_SELF, l->self);
        tell_share(r, L_SHARE, l->self, p->insns);
        if (l->file)
            rows_place(r, L_PLACE, &(struct rows_place){l->file, l->line, f->name, f->entry});
        rows_text(r, L_FUNCTION, f->name);
        rows_thread(r, rows_only(r));
        end = rows_end(r, err);
    }
    free(list);
    return end;
}

/* ---- the question ---- */

static const struct form {
    const char *name;
    void (*write)(FILE *out, const struct profile *p);
} forms[] = {
    {"callgrind", profile_write_callgrind},
    {"folded", profile_write_folded},
};

int ask_profile(struct asking *q, struct err *err)
{
    const struct ask_given *g = q->given;
    const struct profile_options o = {.thread = rows_only(q->rows),
                                      .watch = {q->progress, q->interrupted, q->arg}};
    const struct form *form = NULL;
    struct profile p = {0};
    bool lines = g->words && !strcmp(g->word[0], "lines");
    if (g->words && !lines)
        return err_set_code(err, ASK_USAGE, "profile %s: it is `profile` or `profile lines`",
                            g->word[0]);
    for (size_t i = 0; g->format && i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(g->format, forms[i].name))
            form = &forms[i];
    if (g->format && !form)
        return err_set_code(err, ASK_USAGE, "--format %s: there are callgrind and folded",
                            g->format);
    int end = profile_make(q->study, &o, &p, err);
    if (!end && form)
        form->write(rows_foreign(q->rows), &p);
    else if (!end)
        end = lines ? tell_lines(q, &p, err) : tell_functions(q, &p, err);
    if (end >= 0 && !form)
        rows_note(q->rows, "%llu instructions in all", (unsigned long long)p.insns);
    profile_deinit(&p);
    return end;
}
