/* control.c - control dependence, while a trace is walked backwards. SPDX-License-Identifier: MIT
 */
#include "trace/graph/control.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

enum { THREADS = 65536 };

/* A frame with nodes that wait. */
struct waiting {
    uint64_t serial; /* 0: free slot */
    const struct cfg_function *function;
    uint64_t maker;
    uint32_t thread;
    uint32_t root;   /* thread + 1 of a root frame; 0: another */
    uint32_t count;  /* blocks set */
    bool outside;    /* somebody waits whose pc is in no block */
    uint64_t *block; /* a bit for each */
};

/* An instruction may make several frames, so only its number is hashed. */
struct maker {
    uint64_t insn;   /* plus one; 0: free */
    uint64_t serial; /* of the frame; 0: not waited for any more */
};

struct control {
    struct cfg *cfg;
    TABLE(struct waiting) waiting;
    struct waiting *latest; /* that was found */
    TABLE(struct maker) maker;
    uint64_t *root; /* by thread: serial of its root frame, if somebody waits there */
};

struct control *control_new(struct cfg *cfg)
{
    struct control *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->cfg = cfg;
    c->root = calloc(THREADS, sizeof *c->root);
    if (table_reserve(&c->waiting) || table_reserve(&c->maker) || !c->root) {
        control_free(c);
        return NULL;
    }
    return c;
}

void control_free(struct control *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->waiting.room; i++)
        free(c->waiting.slot[i].block);
    free(c->waiting.slot);
    free(c->maker.slot);
    free(c->root);
    free(c);
}

const struct cfg_function *control_function(struct control *c, gaddr entry, bool *frame_pointer,
                                            struct err *err)
{
    const struct cfg_function *f = cfg_function(c->cfg, entry, err);
    *frame_pointer = f && cfg_frame_pointer(f);
    return f;
}

/* ---- frames in which somebody waits ---- */

static struct waiting *find(struct control *c, uint64_t serial)
{
    if (c->latest && c->latest->serial == serial)
        return c->latest;
    return c->latest = table_find(&c->waiting, serial);
}

static bool nobody_waits(const void *waiting)
{
    const struct waiting *w = waiting;
    return !w->count && !w->outside;
}

static void drop(void *waiting)
{
    free(((struct waiting *)waiting)->block);
}

static bool is_idle(const void *maker)
{
    return !((const struct maker *)maker)->serial;
}

/* The next maker from place *i on with this instruction, or the free one behind them. */
static struct maker *next_maker(const struct control *c, uint64_t insn, size_t *i)
{
    struct maker *m;
    do {
        m = &c->maker.slot[*i & (c->maker.room - 1)];
        ++*i;
    } while (m->insn && m->insn != insn + 1);
    return m;
}

static bool add_maker(struct control *c, uint64_t insn, uint64_t serial)
{
    if (table_reserve_words(&c->maker, 1, is_idle, NULL))
        return false;
    size_t i = hash_word(insn + 1);
    struct maker *m;
    while ((m = next_maker(c, insn, &i))->insn)
        if (m->serial == serial)
            return true;
    *m = (struct maker){insn + 1, serial};
    c->maker.used++;
    return true;
}

static struct waiting *make(struct control *c, const struct frame *frame, uint32_t thread,
                            struct err *err)
{
    bool frame_pointer;
    struct waiting *w = find(c, frame->serial);
    if (w->serial)
        return w;
    if (table_reserve_words(&c->waiting, 1, nobody_waits, drop)) {
        err_set(err, "no memory");
        return NULL;
    }
    c->latest = NULL; /* it may have moved */
    const struct cfg_function *f = control_function(c, frame->entry, &frame_pointer, err);
    uint64_t *block = f ? calloc(cfg_block_count(f) / 64 + 1, 8) : NULL;
    if (!block) {
        if (f)
            err_set(err, "no memory");
        return NULL;
    }
    w = find(c, frame->serial);
    *w = (struct waiting){.serial = frame->serial,
                          .function = f,
                          .maker = frame->maker,
                          .thread = thread,
                          .root = frame->kind == FRAME_ROOT ? thread + 1 : 0,
                          .block = block};
    c->waiting.used++;
    return w;
}

int control_wait(struct control *c, const struct frame *frame, uint32_t thread, int32_t b,
                 struct err *err)
{
    struct waiting *w = make(c, frame, thread, err);
    if (!w)
        return -1;
    bool was = w->count || w->outside;
    if (b == CFG_NONE) {
        w->outside = true;
    } else if (!(w->block[b / 64] >> (b % 64) & 1)) {
        w->block[b / 64] |= 1ull << (b % 64);
        w->count++;
    }
    if (was)
        return 0;
    if (w->root && thread < THREADS)
        c->root[thread] = frame->serial;
    if (w->maker != FRAME_NO_MAKER && !add_maker(c, w->maker, frame->serial))
        return err_set(err, "no memory");
    return 0;
}

bool control_waits(struct control *c, const struct frame *frame)
{
    const struct waiting *w = find(c, frame->serial);
    return w->serial && w->count;
}

bool control_branch(struct control *c, const struct frame *frame, int32_t from, int32_t to)
{
    struct waiting *w = find(c, frame->serial);
    if (!w->serial || !w->count)
        return false;
    int32_t end = cfg_block(w->function, from)->ipdom;
    bool any = false;
    for (int32_t s = to; s != CFG_EXIT && s != end; s = cfg_block(w->function, s)->ipdom) {
        uint64_t bit = 1ull << (s % 64);
        if (w->block[s / 64] & bit) {
            w->block[s / 64] &= ~bit;
            w->count--;
            any = true;
        }
    }
    return any;
}

/* Does one of those that wait in the frame depend on an edge of the branch at pc? */
static bool depends(const struct waiting *w, gaddr pc)
{
    const struct cfg_function *f = w->function;
    int32_t from = cfg_block_of(f, pc);
    const struct cfg_block *b = from == CFG_NONE ? NULL : cfg_block(f, from);
    if (!b || b->last != pc || !cfg_is_branch(b))
        return false;
    const int32_t *succ = cfg_successors(f, from);
    for (uint32_t i = 0; i < b->succs; i++)
        for (int32_t s = succ[i]; s != CFG_EXIT && s != b->ipdom; s = cfg_block(f, s)->ipdom)
            if (w->block[s / 64] >> (s % 64) & 1)
                return true;
    return false;
}

static bool may(const struct waiting *w, const struct control_chunk *chunk)
{
    const struct gist_thread *t = gist_thread(chunk->gist, w->thread);
    if (!t || (!w->count && !w->outside))
        return false;
    if (w->maker != FRAME_NO_MAKER && w->maker >= chunk->insn)
        return true;
    if (w->serial > chunk->before)
        return w->serial <= chunk->after;
    for (uint32_t i = 0; w->count && w->serial >= t->lowest && i < chunk->gist->blocks; i++)
        if (depends(w, code_last(code_block(chunk->code, chunk->gist->block[i]))->pc))
            return true;
    return false;
}

bool control_may(const struct control *c, const struct control_chunk *chunk)
{
    if (c->waiting.used > chunk->most)
        return true;
    for (size_t i = 0; i < c->waiting.room; i++)
        if (c->waiting.slot[i].serial && may(&c->waiting.slot[i], chunk))
            return true;
    return false;
}

static bool release(struct control *c, uint64_t serial)
{
    struct waiting *w = find(c, serial);
    if (!w->serial)
        return false;
    bool any = w->count || w->outside;
    w->count = 0;
    w->outside = false;
    memset(w->block, 0, 8 * (cfg_block_count(w->function) / 64 + 1));
    return any;
}

bool control_maker(struct control *c, uint64_t insn)
{
    bool any = false;
    size_t i = hash_word(insn + 1);
    for (struct maker *m; (m = next_maker(c, insn, &i))->insn;)
        if (m->serial) {
            any |= release(c, m->serial);
            m->serial = 0;
        }
    return any;
}

bool control_root(struct control *c, uint32_t thread)
{
    uint64_t serial = thread < THREADS ? c->root[thread] : 0;
    if (!serial)
        return false;
    c->root[thread] = 0;
    return release(c, serial);
}
