/* spin.c - threads that only wait for others. SPDX-License-Identifier: MIT */
#include "engine/sched/spin.h"

#include "base/hash.h"
#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/sched/look.h"
#include "engine/sched/schedule.h"

enum {
    FIRST_TICKS = 512, /* of a turn until it is sampled, doubled each time */
    MOST_TICKS = 20000,
    AGAIN_TICKS = 64, /* in a known loop: at least one turn of it */
    LOOK_INSNS = 64,  /* four times as many when that has not been enough for a while */
    LONGER_AFTER = 3,
    SHARE = 128,        /* of the time, one part at most is spent on looks in vain */
    HINTS = 16,         /* pauses or clocks until a sample is taken at the next tick */
    PAUSES_ENOUGH = 64, /* in a turn: it waits, whatever else it does */
    VAIN_MOST = 12,
    LONG_CYCLES = 250000, /* a look that took longer was interrupted */
};

struct spin_stats spin_stats;

static struct {
    uint64_t began;
    uint64_t vain_tsc; /* spent on looks in vain */
    uint64_t pc;
} now;

static bool wanted(void)
{
    return engine.opt.spin && engine.thread_count > 1 && schedule->spins &&
           !(session && session->replaying);
}

void spin_turn(struct thread *t, bool again)
{
    t->spin.ticks = again ? AGAIN_TICKS : FIRST_TICKS;
    t->spin.at = thread_count(t) + t->spin.ticks;
    t->spin.pauses = t->spin.hints = 0;
    t->spin.met = t->spin.waits = t->spin.rests = NULL;
}

uint64_t spin_budget(const struct thread *t)
{
    if (!wanted())
        return ~0ull;
    uint64_t count = thread_count(t);
    return t->spin.at > count ? t->spin.at - count : 1;
}

/* ---- known loops ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = hash_fold(h, v);
    return h ^ h >> 29;
}

static uint64_t key_of(const struct thread *t, uint16_t regs)
{
    uint64_t h = regs;
    for (int i = 0; i < GPR_COUNT; i++)
        if (regs >> i & 1)
            h = mix(h, t->cpu.gpr[i]);
    return h;
}

static uint64_t values_of(const struct spin_loop *l)
{
    uint64_t h = 0;
    for (int i = 0; i < l->loads; i++) {
        uint64_t v = 0;
        h = engine_read(&v, l->addr[i], l->bytes[i]) ? mix(h, v) : mix(h, ~h);
    }
    return h;
}

static struct spin_loop *known_loop(struct thread *t)
{
    for (int i = 0; i < SPIN_LOOPS; i++) {
        struct spin_loop *l = &t->spin.loop[i];
        if (l->pc == t->cpu.rip && l->key == key_of(t, l->regs))
            return l;
    }
    return NULL;
}

static void learn_loop(struct thread *t)
{
    struct spin_loop *l = &t->spin.loop[t->spin.next++ % SPIN_LOOPS];
    look_found(l);
    l->key = key_of(t, l->regs);
    l->values = values_of(l);
    t->spin.news = true;
}

/* ---- looks ---- */

static bool may_look(const struct thread *t, struct block *b)
{
    if (!b || t->step || t->trap || look_follows(t))
        return false;
    if (b->spin_skips) {
        b->spin_skips--;
        return false;
    }
    return now.vain_tsc < (__builtin_ia32_rdtsc() - engine.start_tsc) / SHARE;
}

static void begin_look(struct thread *t, const struct block *b)
{
    spin_stats.looks++;
    now.began = __builtin_ia32_rdtsc();
    now.pc = t->cpu.rip;
    look_begin(t, b->spin_vain < LONGER_AFTER ? LOOK_INSNS : 4 * LOOK_INSNS);
}

static void end_look(struct thread *t, bool spins)
{
    struct block *b = cache_find(now.pc);
    if (!spins) {
        uint64_t took = __builtin_ia32_rdtsc() - now.began;
        now.vain_tsc += took < LONG_CYCLES ? took : LONG_CYCLES;
        if (b) {
            b->spin_vain += b->spin_vain < VAIN_MOST;
            b->spin_skips = (uint16_t)(1u << b->spin_vain);
        }
        return;
    }
    spin_stats.found++;
    learn_loop(t);
    if (b) {
        b->spins = true;
        b->spin_vain = 0;
    }
}

bool spin_step(struct thread *t, bool at_tick)
{
    if (!look_follows(t)) {
        t->step &= (uint8_t)~STEP_SPIN;
        return true;
    }
    enum look_state state = look_step(t, at_tick);
    if (state == LOOK_GOES_ON)
        return false;
    end_look(t, state == LOOK_SPINS);
    if (state == LOOK_SPINS)
        t->spin.at = thread_count(t) + 1;
    return true;
}

/* ---- samples ---- */

static void sample_in(struct thread *t, uint64_t ticks)
{
    t->spin.ticks = (uint32_t)(ticks < MOST_TICKS ? ticks : MOST_TICKS);
    t->spin.at = thread_count(t) + t->spin.ticks;
}

/* A thread that takes a free lock over and over is met where it tries, too, and each time the lock
 * is free. It must not rest; but one turn of the loop later it is somewhere else. */
static bool sample_turn(struct thread *t, const struct spin_loop *l, bool same)
{
    const struct spin_loop *met = t->spin.met;
    bool one_turn = t->spin.ticks == l->ticks && thread_count(t) == t->spin.at;
    t->spin.waits = same && met == l && one_turn ? l : NULL;
    t->spin.met = same && !met && l->may_rest ? l : NULL;
    sample_in(t, t->spin.met ? l->ticks : AGAIN_TICKS);
    return same && !t->spin.met;
}

/* If it has just seen something new it may be about to leave: the next sample comes soon. */
static bool sample_loop(struct thread *t, struct spin_loop *l)
{
    uint64_t values = values_of(l);
    bool same = values == l->values;
    l->values = values;
    t->spin.news |= !same;
    t->spin.hints = 0;
    return sample_turn(t, l, same);
}

bool spin_sample(struct thread *t, bool waited)
{
    if (!wanted() || thread_count(t) < t->spin.at)
        return false;
    struct block *b = cache_find(t->cpu.rip);
    struct spin_loop *l = b && b->spins ? known_loop(t) : NULL;
    if (l)
        return sample_loop(t, l);
    t->spin.met = t->spin.waits = NULL;
    bool hinted = t->spin.hints >= HINTS;
    t->spin.hints = 0;
    uint64_t ticks = t->spin.ticks < FIRST_TICKS ? FIRST_TICKS : t->spin.ticks;
    sample_in(t, hinted ? ticks : 2 * ticks);
    if (!waited)
        return false;
    if (may_look(t, b))
        begin_look(t, b);
    return t->spin.pauses >= PAUSES_ENOUGH;
}

/* ---- rests ---- */

void spin_rest(struct thread *t)
{
    t->spin.rests = t->spin.waits && t->spin.waits->may_rest ? t->spin.waits : NULL;
    spin_stats.rests += t->spin.rests != NULL;
}

bool spin_rests(const struct thread *t)
{
    return t->spin.rests && values_of(t->spin.rests) == t->spin.rests->values;
}

/* ---- hints ---- */

static void hint(struct thread *t)
{
    if (++t->spin.hints < HINTS || t->spin.met || !wanted())
        return;
    t->spin.at = thread_count(t);
    thread_expire_in(t, 0);
}

void spin_pause(struct thread *t)
{
    t->spin.pauses += t->spin.pauses < PAUSES_ENOUGH;
    hint(t);
}

/* As many ticks as between the last two, and from the same place. */
bool spin_yield(struct thread *t)
{
    struct spin_state *s = &t->spin;
    uint64_t count = thread_count(t), ticks = count - s->yield_count;
    bool same = s->yield_pc == t->cpu.rip && s->yield_ticks == ticks;
    s->yield_pc = t->cpu.rip;
    s->yield_count = count;
    s->yield_ticks = ticks;
    return same && wanted() && !t->attached;
}

void spin_clock(struct thread *t)
{
    hint(t);
}
