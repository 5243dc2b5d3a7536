/* waits.c - what each thread waits for at the end. SPDX-License-Identifier: MIT */
#include "ask/location.h"
#include "facts/hang/hang.h"

enum { STORY_MOST = 1024 };

enum {
    THREAD,
    KIND,
    WHAT,
    AT,
    PLACE,
    HOLDER,
    SINCE,
    SINCE_PLACE,
    CIRCLE,
    CONDITION,
    WRITTEN,
    SIGNALLED,
    STORY
};
static const struct rows_column columns[] = {
    [THREAD] = {"thread", ROWS_NUMBER},     [KIND] = {"kind", ROWS_TEXT},
    [WHAT] = {"what", ROWS_TEXT},           [AT] = {"at", ROWS_POSITION},
    [PLACE] = {"place", ROWS_PLACE},        [HOLDER] = {"holder", ROWS_NUMBER},
    [SINCE] = {"since", ROWS_POSITION},     [SINCE_PLACE] = {"since_place", ROWS_PLACE},
    [CIRCLE] = {"circle", ROWS_NUMBER},     [CONDITION] = {"condition", ROWS_TEXT},
    [WRITTEN] = {"written", ROWS_POSITION}, [SIGNALLED] = {"signalled", ROWS_POSITION},
    [STORY] = {"story", ROWS_TEXT},
};

static void tell_moment(struct asking *q, unsigned column, const struct hang_moment *m)
{
    if (m->at.thread)
        rows_position(q->rows, column, &m->at, m->ticks);
}

static void tell_others(struct asking *q, const struct hang_thread *t)
{
    if (t->holder)
        rows_number(q->rows, HOLDER, t->holder);
    tell_moment(q, SINCE, &t->taken);
    if (t->taken.at.thread)
        location_place(q, SINCE_PLACE, t->taken.line_pc ? t->taken.line_pc : t->taken.at.pc);
    if (t->circle)
        rows_number(q->rows, CIRCLE, t->circle);
    if (t->causes) {
        rows_text(q->rows, CONDITION, t->cause[0].name);
        tell_moment(q, WRITTEN, &t->cause[0].written);
    }
    tell_moment(q, SIGNALLED, &t->signalled);
}

static int tell(struct asking *q, const struct hang_thread *t, struct err *err)
{
    const char *call = t->call >= 0 ? kinds_name(t->call) : NULL;
    char story[STORY_MOST];
    if (!t->waits)
        return 0;
    rows_number(q->rows, THREAD, t->number);
    rows_text(q->rows, KIND, t->kind ? locks_kind_name(t->kind) : call ? call : "");
    rows_text(q->rows, WHAT, t->what);
    rows_position(q->rows, AT, &t->at, t->since.ticks);
    location_place(q, PLACE, t->line_pc ? t->line_pc : t->at.pc);
    tell_others(q, t);
    hang_story(q->study, t, story, sizeof story);
    rows_text(q->rows, STORY, story);
    return rows_end(q->rows, err);
}

int ask_waits(struct asking *q, struct err *err)
{
    char summary[STORY_MOST];
    const struct hang *h;
    int end = 0;
    if (rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err) ||
        !(h = hang_find(q->study, err)))
        return -1;
    for (size_t i = 0; !end && i < h->threads; i++)
        end = tell(q, &h->thread[i], err);
    if (!end && hang_is(q->study, h)) {
        hang_summary(h, summary, sizeof summary);
        rows_note(q->rows, "a hang: %s", summary);
    }
    return end;
}
