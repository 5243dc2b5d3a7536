/* accesses.c - who touched some memory, and `ask values`: which values it had.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace tells who touched it, in order; a replay that stops at each of them tells what was there
 * before. What a write left is there when the next access comes: nobody touched it in between. So
 * a row waits for the next one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/location.h"
#include "base/array.h"
#include "engine/os/kinds.h"
#include "study/past.h"

enum { VALUE_MOST = 256, VALUE_TEXT = 1024 };

struct job {
    struct asking *q;
    struct location at;
    bool writes, reads; /* that are wanted */
    struct touch *list;
    size_t count, room;
};

/* ---- who ---- */

static int keep(void *arg, const struct touch *t, struct err *err)
{
    struct job *j = arg;
    if (t->insn < j->at.first)
        return 0;
    if (t->insn >= j->at.behind || j->q->interrupted())
        return 1;
    if (!(t->write && j->writes) && !(t->read && j->reads))
        return 0;
    return array_push(&j->list, &j->count, &j->room, *t) ? err_set(err, "no memory") : 0;
}

/* The part of an access that is wanted. */
static void cut(const struct location *l, struct touch *t)
{
    for (size_t i = 0; i < l->ranges; i++) {
        const struct touch_range *r = &l->range[i];
        gaddr end = t->addr + t->bytes;
        gaddr from = t->addr > r->start ? t->addr : r->start, to = end < r->end ? end : r->end;
        if (from < to) {
            t->addr = from;
            t->bytes = to - from;
            return;
        }
    }
}

static int find(struct job *j, struct err *err)
{
    struct touch_visitor v = {
        .range = j->at.range, .ranges = j->at.ranges, .first = j->at.first, .fn = keep, .arg = j};
    if (touch_pass(j->q->study->trace, &v, err) < 0)
        return -1;
    for (size_t i = 0; i < j->count; i++)
        cut(&j->at, &j->list[i]);
    return 0;
}

/* ---- what was there ---- */

struct value {
    uint8_t bytes[VALUE_MOST];
    size_t known;
};

/* The whole of the first range, which a value is shown of; of accesses their own bytes. */
static void look(struct past *past, gaddr addr, uint64_t bytes, struct value *out)
{
    size_t n = bytes < VALUE_MOST ? (size_t)bytes : VALUE_MOST;
    out->known = past ? past_read(past, addr, out->bytes, n) : 0;
    if (out->known < n)
        out->known = 0;
}

/* Goes to an access, or behind all of them. */
static int go(struct job *j, struct past *past, size_t i, struct err *err)
{
    if (!past) /* nobody wants values */
        return 0;
    if (i < j->count) {
        bool same = i && j->list[i].insn == j->list[i - 1].insn;
        return same ? 0 : past_go(past, j->list[i].insn, &j->list[i].at, err);
    }
    return past_go(past, j->at.behind, &j->at.end, err);
}

static void tell_value(struct job *j, unsigned column, gaddr addr, const struct value *v)
{
    char text[VALUE_TEXT];
    if (!v->known)
        return;
    location_value(j->q, &j->at, addr, v->bytes, v->known, text, sizeof text);
    rows_text(j->q->rows, column, text);
}

static void tell_by(struct rows *r, unsigned column, const struct touch *t)
{
    if (t->by == TOUCH_CALL)
        rows_text(r, column, kinds_name(t->call));
    else if (t->by == TOUCH_SIGNAL)
        rows_printf(r, column, "signal %" PRId64, t->call);
}

/* ---- ask accesses ---- */

enum { A_AT, A_PLACE, A_ACCESS, A_WHAT, A_BYTES, A_VALUE, A_BY };
static const struct rows_column access_columns[] = {
    [A_AT] = {"at", ROWS_POSITION},     [A_PLACE] = {"place", ROWS_PLACE},
    [A_ACCESS] = {"access", ROWS_TEXT}, [A_WHAT] = {"what", ROWS_TEXT},
    [A_BYTES] = {"bytes", ROWS_NUMBER}, [A_VALUE] = {"value", ROWS_TEXT},
    [A_BY] = {"by", ROWS_TEXT},
};

/* `after`: what is there when the next access comes. */
static int tell_access(struct job *j, const struct touch *t, const struct value *before,
                       const struct value *after, struct err *err)
{
    struct rows *r = j->q->rows;
    char name[VALUE_TEXT];
    location_name(j->q, &j->at, t->addr, t->bytes, name, sizeof name);
    rows_position(r, A_AT, &t->at, t->insn);
    location_place(j->q, A_PLACE, t->at.pc);
    rows_text(r, A_ACCESS, t->read && t->write ? "both" : t->write ? "write" : "read");
    rows_text(r, A_WHAT, name);
    rows_number(r, A_BYTES, t->bytes);
    tell_value(j, A_VALUE, t->addr, t->write ? after : before);
    tell_by(r, A_BY, t);
    return rows_end(r, err);
}

/* All accesses are stopped at, so that what a write left is seen before the next one. */
static int tell_accesses(struct job *j, struct err *err)
{
    bool values = rows_shows(j->q->rows, A_VALUE);
    struct past *past = values ? past_new(j->q->study, err) : NULL;
    struct value before, after;
    int end = past || !values ? 0 : -1;
    if (!end && j->count) {
        end = go(j, past, 0, err);
        look(past, j->list[0].addr, j->list[0].bytes, &before);
    }
    for (size_t i = 0; !end && i < j->count; i++) {
        const struct touch *t = &j->list[i];
        if (go(j, past, i + 1, err)) {
            end = -1;
            break;
        }
        look(past, t->addr, t->bytes, &after);
        if (!(t->write && !j->q->given->writes && j->q->given->reads) &&
            !(!t->write && j->q->given->writes))
            end = tell_access(j, t, &before, &after, err);
        if (i + 1 < j->count)
            look(past, t[1].addr, t[1].bytes, &before);
        end = end ? end : j->q->interrupted();
    }
    past_free(past);
    return end;
}

static int answer(struct asking *q, const struct rows_column *column, size_t columns,
                  bool writes_only, int (*tell)(struct job *, struct err *), struct err *err)
{
    struct job j = {.q = q, .writes = true, .reads = !writes_only};
    if (location_find(q, &j.at, err) || rows_begin(q->rows, column, columns, err))
        return -1;
    int end = find(&j, err);
    if (!end)
        end = tell(&j, err);
    if (end >= 0 && j.at.local)
        rows_note(q->rows, "%s is a variable of a call: accesses while that lasted", j.at.what);
    free(j.list);
    return end;
}

int ask_accesses(struct asking *q, struct err *err)
{
    return answer(q, access_columns, sizeof access_columns / sizeof *access_columns, false,
                  tell_accesses, err);
}

/* ---- ask values ---- */

enum { V_AT, V_PLACE, V_VALUE, V_SAME, V_BY };
static const struct rows_column value_columns[] = {
    [V_AT] = {"at", ROWS_POSITION},   [V_PLACE] = {"place", ROWS_PLACE},
    [V_VALUE] = {"value", ROWS_TEXT}, [V_SAME] = {"same", ROWS_FLAG},
    [V_BY] = {"by", ROWS_TEXT},
};

static int tell_values(struct job *j, struct err *err)
{
    const struct touch_range *whole = &j->at.range[0];
    struct rows *r = j->q->rows;
    bool values = rows_shows(r, V_VALUE) || rows_shows(r, V_SAME);
    struct past *past = values ? past_new(j->q->study, err) : NULL;
    struct value before, after;
    int end = past || !values ? 0 : -1;
    if (!end && j->count)
        end = go(j, past, 0, err);
    for (size_t i = 0; !end && i < j->count; i++) {
        const struct touch *t = &j->list[i];
        look(past, whole->start, whole->end - whole->start, &before);
        if (go(j, past, i + 1, err)) {
            end = -1;
            break;
        }
        look(past, whole->start, whole->end - whole->start, &after);
        rows_position(r, V_AT, &t->at, t->insn);
        location_place(j->q, V_PLACE, t->at.pc);
        tell_value(j, V_VALUE, whole->start, &after);
        rows_flag(r, V_SAME,
                  before.known && before.known == after.known &&
                      !memcmp(before.bytes, after.bytes, after.known));
        tell_by(r, V_BY, t);
        end = rows_end(r, err);
        end = end ? end : j->q->interrupted();
    }
    past_free(past);
    return end;
}

int ask_values(struct asking *q, struct err *err)
{
    return answer(q, value_columns, sizeof value_columns / sizeof *value_columns, true, tell_values,
                  err);
}
