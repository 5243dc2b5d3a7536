/* threads.c - the threads of a program: their makers, their ticks, their ends.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/entries.h"
#include "base/array.h"
#include "debug/events/describer.h"

struct one {
    uint32_t number, maker;
    int64_t tid;
    char name[16], how[160];
    struct position begin, end; /* thread 0: not known */
    uint64_t begin_ticks, ticks;
    uint64_t turns, waits, spins;
};

struct job {
    struct rows *rows;
    struct describer *describer;
    struct one *list;
    size_t count;
    uint64_t total; /* ticks of all */
};

enum {
    T_BEGIN,
    T_THREAD,
    T_TID,
    T_NAME,
    T_MAKER,
    T_TICKS,
    T_SHARE,
    T_TURNS,
    T_WAITS,
    T_SPINS,
    T_END,
    T_HOW
};
static const struct rows_column columns[] = {
    [T_BEGIN] = {"begin", ROWS_POSITION}, [T_THREAD] = {"thread", ROWS_NUMBER},
    [T_TID] = {"tid", ROWS_SIGNED},       [T_NAME] = {"name", ROWS_TEXT},
    [T_MAKER] = {"maker", ROWS_NUMBER},   [T_TICKS] = {"ticks", ROWS_NUMBER},
    [T_SHARE] = {"share", ROWS_TEXT},     [T_TURNS] = {"turns", ROWS_NUMBER},
    [T_WAITS] = {"waits", ROWS_NUMBER},   [T_SPINS] = {"spins", ROWS_NUMBER},
    [T_END] = {"end", ROWS_POSITION},     [T_HOW] = {"how", ROWS_TEXT},
};

/* NULL: no memory. */
static struct one *thread(struct job *j, uint32_t number)
{
    for (size_t i = j->count; i-- > 0;)
        if (j->list[i].number == number)
            return &j->list[i];
    return array_append(&j->list, &j->count, (struct one){.number = number})
               ? NULL
               : &j->list[j->count - 1];
}

static void note_switch(struct job *j, struct one *t, const struct debuggee_event *event)
{
    struct described words;
    const int64_t why = event->result & 0xff;
    struct one *next;
    t->ticks = event->at.count;
    t->waits += why == SWITCH_CALL;
    t->spins += why == SWITCH_SPINS;
    if (why == SWITCH_CALL) { /* it may never come back from there */
        describer_event(j->describer, event, &words);
        snprintf(t->how, sizeof t->how, "in %s", words.text);
    }
    if ((next = thread(j, (uint32_t)event->call))) {
        next->turns++;
        next->how[0] = 0;
    }
}

/* All threads end there; a new one begins in the other program. */
static void note_exec(struct job *j, const struct one *t, const struct debuggee_event *event)
{
    for (size_t i = 0; i < j->count; i++) {
        struct one *other = &j->list[i];
        if (other->end.thread || (other != t && !other->turns))
            continue;
        if (other == t)
            other->end = event->at;
        snprintf(other->how, sizeof other->how, other == t ? "exec" : "ended by exec");
    }
}

static int tell(void *arg, const struct debuggee_event *event, struct err *err)
{
    struct job *j = arg;
    struct one *t = thread(j, event->at.thread);
    if (!t)
        return err_set(err, "no memory");
    switch (event->kind) {
    case EVENT_THREAD:
        t->begin = event->at;
        t->begin_ticks = event->ticks;
        t->tid = event->call;
        t->maker = (uint32_t)event->result;
        break;
    case EVENT_EXIT:
        t->end = event->at;
        t->ticks = event->at.count;
        memcpy(t->name, event->text,
               event->text_bytes < sizeof t->name ? event->text_bytes : sizeof t->name - 1);
        snprintf(t->how, sizeof t->how, event->result ? "killed" : "exit(%" PRId64 ")",
                 event->call);
        break;
    case EVENT_EXEC:
        t->ticks = event->at.count;
        note_exec(j, t, event);
        break;
    case EVENT_SWITCH:
        note_switch(j, t, event);
        break;
    default:
        break;
    }
    if (event->kind != EVENT_SWITCH)
        describer_follow(j->describer, event);
    return 0;
}

static int begin(void *arg, struct past *past, struct err *err)
{
    struct job *j = arg;
    struct program_registers r;
    if (past_registers(past, 0, &r, err))
        return -1;
    struct one *t = thread(j, r.thread);
    if (!t)
        return err_set(err, "no memory");
    t->begin = (struct position){.thread = r.thread, .count = r.count, .pc = r.rip};
    t->tid = r.tid;
    t->turns = 1;
    return 0;
}

/* Threads that are still there. */
static int finish(void *arg, struct past *past, const struct replay_stop *stop, struct err *err)
{
    enum { MOST = 65536 };
    struct job *j = arg;
    struct program_registers r;
    struct program_thread *list = malloc(sizeof *list * MOST);
    size_t n = list ? past_threads(past, list, MOST) : 0;
    int bad = list ? 0 : err_set(err, "no memory");
    for (size_t i = 0; !bad && i < n && i < MOST; i++) {
        struct one *t = thread(j, list[i].number);
        if (!t || t->end.thread)
            continue;
        bad = past_registers(past, list[i].number, &r, err);
        memcpy(t->name, list[i].name, sizeof t->name);
        t->tid = list[i].tid;
        t->ticks = bad ? 0 : r.count;
        if (!bad)
            t->end = (struct position){.thread = t->number, .count = r.count, .pc = r.rip};
        if (!t->how[0])
            snprintf(t->how, sizeof t->how, "%s",
                     t->number == stop->at.thread ? "the recording ends" : "can run");
    }
    free(list);
    j->total = stop->ticks;
    return bad ? -1 : 0;
}

static int put(struct job *j, const struct one *t, struct err *err)
{
    if (t->begin.thread)
        rows_position(j->rows, T_BEGIN, &t->begin, t->begin_ticks);
    rows_thread(j->rows, t->number);
    rows_number(j->rows, T_THREAD, t->number);
    rows_signed(j->rows, T_TID, t->tid);
    rows_text(j->rows, T_NAME, t->name);
    if (t->maker)
        rows_number(j->rows, T_MAKER, t->maker);
    rows_number(j->rows, T_TICKS, t->ticks);
    rows_printf(j->rows, T_SHARE, "%.1f%%",
                j->total ? 100.0 * (double)t->ticks / (double)j->total : 0.0);
    rows_number(j->rows, T_TURNS, t->turns);
    rows_number(j->rows, T_WAITS, t->waits);
    rows_number(j->rows, T_SPINS, t->spins);
    if (t->end.thread)
        rows_position(j->rows, T_END, &t->end, t->begin_ticks);
    rows_text(j->rows, T_HOW, t->how);
    return rows_end(j->rows, err);
}

/* Threads are numbered as they were made; which of two new ones runs first is the schedule's
 * choice. */
static int by_number(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

int ask_threads(struct asking *q, struct err *err)
{
    struct job j = {.rows = q->rows};
    int end = rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err);
    if (!end && !(j.describer = describer_new()))
        end = err_set(err, "no memory");
    if (!end)
        end = entries_replay(q,
                             &(struct entries_options){.tell = RUN_EVENTS | RUN_SWITCHES,
                                                       .fn = tell,
                                                       .begin = begin,
                                                       .end = finish,
                                                       .arg = &j},
                             err);
    if (j.count)
        qsort(j.list, j.count, sizeof *j.list, by_number);
    for (size_t i = 0; end >= 0 && i < j.count; i++) {
        int enough = put(&j, &j.list[i], err);
        end = enough ? enough : end;
        if (enough)
            break;
    }
    describer_free(j.describer);
    free(j.list);
    return end;
}
