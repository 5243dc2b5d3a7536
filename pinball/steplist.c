/* steplist.c - the list of kept statements, packed. SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. Ways are never changed, and those from one place are in the order in which they were met. So
 *    whoever knows all of them can begin to read anywhere, if it knows where each thread is.
 * 2. A mark stands between two statements, perhaps within a token that stands for several.
 * 3. Adding and reading take the same way through step(), so both know the same.
 */
#include "pinball/steplist.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/table.h"

/* A byte of a packed list. */
enum token {
    TOKEN_WAYS = 120,   /* below: the way with this number */
    TOKEN_NEW = 120,    /* a way that is written out; it gets the next number, if one is left */
    TOKEN_THREAD = 121, /* of another thread from here on: its number follows */
    TOKEN_FIRST = 128,  /* from here on: the first way, so many times more */
};

enum { LANES_MOST = 1 << 20 };

/* From the last statement of a thread to the next. */
struct way {
    uint64_t pc, last_pc;
    uint64_t count, last_count; /* since the last one's last instruction; and since the first */
    uint32_t depth;             /* more */
    uint32_t how;
    uint32_t place; /* number of pc's place */
};

/* What code ways lead from. */
struct place {
    uint64_t pc, last_pc; /* the farthest; UINT64_MAX: a statement ticks */
    struct way *way;
    uint32_t ways;
};

struct place_at {
    uint64_t pc; /* plus one */
    uint64_t number;
};

/* A thread, behind its last statement. */
struct lane {
    struct kept_statement last;
    uint64_t number; /* of that one */
    uint32_t place, pad;
};

struct mark {
    size_t at;    /* the byte that comes next ... */
    size_t begun; /* ... and so many of the statements that it stands for were before */
    size_t lane, lanes;
    uint32_t now;
};

struct steplist {
    uint8_t *byte;
    size_t bytes, byte_room;
    size_t read;  /* so many of them have been understood ... */
    size_t begun; /* ... and so many of the statements of the next one */
    size_t count; /* statements */
    bool in_run;  /* the last byte is a run of first ways, which may grow */
    struct place *place;
    size_t places, place_room;
    TABLE(struct place_at) at;
    size_t ways;
    struct lane *lane; /* behind the last statement */
    size_t lanes, lane_room;
    uint32_t now; /* the lane of it; only if there is one */
    struct mark *mark;
    size_t marks, mark_room;
    struct lane *marked; /* lanes of all marks */
    size_t marked_lanes, marked_room;
    struct block *block;
};

/* Statements behind a mark, those that were read last. */
struct block {
    size_t number, count; /* count 0: none */
    struct kept_statement list[STEPLIST_MARK];
    struct lane *lane; /* room for all threads */
    size_t lane_room;
};

/* ---- places, ways, threads ---- */

static int place_of(struct steplist *l, uint64_t pc, uint32_t *number)
{
    if (table_reserve(&l->at))
        return -1;
    struct place_at *p = table_find(&l->at, pc + 1);
    if (!p->pc) {
        if (l->places == UINT32_MAX || array_push(&l->place, &l->places, &l->place_room,
                                                  (struct place){.pc = pc, .last_pc = pc}))
            return -1;
        *p = (struct place_at){pc + 1, l->places - 1};
        l->at.used++;
    }
    *number = (uint32_t)p->number;
    return 0;
}

static bool same_way(const struct way *a, const struct way *b)
{
    return a->pc == b->pc && a->last_pc == b->last_pc && a->count == b->count &&
           a->last_count == b->last_count && a->depth == b->depth && a->how == b->how;
}

/* A way that was met first. It gets a number, if there is one left. */
static int add_way(struct steplist *l, uint32_t from, struct way *w)
{
    if (place_of(l, w->pc, &w->place))
        return -1;
    struct place *p = &l->place[w->place];
    if (w->last_count || w->last_pc > p->last_pc)
        p->last_pc = w->last_count ? UINT64_MAX : w->last_pc;
    p = &l->place[from];
    if (p->ways == TOKEN_WAYS)
        return 0;
    if (array_fit(&p->way, p->ways, sizeof *p->way))
        return -1;
    p->way[p->ways++] = *w;
    l->ways++;
    return 0;
}

/* Threads begin at a place of their own, number 0. */
static int find_lane(struct steplist *l, uint32_t thread)
{
    if (l->lanes && l->lane[l->now].last.thread == thread)
        return 0;
    for (uint32_t i = 0; i < l->lanes; i++)
        if (l->lane[i].last.thread == thread) {
            l->now = i;
            return 0;
        }
    if (l->lanes == LANES_MOST ||
        (!l->places && array_push(&l->place, &l->places, &l->place_room, (struct place){0})))
        return -1;
    if (array_reserve(&l->block->lane, &l->block->lane_room, l->lanes + 1))
        return -1;
    l->now = (uint32_t)l->lanes;
    return array_push(&l->lane, &l->lanes, &l->lane_room, (struct lane){.last.thread = thread});
}

/* The thread takes a way. */
static void step(struct lane *lane, const struct way *w, uint64_t number)
{
    struct kept_statement *s = &lane->last;
    s->count = s->last_count + w->count;
    s->pc = w->pc;
    s->last_count = s->count + w->last_count;
    s->last_pc = w->last_pc;
    s->depth += w->depth;
    s->how = w->how;
    lane->number = number;
    lane->place = w->place;
}

/* Before statement number `count`, of which `begun` at byte `at` have been. */
static int put_mark(struct steplist *l, size_t at, size_t begun)
{
    const struct mark m = {at, begun, l->marked_lanes, l->lanes, l->now};
    if (l->count % STEPLIST_MARK)
        return 0;
    if (array_reserve(&l->marked, &l->marked_room, l->marked_lanes + l->lanes + 1) ||
        array_push(&l->mark, &l->marks, &l->mark_room, m))
        return -1;
    if (l->lanes)
        memcpy(l->marked + l->marked_lanes, l->lane, l->lanes * sizeof *l->lane);
    l->marked_lanes += l->lanes;
    return 0;
}

/* ---- packing ---- */

static int put_byte(struct steplist *l, uint8_t byte)
{
    return array_push(&l->byte, &l->bytes, &l->byte_room, byte);
}

static int put_number(struct steplist *l, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        if (put_byte(l, (uint8_t)(n | 0x80)))
            return -1;
    return put_byte(l, (uint8_t)n);
}

/* Small ones of either sign are short. */
static uint64_t fold(uint64_t n)
{
    return n << 1 ^ (uint64_t)((int64_t)n >> 63);
}

static uint64_t unfold(uint64_t n)
{
    return n >> 1 ^ (0 - (n & 1));
}

static int put_way(struct steplist *l, const struct way *w, const struct lane *from)
{
    return put_byte(l, TOKEN_NEW) || put_number(l, fold(w->pc - from->last.last_pc)) ||
                   put_number(l, fold(w->last_pc - w->pc)) || put_number(l, fold(w->count)) ||
                   put_number(l, fold(w->last_count)) ||
                   put_number(l, fold((uint64_t)(int64_t)(int32_t)w->depth)) ||
                   put_number(l, w->how)
               ? -1
               : 0;
}

/* Several steps on first ways are one byte. */
static int put_first(struct steplist *l)
{
    if (l->in_run && l->byte[l->bytes - 1] < UINT8_MAX) {
        l->byte[l->bytes - 1]++;
        return 0;
    }
    l->in_run = true;
    return put_byte(l, TOKEN_FIRST);
}

static int put_mark_here(struct steplist *l)
{
    const bool more = l->in_run && l->byte[l->bytes - 1] < UINT8_MAX;
    return more ? put_mark(l, l->bytes - 1, l->byte[l->bytes - 1] - TOKEN_FIRST + 1u)
                : put_mark(l, l->bytes, 0);
}

static int put_step(struct steplist *l, const struct lane *lane, struct way *w)
{
    const struct place *p = &l->place[lane->place];
    uint32_t number = 0;
    while (number < p->ways && !same_way(&p->way[number], w))
        number++;
    if (number == 0 && p->ways) {
        w->place = p->way[0].place;
        return put_first(l);
    }
    l->in_run = false;
    if (number < p->ways) {
        w->place = p->way[number].place;
        return put_byte(l, (uint8_t)number);
    }
    return put_way(l, w, lane) || add_way(l, lane->place, w) ? -1 : 0;
}

int steplist_add(struct steplist *l, const struct kept_statement *s)
{
    const bool other = !l->lanes || l->lane[l->now].last.thread != s->thread;
    if (put_mark_here(l))
        return -1;
    if (other) {
        l->in_run = false;
        if (find_lane(l, s->thread) || put_byte(l, TOKEN_THREAD) || put_number(l, s->thread))
            return -1;
    }
    struct lane *lane = &l->lane[l->now];
    struct way w = {.pc = s->pc,
                    .last_pc = s->last_pc,
                    .count = s->count - lane->last.last_count,
                    .last_count = s->last_count - s->count,
                    .depth = s->depth - lane->last.depth,
                    .how = s->how};
    if (put_step(l, lane, &w))
        return -1;
    step(&l->lane[l->now], &w, l->count++);
    l->read = l->bytes;
    return 0;
}

/* ---- reading ---- */

struct reading {
    const struct steplist *l;
    size_t at, begun;
};

static bool take_number(struct reading *r, uint64_t *n)
{
    *n = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->l->bytes; shift += 7) {
        const uint8_t byte = r->l->byte[r->at++];
        *n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_folded(struct reading *r, uint64_t *n)
{
    const bool good = take_number(r, n);
    *n = unfold(*n);
    return good;
}

static bool take_way(struct reading *r, const struct lane *from, struct way *w)
{
    uint64_t pc, last_pc, depth, how;
    if (!take_folded(r, &pc) || !take_folded(r, &last_pc) || !take_folded(r, &w->count) ||
        !take_folded(r, &w->last_count) || !take_folded(r, &depth) || !take_number(r, &how))
        return false;
    w->pc = pc + from->last.last_pc;
    w->last_pc = last_pc + w->pc;
    w->depth = (uint32_t)depth;
    w->how = (uint32_t)how;
    return w->pc != UINT64_MAX && how <= UINT32_MAX;
}

/* What follows a token that is no way; `token` becomes the one behind it. */
static bool take_thread(struct reading *r, uint64_t *thread, uint8_t *token)
{
    if (!take_number(r, thread) || *thread > UINT32_MAX || r->at == r->l->bytes)
        return false;
    *token = r->l->byte[r->at++];
    return *token != TOKEN_THREAD;
}

/* The next way of a token below TOKEN_NEW, or from TOKEN_FIRST on. NULL: there is none. */
static const struct way *known_way(struct reading *r, uint8_t token, uint32_t place)
{
    const struct place *p = &r->l->place[place];
    const uint8_t number = token >= TOKEN_FIRST ? 0 : token;
    if (number >= p->ways || token == TOKEN_THREAD || token == TOKEN_NEW)
        return NULL;
    if (token >= TOKEN_FIRST && ++r->begun <= (uint8_t)(token - TOKEN_FIRST))
        r->at--; /* it stands for more */
    else
        r->begun = 0;
    return &p->way[number];
}

static uint8_t take_token(struct reading *r)
{
    const uint8_t token = r->l->byte[r->at++];
    if (!r->begun || r->begun <= (uint8_t)(token - TOKEN_FIRST))
        return token;
    r->begun = 0; /* a mark stands behind a run */
    return r->l->byte[r->at++];
}

static int read_one(struct steplist *l, struct reading *r)
{
    uint64_t thread;
    struct way w = {0};
    if (put_mark(l, r->at, r->begun))
        return -1;
    uint8_t token = take_token(r);
    if (token == TOKEN_THREAD &&
        (!take_thread(r, &thread, &token) || find_lane(l, (uint32_t)thread)))
        return -1;
    if (!l->lanes)
        return -1;
    struct lane *lane = &l->lane[l->now];
    if (token != TOKEN_NEW) {
        const struct way *known = known_way(r, token, lane->place);
        if (!known)
            return -1;
        w = *known;
    } else if (!take_way(r, lane, &w) || add_way(l, lane->place, &w))
        return -1;
    step(lane, &w, l->count++);
    return 0;
}

int steplist_put(struct steplist *l, const uint8_t *bytes, size_t count)
{
    if (array_reserve(&l->byte, &l->byte_room, l->bytes + count + 1))
        return -1;
    memcpy(l->byte + l->bytes, bytes, count);
    l->bytes += count;
    return 0;
}

int steplist_read(struct steplist *l, struct err *err)
{
    enum { AT_ONCE = 1 << 20 };
    struct reading r = {.l = l, .at = l->read, .begun = l->begun};
    for (unsigned i = 0; r.at < l->bytes && i < AT_ONCE; i++)
        if (read_one(l, &r))
            return err_set(err, "the list of statements is damaged at byte %zu", r.at);
    l->read = r.at;
    l->begun = r.begun;
    l->in_run = false;
    return l->read < l->bytes;
}

/* ---- asking ---- */

/* As read_one(), of what is known to be good. */
static void again(struct reading *r, struct block *b, uint32_t *now, size_t lanes, uint64_t number)
{
    uint64_t thread;
    struct way w = {0};
    uint8_t token = take_token(r);
    if (token == TOKEN_THREAD) {
        (void)take_thread(r, &thread, &token);
        for (*now = 0; *now < lanes && b->lane[*now].last.thread != thread;)
            ++*now;
    }
    struct lane *lane = &b->lane[*now];
    const struct way *known = known_way(r, token, lane->place);
    if (known)
        w = *known;
    else if (take_way(r, lane, &w)) {
        const struct place_at *p = table_find(&r->l->at, w.pc + 1);
        w.place = (uint32_t)p->number;
    }
    step(lane, &w, number);
    b->list[b->count++] = lane->last;
}

/* Threads that are met in the block first are behind those that the mark has, in their order. */
static void read_block(const struct steplist *l, size_t number)
{
    struct block *b = l->block;
    const struct mark *m = &l->mark[number];
    struct reading r = {.l = l, .at = m->at, .begun = m->begun};
    uint32_t now = m->now;
    if (b->count && b->number == number)
        return;
    b->number = number;
    b->count = 0;
    for (size_t i = 0; i < l->lanes; i++)
        b->lane[i] = i < m->lanes ? l->marked[m->lane + i]
                                  : (struct lane){.last.thread = l->lane[i].last.thread};
    for (size_t i = number * STEPLIST_MARK; i < l->count && b->count < STEPLIST_MARK; i++)
        again(&r, b, &now, l->lanes, i);
}

void steplist_get(const struct steplist *l, size_t i, struct kept_statement *out)
{
    read_block(l, i / STEPLIST_MARK);
    *out = l->block->list[i % STEPLIST_MARK];
}

/* Threads begin at place 0. */
bool steplist_place(const struct steplist *l, size_t i, uint64_t *first, uint64_t *last)
{
    if (i + 1 >= l->places)
        return false;
    *first = l->place[i + 1].pc;
    *last = l->place[i + 1].last_pc;
    return true;
}

static bool is_behind(const struct kept_statement *s, uint64_t count, uint64_t pc)
{
    return s->count > count || (s->count == count && s->pc > pc);
}

/* The thread's lane where a mark is. NULL: it has not begun. */
static const struct lane *marked_lane(const struct steplist *l, size_t mark, uint32_t thread)
{
    const struct mark *m = &l->mark[mark];
    for (size_t i = 0; i < m->lanes; i++)
        if (l->marked[m->lane + i].last.thread == thread)
            return &l->marked[m->lane + i];
    return NULL;
}

static bool is_past(const struct steplist *l, size_t mark, uint32_t thread, uint64_t count,
                    uint64_t pc)
{
    const struct lane *lane = marked_lane(l, mark, thread);
    return lane && is_behind(&lane->last, count, pc);
}

bool steplist_last(const struct steplist *l, uint32_t thread, uint64_t count, uint64_t pc,
                   size_t *i, struct kept_statement *out)
{
    /* where marks below it are, the thread is not behind the position */
    const size_t low = search_first(l->marks, mid, !is_past(l, mid, thread, count, pc));
    if (!low)
        return false;
    read_block(l, low - 1);
    for (size_t k = l->block->count; k-- > 0;) {
        *out = l->block->list[k];
        *i = (low - 1) * STEPLIST_MARK + k;
        if (out->thread == thread && !is_behind(out, count, pc))
            return true;
    }
    const struct lane *lane = marked_lane(l, low - 1, thread);
    if (!lane)
        return false;
    *out = lane->last;
    *i = lane->number;
    return true;
}

/* ---- making one ---- */

struct steplist *steplist_new(void)
{
    struct steplist *l = calloc(1, sizeof *l);
    if (l && (l->block = calloc(1, sizeof *l->block)))
        return l;
    free(l);
    return NULL;
}

void steplist_free(struct steplist *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->places; i++)
        free(l->place[i].way);
    free(l->place);
    free(l->at.slot);
    free(l->byte);
    free(l->lane);
    free(l->mark);
    free(l->marked);
    free(l->block->lane);
    free(l->block);
    free(l);
}

size_t steplist_count(const struct steplist *l)
{
    return l->count;
}

const uint8_t *steplist_packed(const struct steplist *l, size_t *count)
{
    *count = l->bytes;
    return l->byte;
}

size_t steplist_memory(const struct steplist *l)
{
    return l->bytes + l->count + l->marked_lanes * sizeof *l->marked + l->ways * sizeof(struct way);
}
