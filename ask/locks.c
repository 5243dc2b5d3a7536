/* locks.c - who holds and waits for which lock, and which orders could end in a deadlock.
 *
 * SPDX-License-Identifier: MIT
 */
#include "facts/locks/locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/location.h"
#include "facts/locks/naming.h"
#include "facts/locks/orders.h"
#include "slicer/criterion/place.h"

enum { NAME = 256, STORY_MOST = 1024 };

enum { STATE, KIND, LOCK, AT, PLACE, BY, STORY };
static const struct rows_column columns[] = {
    [STATE] = {"state", ROWS_TEXT}, [KIND] = {"kind", ROWS_TEXT},    [LOCK] = {"lock", ROWS_TEXT},
    [AT] = {"at", ROWS_POSITION},   [PLACE] = {"place", ROWS_PLACE}, [BY] = {"thread", ROWS_NUMBER},
    [STORY] = {"story", ROWS_TEXT},
};

/* ---- who holds it, who waits ---- */

static int tell_held(struct asking *q, const struct locks_event *e, struct err *err)
{
    char name[NAME];
    naming_lock(q->study, e->line_pc, NULL, e->lock, name, sizeof name);
    rows_text(q->rows, STATE, e->shared ? "held to read" : "held");
    rows_text(q->rows, KIND, locks_kind_name(e->kind));
    rows_text(q->rows, LOCK, name);
    rows_position(q->rows, AT, &e->at, e->insn);
    location_place(q, PLACE, e->line_pc ? e->line_pc : e->at.pc);
    rows_number(q->rows, BY, e->at.thread);
    return rows_end(q->rows, err);
}

static int tell_wait(struct asking *q, const struct locks_wait *w, struct err *err)
{
    char name[NAME];
    naming_wait(q->study, w, name, sizeof name);
    rows_text(q->rows, STATE, "waited for");
    rows_text(q->rows, KIND, locks_kind_name(w->kind));
    rows_text(q->rows, LOCK, name);
    rows_position(q->rows, AT, &w->at, w->from);
    location_place(q, PLACE, w->line_pc ? w->line_pc : w->at.pc);
    rows_number(q->rows, BY, w->at.thread);
    return rows_end(q->rows, err);
}

/* ---- orders ---- */

/* `T2 takes b at x.c:12 while it holds a since x.c:10` */
static void describe(struct asking *q, const struct locks *l, const struct orders_edge *e,
                     char *out, size_t room)
{
    const struct locks_event *held = &l->event[e->held], *taken = &l->event[e->taken];
    char a[NAME], b[NAME], a_line[NAME], b_line[NAME];
    naming_lock(q->study, held->line_pc, NULL, held->lock, a, sizeof a);
    naming_lock(q->study, taken->line_pc, NULL, taken->lock, b, sizeof b);
    study_place(q->study, held->line_pc, a_line, sizeof a_line);
    study_place(q->study, taken->line_pc, b_line, sizeof b_line);
    snprintf(out, room, "T%u took %.80s at %.80s while it held %.80s since %.80s", taken->at.thread,
             b, b_line, a, a_line);
}

static int tell_circle(struct asking *q, const struct locks *l, const struct orders *o,
                       const struct orders_circle *c, struct err *err)
{
    char story[STORY_MOST], name[NAME];
    for (unsigned i = 0; i < c->edges; i++) {
        const struct orders_edge *e = &o->edge[c->edge[i]];
        const struct locks_event *taken = &l->event[e->taken];
        describe(q, l, e, story, sizeof story);
        naming_lock(q->study, taken->line_pc, NULL, taken->lock, name, sizeof name);
        rows_text(q->rows, STATE, "could deadlock");
        rows_text(q->rows, KIND, locks_kind_name(taken->kind));
        rows_text(q->rows, LOCK, name);
        rows_position(q->rows, AT, &taken->at, taken->insn);
        location_place(q, PLACE, taken->line_pc ? taken->line_pc : taken->at.pc);
        rows_number(q->rows, BY, taken->at.thread);
        rows_text(q->rows, STORY, story);
        int end = rows_end(q->rows, err);
        if (end)
            return end;
    }
    return 0;
}

static int tell_orders(struct asking *q, const struct locks *l, struct err *err)
{
    struct orders o;
    if (orders_find(l, &o, err))
        return -1;
    int end = 0;
    for (size_t i = 0; !end && i < o.circles; i++)
        end = tell_circle(q, l, &o, &o.circle[i], err);
    orders_deinit(&o);
    return end;
}

/* ---- the question ---- */

/* `[at POSITION]`: the number of the instruction that comes next; the end if nothing is said. */
static int moment(struct asking *q, uint64_t *out, struct err *err)
{
    const struct ask_given *g = q->given;
    struct position at;
    struct place p = {0};
    *out = trace_insns(q->study->trace);
    if (!g->words)
        return 0;
    if (g->words != 2 || strcmp(g->word[0], "at") != 0)
        return err_set_code(err, ASK_USAGE, "what is wanted is `at POSITION`");
    if (position_parse(g->word[1], &at, err) || place_position(q->study, &at, &p, err))
        return -1;
    *out = p.at;
    place_deinit(&p);
    return 0;
}

int ask_locks(struct asking *q, struct err *err)
{
    uint64_t at;
    size_t count = 0;
    const struct locks_event **held = NULL;
    if (moment(q, &at, err) || rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err))
        return -1;
    const struct locks *l = locks_find(q->study, err);
    int end = l && (held = locks_held(l, at, &count, err)) ? 0 : -1;
    for (size_t i = 0; !end && i < count; i++)
        end = tell_held(q, held[i], err);
    for (size_t i = 0; !end && i < l->waits; i++)
        if (l->wait[i].from < at && at <= l->wait[i].to)
            end = tell_wait(q, &l->wait[i], err);
    if (!end)
        end = tell_orders(q, l, err);
    free(held);
    return end;
}
