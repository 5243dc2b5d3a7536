/* timeline.c - who ran when, and what happened. SPDX-License-Identifier: MIT
 *
 * A column of pixels is a bucket: for each lane it gets the share of its ticks that the thread ran.
 * Neighbours that look the same become one rectangle. That is one pass over the turns of the range:
 * a few milliseconds for a million of them.
 */
#include "gui/model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { SHADES = 6 };

struct turn {
    uint64_t from, to, count;
    uint32_t thread;
    bool waits; /* when it is over */
};

struct mark {
    uint64_t ticks;
    uint32_t thread;
    enum timeline_kind kind;
    char *label;
};

struct timeline {
    GArray *turns;   /* of struct turn, by from */
    GArray *lanes;   /* of uint32_t: threads by number */
    GHashTable *own; /* thread -> GArray of indices of its turns */
    GArray *marks;   /* of struct mark */
    uint64_t begin, end;
};

static void clear_mark(void *mark)
{
    g_free(((struct mark *)mark)->label);
}

struct timeline *timeline_new(void)
{
    struct timeline *t = g_new0(struct timeline, 1);
    t->turns = g_array_new(FALSE, FALSE, sizeof(struct turn));
    t->lanes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    t->own = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    t->marks = g_array_new(FALSE, FALSE, sizeof(struct mark));
    g_array_set_clear_func(t->marks, clear_mark);
    return t;
}

void timeline_free(struct timeline *t)
{
    if (!t)
        return;
    g_array_unref(t->turns);
    g_array_unref(t->lanes);
    g_hash_table_unref(t->own);
    g_array_unref(t->marks);
    g_free(t);
}

static const struct turn *turn_at(const struct timeline *t, unsigned i)
{
    return &g_array_index(t->turns, struct turn, i);
}

/* By their numbers, whoever ran first. */
static void add_lane(struct timeline *t, uint32_t thread)
{
    unsigned at = 0;
    while (at < t->lanes->len && g_array_index(t->lanes, uint32_t, at) < thread)
        at++;
    g_array_insert_val(t->lanes, at, thread);
}

void timeline_add_turn(struct timeline *t, uint32_t thread, uint64_t from, uint64_t to,
                       uint64_t count)
{
    struct turn turn = {.from = from, .to = to, .count = count, .thread = thread};
    unsigned index = t->turns->len;
    GArray *own = g_hash_table_lookup(t->own, GUINT_TO_POINTER(thread));
    if (!own) {
        own = g_array_new(FALSE, FALSE, sizeof(unsigned));
        g_hash_table_insert(t->own, GUINT_TO_POINTER(thread), own);
        add_lane(t, thread);
    }
    if (index == 0)
        t->begin = from;
    if (to > t->end)
        t->end = to;
    g_array_append_val(own, index);
    g_array_append_val(t->turns, turn);
}

void timeline_add_wait(struct timeline *t)
{
    if (t->turns->len)
        g_array_index(t->turns, struct turn, t->turns->len - 1).waits = true;
}

bool timeline_when(const struct timeline *t, uint32_t thread, uint64_t count, uint64_t *ticks)
{
    const GArray *own = g_hash_table_lookup(t->own, GUINT_TO_POINTER(thread));
    const unsigned behind = (unsigned)search_first(
        own ? own->len : 0, i, turn_at(t, g_array_index(own, unsigned, i))->count <= count);
    if (behind == 0)
        return false;
    const struct turn *turn = turn_at(t, g_array_index(own, unsigned, behind - 1));
    uint64_t at = turn->from + (count - turn->count);
    *ticks = MIN(at, turn->to);
    return true;
}

bool timeline_when_position(const struct timeline *t, const char *position, uint64_t *ticks)
{
    const char *at = position ? strchr(position, 'T') : NULL;
    char *end;
    if (!at)
        return false;
    uint64_t thread = g_ascii_strtoull(at + 1, &end, 10);
    if (*end != ':')
        return false;
    return timeline_when(t, (uint32_t)thread, g_ascii_strtoull(end + 1, NULL, 10), ticks);
}

void timeline_add_mark(struct timeline *t, enum timeline_kind kind, uint32_t thread, uint64_t ticks,
                       const char *label)
{
    struct mark mark = {.ticks = ticks, .thread = thread, .kind = kind, .label = g_strdup(label)};
    g_array_append_val(t->marks, mark);
}

void timeline_move_marks(struct timeline *t, struct timeline *from)
{
    GArray *own = t->marks;
    t->marks = from->marks;
    from->marks = own;
}

void timeline_clear_marks(struct timeline *t, enum timeline_kind kind)
{
    for (unsigned i = t->marks->len; i-- > 0;)
        if (g_array_index(t->marks, struct mark, i).kind == kind)
            g_array_remove_index(t->marks, i);
}

uint64_t timeline_begin(const struct timeline *t)
{
    return t->begin;
}

uint64_t timeline_end(const struct timeline *t)
{
    return t->end;
}

unsigned timeline_lanes(const struct timeline *t)
{
    return t->lanes->len;
}

uint32_t timeline_lane_thread(const struct timeline *t, unsigned lane)
{
    return lane < t->lanes->len ? g_array_index(t->lanes, uint32_t, lane) : 0;
}

/* The first turn that ends behind ticks. */
static unsigned first_turn(const struct timeline *t, uint64_t ticks)
{
    return (unsigned)search_first(t->turns->len, i, turn_at(t, (unsigned)i)->to <= ticks);
}

uint32_t timeline_running(const struct timeline *t, uint64_t ticks)
{
    unsigned i = first_turn(t, ticks);
    return i < t->turns->len && turn_at(t, i)->from <= ticks ? turn_at(t, i)->thread : 0;
}

/* ---- drawing ---- */

struct canvas {
    uint64_t from, to;
    double width, lane_height;
    unsigned columns, lanes;
    double *share; /* [lane][column], 0 to 1; first of runs, then of waits */
    GArray *rects;
};

static int lane_of(const struct timeline *t, uint32_t thread)
{
    for (unsigned i = 0; i < t->lanes->len; i++)
        if (g_array_index(t->lanes, uint32_t, i) == thread)
            return (int)i;
    return -1;
}

static double column_of(const struct canvas *c, uint64_t ticks)
{
    double wide = (double)(c->to - c->from);
    return (double)(MAX(ticks, c->from) - c->from) / wide * c->columns;
}

static void add_share(struct canvas *c, int lane, uint64_t begin, uint64_t end)
{
    double from = column_of(c, begin), to = column_of(c, MIN(end, c->to));
    double *share = c->share + (size_t)lane * c->columns;
    if (begin == end) /* no tick passed in it: a trace of it is seen at least */
        to = from + 1e-3;
    for (unsigned i = (unsigned)from; i < c->columns && i < to; i++)
        share[i] += MIN(to, i + 1.0) - MAX(from, (double)i);
}

static int shade_of(double share)
{
    int shade = (int)(share * SHADES + 0.999);
    return MIN(shade, SHADES);
}

/* Between the turns of a thread that cross the range; the one before the range counts, too. */
static void add_waits(struct canvas *c, const struct timeline *t, int lane, const GArray *own)
{
    const unsigned first = (unsigned)search_first(
        own->len, i, turn_at(t, g_array_index(own, unsigned, i))->to <= c->from);
    for (unsigned i = first ? first - 1 : 0; i < own->len; i++) {
        const struct turn *turn = turn_at(t, g_array_index(own, unsigned, i));
        uint64_t next =
            i + 1 < own->len ? turn_at(t, g_array_index(own, unsigned, i + 1))->from : turn->to;
        if (turn->to > c->to)
            return;
        if (turn->waits && next > c->from && next > turn->to)
            add_share(c, lane, MAX(turn->to, c->from), next);
    }
}

/* Runs in the first half of the shares, waits in the second. */
static void add_runs(struct canvas *c, enum timeline_kind kind, int lane, uint32_t thread)
{
    size_t row = (size_t)lane + (kind == TIMELINE_WAIT ? c->lanes : 0);
    const double *share = c->share + row * c->columns, pixel = c->width / c->columns;
    for (unsigned i = 0, next; i < c->columns; i = next) {
        int shade = shade_of(share[i]);
        for (next = i + 1; next < c->columns && shade_of(share[next]) == shade;)
            next++;
        if (shade == 0)
            continue;
        double ticks = (double)(c->to - c->from) / c->columns;
        struct timeline_rect rect = {.kind = kind,
                                     .thread = thread,
                                     .lane = lane,
                                     .x = i * pixel,
                                     .y = lane * c->lane_height,
                                     .width = (next - i) * pixel,
                                     .height = c->lane_height,
                                     .share = (double)shade / SHADES,
                                     .from = c->from + (uint64_t)(i * ticks),
                                     .to = c->from + (uint64_t)(next * ticks)};
        g_array_append_val(c->rects, rect);
    }
}

static void add_mark(struct canvas *c, const struct timeline *t, const struct mark *m)
{
    int lane = lane_of(t, m->thread);
    double x = column_of(c, m->ticks) * c->width / c->columns;
    struct timeline_rect rect = {.kind = m->kind,
                                 .thread = m->thread,
                                 .lane = lane,
                                 .x = x - 1,
                                 .y = lane < 0 ? 0 : lane * c->lane_height,
                                 .width = 2,
                                 .height = lane < 0 ? c->lane_height * c->lanes : c->lane_height,
                                 .share = 1,
                                 .from = m->ticks,
                                 .to = m->ticks,
                                 .label = m->label};
    if (m->ticks >= c->from && m->ticks <= c->to)
        g_array_append_val(c->rects, rect);
}

GArray *timeline_draw(const struct timeline *t, uint64_t from, uint64_t to, double width,
                      double height)
{
    struct canvas c = {
        .from = from, .to = MAX(to, from + 1), .width = width, .lanes = t->lanes->len};
    c.rects = g_array_new(FALSE, FALSE, sizeof(struct timeline_rect));
    c.columns = width < 1 ? 0 : (unsigned)width;
    if (!c.columns || !c.lanes)
        return c.rects;
    c.lane_height = height / c.lanes;
    c.share = g_new0(double, 2 * (size_t)c.columns * c.lanes);
    for (unsigned i = first_turn(t, from); i < t->turns->len && turn_at(t, i)->from <= c.to; i++)
        add_share(&c, lane_of(t, turn_at(t, i)->thread), turn_at(t, i)->from, turn_at(t, i)->to);
    for (unsigned lane = 0; lane < c.lanes; lane++) {
        uint32_t thread = timeline_lane_thread(t, lane);
        add_waits(&c, t, (int)(c.lanes + lane),
                  g_hash_table_lookup(t->own, GUINT_TO_POINTER(thread)));
        add_runs(&c, TIMELINE_WAIT, (int)lane, thread);
        add_runs(&c, TIMELINE_RUN, (int)lane, thread);
    }
    for (unsigned i = 0; i < t->marks->len; i++)
        add_mark(&c, t, &g_array_index(t->marks, struct mark, i));
    g_free(c.share);
    return c.rects;
}
