/* calls_values.c - values of calls. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* qsort_r */
#include "ask/calls_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/table.h"
#include "source/compile.h"
#include "study/probe.h"

enum { PARAMETERS = 32, PIECES = 1024, TEXT = 4096 };

/* Where values are taken: of a function's beginnings, or of its returns at one pc. */
struct spot {
    const struct functions_one *function;
    gaddr pc;
    bool returns;
    struct compiled *code;
    const char *parameter[PARAMETERS];
    size_t parameters;
};

struct known { /* one of them */
    uint64_t function, end;
};

struct taking {
    struct calls_values *v;
    struct asking *q;
    struct spot *spot;
    size_t spots, spot_room;
    TABLE(struct known) known;
    uint32_t *by_begin, *by_end; /* calls by thread and count */
};

/* ---- a list of calls ---- */

int calls_values_init(struct calls_values *v, const struct ask_given *given, struct err *err)
{
    *v = (struct calls_values){.condition = given->where};
    if (!given->print)
        return 0;
    if (!(v->print = strdup(given->print)))
        return err_set(err, "no memory");
    int depth = 0;
    char *from = v->print;
    for (char *at = v->print;; at++) { /* a comma in brackets is the expression's own */
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (*at && (*at != ',' || depth > 0))
            continue;
        if (v->expressions == CALLS_EXPRESSIONS)
            return err_set_code(err, ASK_USAGE, "--print: at most %d expressions",
                                CALLS_EXPRESSIONS);
        v->expression[v->expressions++] = from;
        from = at + 1;
        if (!*at)
            return 0;
        *at = 0;
    }
}

void calls_values_deinit(struct calls_values *v)
{
    for (size_t i = 0; i < v->calls; i++) {
        free(v->call[i].arguments);
        free(v->call[i].result);
        for (size_t k = 0; v->text && k < v->expressions; k++)
            free(*calls_values_text(v, i, k));
    }
    free(v->text);
    free(v->call);
    free(v->print);
    *v = (struct calls_values){0};
}

int calls_values_add(struct calls_values *v, const struct call *call, struct err *err)
{
    struct calls_valued new = {.call = *call};
    return array_push(&v->call, &v->calls, &v->room, new) ? err_set(err, "no memory") : 0;
}

/* ---- where ---- */

static int compile_begin(struct taking *t, struct spot *spot, struct err *err)
{
    struct source *s = t->q->study->source;
    const char *where = t->q->given->where;
    if (where && compile_when(spot->code, where, err)) {
        err->code = ASK_USAGE;
        return -1;
    }
    spot->parameters = functions_parameters(s, spot->function, spot->parameter, PARAMETERS);
    for (size_t i = 0; i < spot->parameters; i++)
        if (compile_add(spot->code, spot->parameter[i], err) < 0)
            return -1;
    for (size_t i = 0; i < t->v->expressions; i++)
        if (compile_add(spot->code, t->v->expression[i], err) < 0)
            return -1;
    return 0;
}

static int compile_end(struct taking *t, struct spot *spot, struct err *err)
{
    struct functions_returned result;
    if (!functions_result(t->q->study->source, spot->function, &result))
        return 0;
    return compile_add_result(spot->code, &result, err) < 0 ? -1 : 0;
}

/* Makes sure that there is a place for values of the function: where it begins, or if `end` is not
 * 0, where it returns there. */
static int add_spot(struct taking *t, const struct functions_one *f, gaddr end, struct err *err)
{
    struct source *s = t->q->study->source;
    if (table_reserve_pair(&t->known))
        return err_set(err, "no memory");
    struct known *k = table_find_pair(&t->known, (uint64_t)(uintptr_t)f, end);
    if (k->function)
        return 0;
    struct spot new = {
        .function = f, .pc = end ? end : functions_body(s, f->entry), .returns = end != 0};
    if (!(new.code = compile_new(s, new.pc, err)))
        return -1;
    if (!end)
        compile_outside(new.code, functions_inside(s, f, new.pc));
    int bad = end ? compile_end(t, &new, err) : compile_begin(t, &new, err);
    if (!bad && array_push(&t->spot, &t->spots, &t->spot_room, new))
        bad = err_set(err, "no memory");
    if (bad) {
        compile_free(new.code);
        return -1;
    }
    *k = (struct known){(uint64_t)(uintptr_t)f, end};
    t->known.used++;
    return 0;
}

static int find_spots(struct taking *t, struct err *err)
{
    for (size_t i = 0; i < t->v->calls; i++) {
        const struct call *c = &t->v->call[i].call;
        bool returned = c->last.thread && c->ended != FOLLOW_UNWOUND;
        if (add_spot(t, c->function, 0, err) ||
            (returned && add_spot(t, c->function, c->last.pc, err)))
            return -1;
    }
    return 0;
}

/* ---- rows ---- */

static int compare(const struct position *a, const struct position *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->count < b->count ? -1 : a->count > b->count;
}

static int by_begin(const void *a, const void *b, void *arg)
{
    const struct calls_values *v = arg;
    return compare(&v->call[*(const uint32_t *)a].call.at, &v->call[*(const uint32_t *)b].call.at);
}

static int by_end(const void *a, const void *b, void *arg)
{
    const struct calls_values *v = arg;
    return compare(&v->call[*(const uint32_t *)a].call.last,
                   &v->call[*(const uint32_t *)b].call.last);
}

static char *arguments(const struct spot *spot)
{
    char text[TEXT];
    size_t used = 0;
    if (!spot->parameters)
        return NULL;
    text[0] = 0;
    for (size_t i = 0; i < spot->parameters && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i ? ", " : "",
                                 spot->parameter[i], compile_text(spot->code, (unsigned)i));
    return strdup(text);
}

static void replace(char **text, char *by)
{
    free(*text);
    *text = by;
}

static void keep(struct taking *t, const struct spot *spot, struct calls_valued *c)
{
    if (spot->returns) {
        const char *text = compile_text(spot->code, 0);
        replace(&c->result, text ? strdup(text) : NULL);
        return;
    }
    c->met = true;
    replace(&c->arguments, arguments(spot));
    for (size_t i = 0; i < t->v->expressions; i++) {
        const char *text = compile_text(spot->code, (unsigned)(spot->parameters + i));
        replace(calls_values_text(t->v, (size_t)(c - t->v->call), i), text ? strdup(text) : NULL);
    }
}

static int take(void *arg, const struct probe_row *row, struct err *err)
{
    struct taking *t = arg;
    const struct spot *spot = &t->spot[row->probe];
    struct compile_piece piece[PIECES];
    uint32_t at = 0;
    size_t n = 0;
    (void)err;
    while (n < PIECES && probe_piece(row, &at, &piece[n].head, &piece[n].bytes) == 1)
        n++;
    const bool wanted =
        !row->undone && row->when == AGENT_DONE && compile_read(spot->code, piece, n) > 0;
    const uint32_t *list = spot->returns ? t->by_end : t->by_begin;
    const struct calls_valued *call = t->v->call;
    size_t low = search_first(
        t->v->calls, i,
        compare(spot->returns ? &call[list[i]].call.last : &call[list[i]].call.at, &row->at) < 0);
    for (; low < t->v->calls; low++) {
        struct calls_valued *c = &t->v->call[list[low]];
        if (compare(spot->returns ? &c->call.last : &c->call.at, &row->at))
            break;
        if (c->call.function != spot->function || (spot->returns && c->call.last.pc != row->at.pc))
            continue;
        if (wanted)
            keep(t, spot, c);
        else if (row->undone && !spot->returns)
            c->met = false;
    }
    return 0;
}

static bool stop(void *arg)
{
    const struct taking *t = arg;
    return t->q->interrupted();
}

static void progress(void *arg, uint64_t done, uint64_t total)
{
    const struct taking *t = arg;
    if (t->q->progress)
        t->q->progress(t->q->arg, done, total);
}

static int run(struct taking *t, struct err *err)
{
    struct probe *list = calloc(t->spots + 1, sizeof *list);
    const struct study_probe_options o = {.progress = progress, .stop = stop, .arg = t};
    if (!list)
        return err_set(err, "no memory");
    for (size_t i = 0; i < t->spots; i++) {
        list[i].pc = t->spot[i].pc;
        list[i].take = compile_take(t->spot[i].code, &list[i].take_bytes);
        list[i].when = compile_condition(t->spot[i].code, &list[i].when_bytes);
    }
    int end = t->spots ? study_probe(t->q->study, list, t->spots, &o, take, t, err) : 0;
    free(list);
    return end;
}

int calls_values_take(struct calls_values *v, struct asking *q, struct err *err)
{
    struct taking t = {.v = v, .q = q};
    t.by_begin = calloc(v->calls + 1, sizeof *t.by_begin);
    t.by_end = calloc(v->calls + 1, sizeof *t.by_end);
    v->text = calloc(v->calls * v->expressions + 1, sizeof *v->text);
    int end = t.by_begin && t.by_end && v->text ? find_spots(&t, err) : err_set(err, "no memory");
    for (uint32_t i = 0; !end && i < v->calls; i++)
        t.by_begin[i] = t.by_end[i] = i;
    if (!end && v->calls) {
        qsort_r(t.by_begin, v->calls, sizeof *t.by_begin, by_begin, v);
        qsort_r(t.by_end, v->calls, sizeof *t.by_end, by_end, v);
        end = run(&t, err);
    }
    for (size_t i = 0; i < t.spots; i++)
        compile_free(t.spot[i].code);
    free(t.spot);
    free(t.known.slot);
    free(t.by_begin);
    free(t.by_end);
    return end;
}
