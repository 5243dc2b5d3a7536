/* hot.c - finds the paths that are worth a superblock. SPDX-License-Identifier: MIT */
#include "engine/core/hot.h"

#include "engine/core/engine.h"
#include "engine/core/instrument.h"

enum {
    PERIOD_LEAST = 1000,
    PERIOD_MOST = 64000,
    SAMPLES = 2,    /* that make a head; one does when hot= asks for many */
    SHARE = 48,     /* of the time, one part at most is spent on making superblocks */
    HOPELESS = 255, /* tried already; only a new block is tried again */
};

static struct {
    const struct thread *thread; /* whose path is followed */
    struct path path;
    uint64_t period;
} hot = {.period = PERIOD_LEAST};

uint64_t hot_period(void)
{
    return !engine.opt.hot ? ~0ull : engine.opt.hot == 1 ? hot.period : engine.opt.hot;
}

static bool wanted(void)
{
    bool probes = instrument && instrument->select && !instrument->sparse;
    return engine.opt.hot && engine.opt.link && !probes;
}

static bool affordable(void)
{
    uint64_t since = __builtin_ia32_rdtsc() - engine.start_tsc;
    return engine.opt.hot != 1 || cache_stats.superblock_tsc < since / SHARE;
}

/* Samples in superblocks say that the work is done; others that there is more to do. */
static void adapt(bool found)
{
    if (found && hot.period > PERIOD_LEAST)
        hot.period -= hot.period / 4;
    else if (!found && hot.period < PERIOD_MOST)
        hot.period += hot.period / 8;
}

void hot_sample(struct thread *t)
{
    if (!wanted() || hot.thread)
        return;
    struct block *b = cache_find(t->cpu.rip);
    bool head = b && b->open && !b->superblock && b->samples != HOPELESS;
    adapt(head);
    uint8_t needed = engine.opt.hot == 1 ? SAMPLES : 1;
    if (head && b->samples < needed)
        b->samples++;
    if (!head || b->samples < needed || !affordable())
        return;
    hot.thread = t;
    hot.path.count = 0;
}

bool hot_follows(const struct thread *t)
{
    return hot.thread == t;
}

void hot_forget(const struct thread *t)
{
    if (hot.thread == t)
        hot.thread = NULL;
}

struct block *hot_head(const struct path *path)
{
    struct block *head = path->count ? cache_find(path->pc[0]) : NULL;
    if (!head || head->superblock || head->bare)
        return NULL;
    head->samples = HOPELESS;
    return path->count > 1 || path->next == path->pc[0] ? head : NULL;
}

static bool on_path(gaddr pc)
{
    for (int i = 0; i < hot.path.count; i++)
        if (hot.path.pc[i] == pc)
            return true;
    return false;
}

const struct path *hot_enter(struct thread *t, struct block *b)
{
    struct path *p = &hot.path;
    if (!wanted()) { /* a tool has come since, whose probes a superblock would not have */
        hot_forget(t);
        return NULL;
    }
    if (b->open && !on_path(b->pc) && p->count < SUPERBLOCK_BLOCKS) {
        p->pc[p->count++] = b->pc;
        cache_unlink_plain(b);
        return NULL;
    }
    p->next = b->pc;
    hot_forget(t);
    return p;
}
