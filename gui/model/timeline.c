/* timeline.c - who ran when, and what happened. SPDX-License-Identifier: MIT
 *
 * A column of pixels is a bucket: for each lane it gets the share of its ticks that the thread ran.
 * Each turn knows how long its thread ran and waited before it, so a bucket takes a search for each
 * of its edges, however many turns there are. Neighbours that look the same become one rectangle.
 */
#include "gui/model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { SHADES = 6 };

struct turn {
    uint64_t from, to, count;
    uint64_t ran, waited; /* by its thread, before it */
    bool waits;           /* when it is over */
};

struct lane {
    uint32_t thread;
    GArray *turns; /* of struct turn, by from */
};

struct mark {
    uint64_t ticks;
    uint32_t thread;
    enum timeline_kind kind;
    char *label;
};

struct timeline {
    GArray *lanes; /* of struct lane, by thread */
    GArray *marks; /* of struct mark */
    uint64_t begin, end;
    uint32_t last; /* the thread of the turn that was added last; 0: there is none */
};

static void clear_mark(void *mark)
{
    g_free(((struct mark *)mark)->label);
}

static void clear_lane(void *lane)
{
    g_array_unref(((struct lane *)lane)->turns);
}

struct timeline *timeline_new(void)
{
    struct timeline *t = g_new0(struct timeline, 1);
    t->lanes = g_array_new(FALSE, FALSE, sizeof(struct lane));
    t->marks = g_array_new(FALSE, FALSE, sizeof(struct mark));
    g_array_set_clear_func(t->lanes, clear_lane);
    g_array_set_clear_func(t->marks, clear_mark);
    return t;
}

void timeline_free(struct timeline *t)
{
    if (!t)
        return;
    g_array_unref(t->lanes);
    g_array_unref(t->marks);
    g_free(t);
}

static const struct lane *lane_at(const struct timeline *t, unsigned i)
{
    return &g_array_index(t->lanes, struct lane, i);
}

static const struct turn *turn_at(const GArray *turns, size_t i)
{
    return &g_array_index(turns, struct turn, i);
}

/* -1: no turn of it is known. */
static int lane_of(const struct timeline *t, uint32_t thread)
{
    const size_t at = search_first(t->lanes->len, i, lane_at(t, (unsigned)i)->thread < thread);
    return at < t->lanes->len && lane_at(t, (unsigned)at)->thread == thread ? (int)at : -1;
}

/* By their numbers, whoever ran first. */
static GArray *turns_of(struct timeline *t, uint32_t thread)
{
    const size_t at = search_first(t->lanes->len, i, lane_at(t, (unsigned)i)->thread < thread);
    if (at == t->lanes->len || lane_at(t, (unsigned)at)->thread != thread) {
        struct lane lane = {thread, g_array_new(FALSE, FALSE, sizeof(struct turn))};
        g_array_insert_val(t->lanes, (unsigned)at, lane);
    }
    return lane_at(t, (unsigned)at)->turns;
}

void timeline_add_turn(struct timeline *t, uint32_t thread, uint64_t from, uint64_t to,
                       uint64_t count)
{
    struct turn turn = {.from = from, .to = MAX(to, from), .count = count};
    GArray *turns = turns_of(t, thread);
    if (turns->len) {
        const struct turn *before = turn_at(turns, turns->len - 1);
        turn.ran = before->ran + (before->to - before->from);
        turn.waited = before->waited + (before->waits && from > before->to ? from - before->to : 0);
    }
    if (t->last == 0)
        t->begin = from;
    t->end = MAX(t->end, turn.to);
    t->last = thread;
    g_array_append_val(turns, turn);
}

void timeline_add_wait(struct timeline *t)
{
    int lane = lane_of(t, t->last);
    if (lane < 0)
        return;
    GArray *turns = lane_at(t, (unsigned)lane)->turns;
    g_array_index(turns, struct turn, turns->len - 1).waits = true;
}

bool timeline_when(const struct timeline *t, uint32_t thread, uint64_t count, uint64_t *ticks)
{
    int lane = lane_of(t, thread);
    const GArray *turns = lane < 0 ? NULL : lane_at(t, (unsigned)lane)->turns;
    const size_t behind =
        search_first(turns ? turns->len : 0, i, turn_at(turns, i)->count <= count);
    if (behind == 0)
        return false;
    const struct turn *turn = turn_at(turns, behind - 1);
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
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(struct mark));
    for (unsigned i = 0; i < t->marks->len; i++) {
        struct mark *m = &g_array_index(t->marks, struct mark, i);
        if (m->kind == kind)
            clear_mark(m);
        else
            g_array_append_val(kept, *m);
    }
    g_array_set_clear_func(t->marks, NULL);
    g_array_unref(t->marks);
    g_array_set_clear_func(kept, clear_mark);
    t->marks = kept;
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
    return lane < t->lanes->len ? lane_at(t, lane)->thread : 0;
}

/* ---- drawing ---- */

struct canvas {
    uint64_t from, to;
    double width, lane_height;
    unsigned columns, lanes;
    double *runs, *waits; /* of a lane: a share for each column, 0 to 1 */
    uint16_t *marked;     /* [lane + 1][column]: bits of kinds that have a mark there */
    GArray *rects;
};

/* What a thread did before a moment. */
struct amount {
    double ran, waited;
    size_t begun; /* turns */
};

static struct amount amount_until(const GArray *turns, double moment)
{
    const size_t begun = search_first(turns->len, i, (double)turn_at(turns, i)->from < moment);
    if (begun == 0)
        return (struct amount){0};
    const struct turn *last = turn_at(turns, begun - 1);
    double in = MIN(moment, (double)last->to) - (double)last->from;
    double behind = last->waits && begun < turns->len ? moment - (double)last->to : 0;
    return (struct amount){(double)last->ran + in, (double)last->waited + MAX(behind, 0), begun};
}

static void measure_lane(struct canvas *c, const GArray *turns)
{
    double wide = (double)(c->to - c->from) / c->columns;
    struct amount before = amount_until(turns, (double)c->from), now;
    for (unsigned i = 0; i < c->columns; i++, before = now) {
        now = amount_until(turns, (double)c->from + (i + 1) * wide);
        c->runs[i] = (now.ran - before.ran) / wide;
        c->waits[i] = (now.waited - before.waited) / wide;
        if (c->runs[i] <= 0 && now.begun > before.begun)
            c->runs[i] = 1e-3; /* no tick passed in it: a trace of it is seen at least */
    }
}

static int shade_of(double share)
{
    int shade = (int)(share * SHADES + 0.999);
    return CLAMP(shade, 0, SHADES);
}

static void add_lane(struct canvas *c, enum timeline_kind kind, int lane, uint32_t thread)
{
    const double *share = kind == TIMELINE_WAIT ? c->waits : c->runs;
    const double pixel = c->width / c->columns, ticks = (double)(c->to - c->from) / c->columns;
    for (unsigned i = 0, next; i < c->columns; i = next) {
        int shade = shade_of(share[i]);
        for (next = i + 1; next < c->columns && shade_of(share[next]) == shade;)
            next++;
        if (shade == 0)
            continue;
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

/* One mark of a kind is seen where several fall on the same place. */
static bool is_first(struct canvas *c, const struct mark *m, int lane, double column)
{
    unsigned at = MIN((unsigned)column, c->columns - 1);
    uint16_t *marked = &c->marked[(size_t)(lane + 1) * c->columns + at];
    bool first = !(*marked >> m->kind & 1);
    *marked |= (uint16_t)(1u << m->kind);
    return first;
}

static void add_mark(struct canvas *c, const struct timeline *t, const struct mark *m)
{
    if (m->ticks < c->from || m->ticks > c->to)
        return;
    int lane = lane_of(t, m->thread);
    double column = (double)(m->ticks - c->from) / (double)(c->to - c->from) * c->columns;
    struct timeline_rect rect = {.kind = m->kind,
                                 .thread = m->thread,
                                 .lane = lane,
                                 .x = column * c->width / c->columns - 1,
                                 .y = lane < 0 ? 0 : lane * c->lane_height,
                                 .width = 2,
                                 .height = lane < 0 ? c->lane_height * c->lanes : c->lane_height,
                                 .share = 1,
                                 .from = m->ticks,
                                 .to = m->ticks,
                                 .label = m->label};
    if (is_first(c, m, lane, column))
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
    c.runs = g_new0(double, c.columns);
    c.waits = g_new0(double, c.columns);
    c.marked = g_new0(uint16_t, (c.lanes + 1) * (size_t)c.columns);
    for (unsigned lane = 0; lane < c.lanes; lane++) {
        measure_lane(&c, lane_at(t, lane)->turns);
        add_lane(&c, TIMELINE_WAIT, (int)lane, lane_at(t, lane)->thread);
        add_lane(&c, TIMELINE_RUN, (int)lane, lane_at(t, lane)->thread);
    }
    for (unsigned i = 0; i < t->marks->len; i++)
        add_mark(&c, t, &g_array_index(t->marks, struct mark, i));
    g_free(c.marked);
    g_free(c.waits);
    g_free(c.runs);
    return c.rects;
}
