/* followed.c - the values of an expression that is evaluated anew each time.
 *
 * SPDX-License-Identifier: MIT
 *
 * The links of the expression's chain (source/chain.h) move when a pointer or an index on the way
 * changes, so what has to be watched is only found by watching:
 *
 * 1. A list of places is known; at first the links that never move, and all of them at the end.
 * 2. The trace tells who wrote to any of these, and one replay evaluates the chain before each
 *    write. Between two of these writes no place of the list changed.
 * 3. Where a link was at a place that is not in the list, the place is added. If any was, go to 2.
 *
 * The list then has every place at which a link ever was: if it has all places of the first k
 * links, the writes to these are all known, and so are the places of link k + 1 between them. So
 * there are at most as many rounds as links. Each write to where a link was is a row.
 */
#include "ask/followed.h"

#include <stdlib.h>
#include <string.h>

#include "ask/location.h"
#include "ask/touching.h"
#include "base/array.h"
#include "base/search.h"
#include "source/chain.h"
#include "source/expression.h"
#include "study/past.h"

enum { AT, PLACE, VALUE, SAME, CHANGED, BY };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},       [PLACE] = {"place", ROWS_PLACE},
    [VALUE] = {"value", ROWS_TEXT},     [SAME] = {"same", ROWS_FLAG},
    [CHANGED] = {"changed", ROWS_TEXT}, [BY] = {"by", ROWS_TEXT},
};

enum { PIECES_MOST = 1024, NAMES = 1024 };

/* The chain, as it was before an instruction. */
struct moment {
    struct touch_range link[EXPRESSION_READS]; /* an empty one: nobody can say where it is */
    uint8_t value[COMPILE_BYTES];
    size_t bytes; /* of the value; 0: there is none */
};

struct row {
    size_t touch;
    uint64_t changed; /* a bit for each link that it wrote to */
    char *value;
    bool same;
};

struct job {
    struct asking *q;
    struct location at;
    struct chain *chain;
    struct touch_range *range; /* the list: sorted and disjoint up to `known`, then new ones */
    size_t ranges, range_room, known, most;
    struct touch *touch;
    size_t touches, touch_room;
    struct row *row;
    size_t rows, row_room;
    struct moment before, now, end;
    char *end_text;
    size_t first, behind; /* touches whose `before` is known */
    struct compile_piece piece[PIECES_MOST];
};

/* ---- the list of places ---- */

static int by_start(const void *a, const void *b)
{
    const struct touch_range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void put_in_order(struct job *j)
{
    size_t n = 0;
    if (j->ranges)
        qsort(j->range, j->ranges, sizeof *j->range, by_start);
    for (size_t i = 0; i < j->ranges; i++) {
        struct touch_range r = j->range[i];
        if (n && r.start <= j->range[n - 1].end)
            j->range[n - 1].end = r.end > j->range[n - 1].end ? r.end : j->range[n - 1].end;
        else
            j->range[n++] = r;
    }
    j->ranges = n;
}

static bool is_known(const struct job *j, const struct touch_range *r)
{
    const size_t i = search_upto(j->range, j->known, end, r->start); /* it ends behind r's start */
    return i < j->known && j->range[i].start <= r->start && j->range[i].end >= r->end;
}

/* New places may come a million times: the list is tidied before it doubles. */
static int add_place(struct job *j, const struct touch_range *r, struct err *err)
{
    if (r->start == r->end || is_known(j, r))
        return 0;
    if (j->ranges - j->known > j->most) {
        struct touch_range *fresh = j->range + j->known;
        struct job part = {.range = fresh, .ranges = j->ranges - j->known};
        put_in_order(&part);
        j->ranges = j->known + part.ranges;
        j->most = 2 * part.ranges + 1024;
    }
    return array_push(&j->range, &j->ranges, &j->range_room, *r) ? err_set(err, "no memory") : 0;
}

static int add_places(struct job *j, const struct moment *m, struct err *err)
{
    for (size_t i = 0; i < chain_links(j->chain); i++)
        if (add_place(j, &m->link[i], err))
            return -1;
    return 0;
}

/* ---- moments ---- */

static void take_moment(const struct job *j, struct moment *out)
{
    size_t bytes;
    for (size_t i = 0; i < chain_links(j->chain); i++) {
        gaddr addr;
        uint64_t n;
        bool placed = chain_link(j->chain, i, &addr, &n);
        out->link[i] = placed ? (struct touch_range){addr, addr + n} : (struct touch_range){0, 0};
    }
    const uint8_t *value = chain_value(j->chain, &bytes);
    out->bytes = value ? bytes : 0;
    if (value)
        memcpy(out->value, value, bytes);
}

static bool is_same(const struct moment *a, const struct moment *b)
{
    return a->bytes == b->bytes && !memcmp(a->value, b->value, a->bytes);
}

/* The links that these accesses wrote to. */
static uint64_t changed_by(const struct job *j, const struct moment *before)
{
    uint64_t changed = 0;
    for (size_t k = j->first; k < j->behind; k++)
        for (size_t i = 0; i < chain_links(j->chain); i++) {
            const struct touch_range *r = &before->link[i];
            const struct touch *t = &j->touch[k];
            if (t->addr < r->end && (t->addr >= r->start || r->start - t->addr < t->bytes))
                changed |= 1ull << i;
        }
    return changed;
}

/* What the accesses before this moment left. In a round that finds new places it does not matter.
 */
static int keep_row(struct job *j, const struct moment *after, const char *text, struct err *err)
{
    uint64_t changed = j->behind > j->first ? changed_by(j, &j->before) : 0;
    if (!changed || j->ranges > j->known)
        return 0;
    struct row row = {.touch = j->first, .changed = changed, .same = is_same(&j->before, after)};
    row.value = strdup(text ? text : chain_text(j->chain));
    if (row.value && !array_push(&j->row, &j->rows, &j->row_room, row))
        return 0;
    free(row.value);
    return err_set(err, "no memory");
}

static int take_row(void *arg, size_t first, size_t behind, const struct probe_row *row,
                    struct err *err)
{
    struct job *j = arg;
    size_t n = 0;
    uint32_t at = 0;
    while (n < PIECES_MOST && probe_piece(row, &at, &j->piece[n].head, &j->piece[n].bytes) > 0)
        n++;
    chain_read_row(j->chain, j->piece, n);
    take_moment(j, &j->now);
    if (add_places(j, &j->now, err) || (first != j->first && keep_row(j, &j->now, NULL, err)))
        return -1;
    j->before = j->now;
    j->first = first;
    j->behind = behind;
    return 0;
}

/* ---- rounds ---- */

static int keep_touch(void *arg, const struct touch *t, struct err *err)
{
    struct job *j = arg;
    if (t->insn < j->at.first || !t->write)
        return 0;
    if (t->insn >= j->at.behind || j->q->interrupted())
        return 1;
    return array_push(&j->touch, &j->touches, &j->touch_room, *t) ? err_set(err, "no memory") : 0;
}

static void forget_rows(struct job *j)
{
    for (size_t i = 0; i < j->rows; i++)
        free(j->row[i].value);
    j->rows = 0;
}

static int run_round(struct job *j, struct err *err)
{
    struct touching t = {.take = chain_take(j->chain, &t.take_bytes)};
    put_in_order(j);
    j->known = j->ranges;
    j->most = 1024;
    j->touches = j->first = j->behind = 0;
    forget_rows(j);
    struct touch_visitor v = {
        .range = j->range, .ranges = j->ranges, .first = j->at.first, .fn = keep_touch, .arg = j};
    if (touch_pass(j->q->study->trace, &v, err) < 0)
        return -1;
    /* New places are pushed behind these ranges while the replay runs. */
    struct touch_range *list = malloc((j->ranges + 1) * sizeof *list);
    if (!list)
        return err_set(err, "no memory");
    memcpy(list, j->range, j->ranges * sizeof *list);
    t.list = j->touch;
    t.count = j->touches;
    t.range = list;
    t.ranges = j->known;
    j->first = SIZE_MAX; /* nothing was told */
    int end = touching_run(j->q, &t, take_row, j, err);
    free(list);
    if (!end && j->first != SIZE_MAX)
        end = keep_row(j, &j->end, j->end_text, err);
    return end;
}

static size_t read_past(void *arg, gaddr addr, void *out, size_t bytes)
{
    return past_read(arg, addr, out, bytes);
}

static int look_at_end(struct job *j, struct err *err)
{
    struct past *past = study_past(j->q->study, j->at.behind, &j->at.end, err);
    if (!past)
        return -1;
    take_moment(j, &j->now); /* the links that do not move */
    int bad = add_places(j, &j->now, err);
    chain_read(j->chain, read_past, past);
    take_moment(j, &j->end);
    j->end_text = strdup(chain_text(j->chain));
    past_free(past);
    if (!j->end_text)
        return err_set(err, "no memory");
    return bad || add_places(j, &j->end, err) ? -1 : 0;
}

/* ---- rows ---- */

static void tell_changed(struct job *j, uint64_t changed)
{
    char text[NAMES] = "";
    size_t used = 0;
    for (size_t i = 0; i < chain_links(j->chain) && used < sizeof text; i++) {
        int length;
        const char *name = chain_name(j->chain, i, &length);
        if (changed & 1ull << i)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", used ? ", " : "",
                                     length, name);
    }
    rows_text(j->q->rows, CHANGED, text);
}

static int tell(struct job *j, struct err *err)
{
    int end = 0;
    for (size_t i = 0; i < j->rows && !end; i++) {
        const struct row *row = &j->row[i];
        const struct touch *t = &j->touch[row->touch];
        rows_position(j->q->rows, AT, &t->at, t->insn);
        location_place(j->q, PLACE, t->at.pc);
        rows_text(j->q->rows, VALUE, row->value);
        rows_flag(j->q->rows, SAME, row->same);
        tell_changed(j, row->changed);
        location_by(j->q, BY, t);
        end = rows_end(j->q->rows, err);
    }
    if (end >= 0 && j->at.local)
        rows_note(j->q->rows, "%s is of a call: writes while that lasted", j->at.what);
    return end;
}

static int answer(struct job *j, struct err *err)
{
    j->chain = location_chain(j->q, &j->at, err);
    if (!j->chain || rows_begin(j->q->rows, columns, sizeof columns / sizeof *columns, err) ||
        look_at_end(j, err))
        return -1;
    int end = 0;
    do {
        end = run_round(j, err);
    } while (!end && j->ranges > j->known);
    if (end > 0) /* interrupted: what is known of the values is not all */
        return 1;
    return end ? end : tell(j, err);
}

int followed_answer(struct asking *q, struct err *err)
{
    struct job *j = calloc(1, sizeof *j);
    if (!j)
        return err_set(err, "no memory");
    j->q = q;
    int end = answer(j, err);
    forget_rows(j);
    chain_free(j->chain);
    free(j->end_text);
    free(j->row);
    free(j->touch);
    free(j->range);
    free(j);
    return end;
}
