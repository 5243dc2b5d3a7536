/* fence.c - a piece of code that one thread is in. SPDX-License-Identifier: MIT */
#include "debug/target/fence.h"

#include "base/search.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/x86/insn.h"

enum { RANGE_BYTES = 1 << 16, POSTS = 4096 };

struct post {
    gaddr pc;
    enum fence_post what;
};

static struct {
    uint32_t thread; /* 0: there is none */
    uint32_t count;
    struct post *post; /* sorted by pc */
} fence;

/* The code that a fence is raised around. */
struct code {
    gaddr low, high; /* without edges */
    const struct stop_edge *edge;
    size_t edges;
};

/* The first post that is not before pc. */
static uint32_t find_post(gaddr pc)
{
    return (uint32_t)search_below(fence.post, fence.count, pc, pc);
}

static bool add_post(gaddr pc, enum fence_post what)
{
    uint32_t at = find_post(pc);
    if (at < fence.count && fence.post[at].pc == pc)
        return true;
    if (fence.count == POSTS)
        return false;
    memmove(&fence.post[at + 1], &fence.post[at], (fence.count - at) * sizeof *fence.post);
    fence.post[at] = (struct post){pc, what};
    fence.count++;
    return true;
}

/* The first edge that is not before (pc, next). */
static size_t find_edge(const struct code *c, gaddr pc, gaddr next)
{
    const struct stop_edge *e = c->edge;
    return search_first(c->edges, i, e[i].pc < pc || (e[i].pc == pc && e[i].next < next));
}

static bool is_inside(const struct code *c, gaddr pc)
{
    if (!c->edge)
        return pc >= c->low && pc < c->high;
    size_t at = find_edge(c, pc, 0);
    return at < c->edges && c->edge[at].pc == pc;
}

static bool is_known(const struct code *c, gaddr pc, gaddr next)
{
    if (!c->edge)
        return true;
    size_t at = find_edge(c, pc, next);
    return at < c->edges && c->edge[at].pc == pc && c->edge[at].next == next;
}

static bool add_way(const struct code *c, gaddr pc, gaddr next)
{
    if (!is_inside(c, next))
        return add_post(next, FENCE_OUTSIDE);
    return is_known(c, pc, next) || add_post(pc, FENCE_GATE);
}

/* The posts that the instruction at pc needs; *len is its length. */
static bool add_posts_of(const struct code *c, gaddr pc, uint8_t *len)
{
    struct insn in;
    uint8_t bytes[INSN_MAX_BYTES];
    size_t n = sizeof bytes;
    while (n && !engine_read(bytes, pc, n))
        n--;
    if (!n || insn_decode(&in, pc, bytes, n) < 0)
        return false;
    *len = in.len;
    switch (in.kind) {
    case INSN_PLAIN:
    case INSN_EMULATE:
        return add_way(c, pc, pc + in.len);
    case INSN_CALL: /* makes another frame, which edges know nothing of */
        return c->edge ? add_post(pc, FENCE_GATE) : add_way(c, pc, in.target);
    case INSN_JMP:
        return add_way(c, pc, in.target);
    case INSN_JCC:
    case INSN_JCXZ:
        return add_way(c, pc, in.target) && add_way(c, pc, pc + in.len);
    default:
        return add_post(pc, FENCE_GATE);
    }
}

static void begin(void)
{
    fence_drop();
    if (!fence.post)
        fence.post = range_alloc(POSTS * sizeof *fence.post);
}

/* Translations have no probes at the posts, or have them no longer. */
static void change_posts(void)
{
    for (uint32_t i = 0; i < fence.count; i++)
        instrument_changed(fence.post[i].pc, fence.post[i].pc + 1);
}

static bool end(bool good, uint32_t thread)
{
    if (!good)
        fence.count = 0;
    fence.thread = good ? thread : 0;
    change_posts();
    return good;
}

bool fence_raise_range(const struct thread *t, gaddr low, gaddr high)
{
    const struct code c = {.low = low, .high = high};
    bool good = low < high && high - low <= RANGE_BYTES;
    uint8_t len = 0;
    begin();
    for (gaddr pc = low; good && pc < high; pc += len)
        good = add_posts_of(&c, pc, &len);
    return end(good, t->number);
}

bool fence_raise_edges(const struct mailbox_fence *f)
{
    const struct stop_edge *edges = f->edge;
    const struct code c = {.edge = edges, .edges = f->edges};
    bool good = f->edges <= STOP_MAX_EDGES;
    uint8_t len;
    begin();
    for (size_t i = 0; good && i < f->edges; i++)
        if (f->entry)
            good = add_post(edges[i].pc, FENCE_INSIDE);
        else if (!i || edges[i].pc != edges[i - 1].pc)
            good = add_posts_of(&c, edges[i].pc, &len);
    return end(good, f->thread);
}

void fence_drop(void)
{
    change_posts();
    fence.count = fence.thread = 0;
}

bool fence_is_of(const struct thread *t)
{
    return fence.thread && fence.thread == t->number;
}

bool fence_has_post(gaddr pc)
{
    uint32_t at = find_post(pc);
    return at < fence.count && fence.post[at].pc == pc;
}

enum fence_post fence_at(const struct thread *t)
{
    uint32_t at = fence_is_of(t) ? find_post(t->cpu.rip) : fence.count;
    return at < fence.count && fence.post[at].pc == t->cpu.rip ? fence.post[at].what
                                                               : FENCE_NOTHING;
}
