/* accesses.c - who touched some memory, and `ask values`: which values it had.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace tells who touched it, in order; probes tell what was there (watched.h).
 */
#include <stdlib.h>
#include <string.h>

#include "ask/followed.h"
#include "ask/watched.h"
#include "base/array.h"

enum { VALUE_TEXT = 1024 };

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

/* ---- rows ---- */

static void tell_value(struct job *j, unsigned column, gaddr addr, const uint8_t *bytes, size_t n)
{
    char text[VALUE_TEXT];
    if (!bytes)
        return;
    location_value(j->q, &j->at, addr, bytes, n, text, sizeof text);
    rows_text(j->q->rows, column, text);
}

/* ---- ask accesses ---- */

enum { A_AT, A_PLACE, A_ACCESS, A_WHAT, A_BYTES, A_VALUE, A_BY };
static const struct rows_column access_columns[] = {
    [A_AT] = {"at", ROWS_POSITION},     [A_PLACE] = {"place", ROWS_PLACE},
    [A_ACCESS] = {"access", ROWS_TEXT}, [A_WHAT] = {"what", ROWS_TEXT},
    [A_BYTES] = {"bytes", ROWS_NUMBER}, [A_VALUE] = {"value", ROWS_TEXT},
    [A_BY] = {"by", ROWS_TEXT},
};

static bool is_wanted(const struct asking *q, const struct touch *t)
{
    return (!q->given->reads && !q->given->writes) || (q->given->reads && t->read) ||
           (q->given->writes && t->write);
}

static int tell_access(struct job *j, const struct touch *t, const struct watched_value *v,
                       struct err *err)
{
    struct rows *r = j->q->rows;
    char name[VALUE_TEXT];
    if (!is_wanted(j->q, t))
        return 0;
    location_name(j->q, &j->at, t->addr, t->bytes, name, sizeof name);
    rows_position(r, A_AT, &t->at, t->insn);
    location_place(j->q, A_PLACE, t->at.pc);
    rows_text(r, A_ACCESS, t->read && t->write ? "both" : t->write ? "write" : "read");
    rows_text(r, A_WHAT, name);
    rows_number(r, A_BYTES, t->bytes);
    if (v)
        tell_value(j, A_VALUE, t->addr, watched_bytes(&j->at, v, t), (size_t)t->bytes);
    location_by(j->q, A_BY, t);
    return rows_end(r, err);
}

/* What was read, or what was left. */
static int tell_accesses(void *arg, size_t first, size_t behind, const struct watched_value *before,
                         const struct watched_value *after, struct err *err)
{
    struct job *j = arg;
    int end = 0;
    for (size_t i = first; !end && i < behind; i++)
        end = tell_access(j, &j->list[i], j->list[i].write ? after : before, err);
    return end;
}

/* Rows that show no value need no replay. */
static int tell_all(struct job *j, bool values, watched_fn *tell, struct err *err)
{
    int end = 0;
    if (values)
        return watched_run(j->q, &j->at, j->list, j->count, tell, j, err);
    for (size_t i = 0; !end && i < j->count; i++)
        end = tell(j, i, i + 1, NULL, NULL, err);
    return end;
}

static int answer(struct asking *q, const struct rows_column *column, size_t columns,
                  bool writes_only, watched_fn *tell, struct err *err)
{
    struct job j = {.q = q, .writes = true, .reads = !writes_only};
    if (location_find(q, &j.at, err))
        return -1;
    if (writes_only && j.at.computed)
        return err_set_code(err, ASK_USAGE,
                            "%s: it is computed, and nowhere in memory; --follow evaluates it anew "
                            "each time",
                            j.at.what);
    if (rows_begin(q->rows, column, columns, err))
        return -1;
    bool values = false;
    for (unsigned i = 0; i < columns; i++)
        values |= rows_shows(q->rows, i) && !strcmp(column[i].name, "value");
    int end = find(&j, err);
    if (!end)
        end = tell_all(&j, values, tell, err);
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

static bool is_same(struct job *j, const struct watched_value *a, const struct watched_value *b)
{
    char before[VALUE_TEXT], after[VALUE_TEXT];
    if (!a->known || a->known != b->known)
        return false;
    if (!j->at.bits)
        return !memcmp(a->bytes, b->bytes, a->known);
    watched_text(j->q, &j->at, a, before, sizeof before); /* its bytes have others' bits, too */
    watched_text(j->q, &j->at, b, after, sizeof after);
    return !strcmp(before, after);
}

/* The value is that of the first range. */
static int tell_values(void *arg, size_t first, size_t behind, const struct watched_value *before,
                       const struct watched_value *after, struct err *err)
{
    struct job *j = arg;
    struct rows *r = j->q->rows;
    const struct touch *t = &j->list[first];
    const struct touch_range *whole = &j->at.range[0];
    uint64_t bytes = whole->end - whole->start;
    (void)behind;
    rows_position(r, V_AT, &t->at, t->insn);
    location_place(j->q, V_PLACE, t->at.pc);
    if (after && after->known && source_types_class(&j->at.type) != TYPE_NONE) {
        char text[VALUE_TEXT];
        watched_text(j->q, &j->at, after, text, sizeof text);
        rows_text(r, V_VALUE, text);
    } else if (after && bytes <= after->known) {
        tell_value(j, V_VALUE, whole->start, after->bytes, (size_t)bytes);
    }
    rows_flag(r, V_SAME, after && is_same(j, before, after));
    location_by(j->q, V_BY, t);
    return rows_end(r, err);
}

int ask_values(struct asking *q, struct err *err)
{
    if (q->given->follow)
        return followed_answer(q, err);
    return answer(q, value_columns, sizeof value_columns / sizeof *value_columns, true, tell_values,
                  err);
}
