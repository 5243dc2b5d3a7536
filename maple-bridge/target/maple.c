/* maple.c - the controlled schedule: before every event a tactic says which thread is next.
 *
 * SPDX-License-Identifier: MIT
 *
 * A tactic (tactic.h) picks among those that can run. This is the rest: which threads can, what
 * they stand before, what was executed, and the ends that a program cannot come to by itself.
 *
 *  1. A thread that runs comes to an event (at_access, at_call) and is asked there. If another one
 *     is picked, `chosen` keeps it until the baton's owner hands over (choose).
 *  2. An event counts as executed when its thread is let go on: execute().
 *  3. A thread that sleeps or tries a call in vain (os/control.h) can run when nobody else can, the
 *     one with the earliest time first. Short sleeps may end earlier, by lot.
 *  4. A thread that reads the same values again and again waits for others, and so may one that
 *     comes to no event for long: it can run when somebody has written since, or when nobody else
 *     can.
 */
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/os/control.h"
#include "engine/os/futex.h"
#include "engine/os/kinds.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"
#include "maple-bridge/target/sites.h"
#include "maple-bridge/target/tactic.h"

enum { ACTORS = 1024, WORDS = 1 << 15, SEEN = 4 };
enum { TURN_TICKS = 40000, TURN_EVENTS = 4000, SPINS = 8 };
enum { EARLY_NS = 1000000000 }; /* longer sleeps end in their order: watchdogs are not asked for */

struct agenda *agenda;

static const struct tactic *const tactics[] = {
#define TACTIC(name, help) &name##_tactic,
#include "maple-bridge/tactics.def"
#undef TACTIC
};
static const struct tactic *tactic;

static struct actor actors[ACTORS];

/* Which site wrote a word of 8 bytes last, hashed: a word takes the place of another. */
static struct word {
    gaddr word;
    uint16_t site;
} words[WORDS];

static struct {
    uint64_t state;        /* of the lot */
    struct actor *running; /* that was let go on last */
    struct actor *chosen;
    uint64_t writes; /* events that write, plus one */
    bool outside;    /* signals or other processes may end a wait */
} now;

uint64_t rand_draw(void)
{
    return hash_draw(&now.state);
}

struct actor *choice_highest(const struct choice *c)
{
    struct actor *best = NULL;
    for (int i = 0; i < c->count; i++) {
        struct actor *a = c->who[i];
        if (!a->priority)
            a->priority = (1ull << 32) + (rand_draw() >> 16);
        if (!best || a->priority > best->priority)
            best = a;
    }
    return best;
}

static struct actor *actor_of(struct thread *t)
{
    struct actor *a = &actors[t->number % ACTORS];
    if (a->number != t->number)
        *a = (struct actor){.number = t->number};
    a->thread = t;
    return a;
}

/* ---- priorities ---- */

static uint64_t priority_below;

void actor_demote(struct actor *a)
{
    a->priority = --priority_below;
}

/* ---- events ---- */

static struct word *word_of(gaddr addr)
{
    return &words[hash_word(event_word(addr)) % WORDS];
}

uint16_t event_writer(gaddr addr)
{
    const struct word *w = word_of(addr);
    return w->word == event_word(addr) ? w->site : 0;
}

/* Each pair once. The table is hashed into the list itself; a pair that finds no place is lost. */
static void note_pair(uint16_t write, uint16_t read)
{
    enum { NEAR = 32 };
    struct agenda_done *d = &agenda->done;
    uint32_t at = hash_word((uint64_t)write << 16 | read);
    for (uint32_t i = 0; i < NEAR; i++) {
        uint32_t k = (at + i) % AGENDA_PAIRS;
        if (d->pair[k].read == read && d->pair[k].write == write)
            return;
        if (d->pair[k].read)
            continue;
        d->pair[k].read = read;
        d->pair[k].write = write;
        d->pairs++;
        return;
    }
}

static void note_access(const struct event *e)
{
    if (event_reads(e) && e->site)
        note_pair(event_writer(e->addr), e->site);
    if (!event_writes(e))
        return;
    *word_of(e->addr) = (struct word){event_word(e->addr), e->site};
    now.writes++;
}

static void note_switch(struct actor *to)
{
    struct agenda_done *d = &agenda->done;
    const struct actor *from = now.running;
    const uint64_t event = from ? from->events : 0;
    d->hash = hash_fold(d->hash ^ d->hash >> 29, hash_fold(event, to->number));
    if (from && d->switches < AGENDA_SWITCHES)
        d->log[d->switches] = (struct agenda_switch){from->number, to->number, event};
    d->switches += from != NULL;
    to->since = to->events;
    to->tick = thread_count(to->thread);
}

static void note_trail(const struct actor *a)
{
    struct agenda_done *d = &agenda->done;
    if (d->trails >= AGENDA_SWITCHES)
        return;
    d->trail[d->trails++] = (struct agenda_trail){.thread = a->number,
                                                  .site = a->next.site,
                                                  .reads = event_reads(&a->next),
                                                  .writes = event_writes(&a->next),
                                                  .bytes = a->next.bytes,
                                                  .event = a->events,
                                                  .addr = a->next.addr,
                                                  .pc = a->next.pc,
                                                  .count = thread_count(a->thread)};
}

/* It is let go on. */
static void execute(struct actor *a)
{
    struct event *e = &a->next;
    if (a != now.running)
        note_switch(a);
    now.running = a;
    if (e->kind == EVENT_NONE)
        return;
    note_trail(a);
    if (tactic->done)
        tactic->done(a);
    if (event_accesses(e)) {
        note_access(e);
        agenda->done.seen[actor_slot(a)][e->group]++;
    }
    agenda->done.seen[actor_slot(a)][AGENDA_GROUPS]++;
    agenda->done.events++;
    e->kind = EVENT_NONE;
}

static void demote(struct actor *a)
{
    if (tactic->demote)
        tactic->demote(a);
}

/* Reads what it has read before, and did nothing else. */
static void note_read(struct actor *a, const struct event *e)
{
    uint64_t where = e->addr ^ (uint64_t)e->site << 48, what = 0;
    engine_copy(&what, (const void *)(e->addr & ~7ull), 8);
    for (int i = 0; i < SEEN; i++)
        if (a->seen[i][0] == where && a->seen[i][1] == what) {
            if (++a->repeats >= SPINS) {
                a->spun_at = now.writes;
                demote(a);
            }
            return;
        }
    a->seen[a->events % SEEN][0] = where;
    a->seen[a->events % SEEN][1] = what;
    a->repeats = 0;
}

static void arrive(struct actor *a, struct event e)
{
    a->next = e;
    a->events++;
    a->spun_at = 0;
    if (e.kind == EVENT_READ || e.kind == EVENT_UPDATE)
        note_read(a, &e);
    else
        a->repeats = 0;
    if (e.kind == EVENT_YIELD) {
        a->spun_at = now.writes;
        demote(a);
    } else if (a->events - a->since > TURN_EVENTS) {
        demote(a);
    }
}

/* ---- who can run ---- */

struct candidates {
    struct choice can;
    struct actor *spun;    /* only waits for others */
    struct actor *asleep;  /* the earliest of those whose time is not come */
    struct actor *waiting; /* tries a call in vain, without a limit */
};

static void add(struct candidates *c, struct actor *a)
{
    if (c->can.count < CHOICES)
        c->can.who[c->can.count++] = a;
}

static void add_asleep(struct candidates *c, struct actor *a)
{
    uint64_t at = a->thread->control.wake_at, elapsed = control_elapsed();
    bool soon = at <= elapsed || at - elapsed < EARLY_NS;
    bool early = hash_fold(hash_fold(agenda->seed, a->number), a->events) >> 62 == 0;
    if (soon && (early || at <= elapsed))
        add(c, a);
    else if (!c->asleep || at < c->asleep->thread->control.wake_at)
        c->asleep = a;
}

static void add_queued(struct candidates *c, struct thread *t)
{
    struct actor *a = actor_of(t);
    if (a->spun_at && a->spun_at == now.writes)
        c->spun = !c->spun || rand_below(2) ? a : c->spun;
    else if (!t->control.tries || t->control.tried != control_calls())
        add(c, a);
    else if (t->control.wake_at)
        add_asleep(c, a);
    else
        c->waiting = a;
}

static void add_sleepers(struct candidates *c)
{
    for (struct thread *t = engine.threads; t; t = t->next)
        if (t->control.wake_at && !t->control.tries && !t->baton_queued)
            add_asleep(c, actor_of(t));
}

/* NULL: nobody can run before the kernel lets somebody. */
static struct actor *pick(struct candidates *c)
{
    struct actor *a = NULL;
    add_sleepers(c);
    c->can.ran = now.running;
    if (c->can.count > 1 || (c->can.count && agenda->tactic == AGENDA_script))
        a = tactic->pick(&c->can);
    else if (c->can.count)
        a = c->can.who[0];
    if (!a)
        a = c->spun ? c->spun : c->asleep ? c->asleep : c->waiting;
    if (!a)
        return NULL;
    struct thread *t = a->thread;
    if (t->control.wake_at && t->control.tried == control_calls() && t->control.tries)
        t->control.late = true;
    if (t->control.wake_at && !t->control.tries && !t->baton_queued)
        t->control.late = true;
    if (t->control.late)
        control_reach(t->control.wake_at);
    t->control.waits = a == c->waiting;
    return a;
}

/* ---- ends that a program cannot come to ---- */

/* It is the driver that says what it was; the recording ends here. */
static void end(enum agenda_verdict verdict)
{
    agenda->done.verdict = verdict;
    sys2(__NR_kill, sys0(__NR_getpid), 9);
}

/* The owner of the lock that it waits for; NULL: that is no lock of the C library's, or free. */
static struct thread *owner(const struct thread *t)
{
    enum { CONTENDED = 2, AT_OWNER = 2, WORDS_READ = 3 };
    uint32_t lock[WORDS_READ];
    if (!t->futex_waits || engine_copy(lock, (const void *)t->futex_word, sizeof lock) ||
        lock[0] != CONTENDED || t->control.wake_at)
        return NULL;
    for (struct thread *o = engine.threads; o; o = o->next)
        if ((uint32_t)o->tid == lock[AT_OWNER])
            return o;
    return NULL;
}

static bool in_circle(const struct thread *t)
{
    const struct thread *o = t;
    for (uint32_t i = 0; i <= engine.thread_count; i++)
        if (!(o = owner(o)))
            return false;
        else if (o == t)
            return true;
    return false;
}

static void look_for_end(const struct actor *next)
{
    const struct thread *ran = now.running ? now.running->thread : NULL;
    if (ran && ran->number == now.running->number && ran->futex_waits && in_circle(ran))
        end(AGENDA_CIRCLE);
    if (next || now.outside)
        return;
    for (const struct thread *t = engine.threads; t; t = t->next)
        if (!t->baton_parked)
            return;
    if (engine.threads)
        end(AGENDA_STUCK);
}

/* ---- the schedule ---- */

static bool waits(const struct actor *a, const struct thread *queue)
{
    for (; queue; queue = queue->baton_next)
        if (queue == a->thread)
            return true;
    return a->thread->control.wake_at && !a->thread->baton_queued;
}

static struct thread *choose(struct thread *queue)
{
    struct candidates c = {.can.count = 0};
    struct actor *next = now.chosen;
    if (!agenda)
        return queue;
    now.chosen = NULL;
    if (!next || !waits(next, queue)) {
        for (struct thread *t = queue; t; t = t->baton_next)
            add_queued(&c, t);
        next = pick(&c);
    }
    look_for_end(next);
    if (!next)
        return NULL;
    execute(next);
    return next->thread;
}

/* The thread stands before an event. Does another one run first? */
static bool asks(struct thread *t, struct event e)
{
    struct candidates c = {.can.count = 0};
    struct thread *queue[CHOICES];
    struct actor *self = actor_of(t);
    now.running = now.running ? now.running : self;
    arrive(self, e);
    if (self->spun_at == now.writes) {
        c.spun = self;
    } else {
        add(&c, self);
        c.can.self = self;
    }
    size_t n = baton_queue(queue, CHOICES);
    for (size_t i = 0; i < n; i++)
        add_queued(&c, queue[i]);
    struct actor *next = pick(&c);
    if (!next || next == self) {
        execute(self);
        return false;
    }
    now.chosen = next;
    return true;
}

static bool at_access(struct thread *t, const struct probe *p)
{
    const struct access *a = NULL;
    for (int i = 0; i < p->accesses; i++) /* not what it pushes */
        if (!a || a->addr - t->cpu.gpr[RSP] + PAGE_BYTES < 2 * PAGE_BYTES)
            a = &p->access[i];
    if (!a || !agenda)
        return false;
    uint16_t site = sites_of(p->pc), group = agenda->site[site].group;
    return asks(t, (struct event){.kind = a->read && a->write ? EVENT_UPDATE
                                          : a->write          ? EVENT_WRITE
                                                              : EVENT_READ,
                                  .site = site,
                                  .group = group < AGENDA_GROUPS ? group : AGENDA_GROUPS - 1,
                                  .bytes = a->bytes,
                                  .addr = a->addr,
                                  .pc = p->pc});
}

/* Is it a call by which threads order themselves? */
static bool synchronises(long nr)
{
    struct call_kind k = kinds_of(nr);
    switch (k.does) {
    case DOES_FUTEX:
    case DOES_CLONES:
    case DOES_CLONES_BY:
    case DOES_ENDS_THREAD:
        return true;
    default:
        return k.message != 0 || control_wait_of(nr) == CONTROL_SLEEPS ||
               control_wait_of(nr) == CONTROL_SLEEPS_BY;
    }
}

static void note_outside(long nr)
{
    uint8_t does = kinds_of(nr).does;
    now.outside |=
        does == DOES_FORKS || does == DOES_VFORKS || control_wait_of(nr) == CONTROL_TIMER;
}

static bool at_call(struct thread *t)
{
    long nr = (int32_t)t->cpu.gpr[RAX];
    if (!agenda)
        return false;
    note_outside(nr);
    if (engine.thread_count == 1)
        return false;
    if (control_wait_of(nr) == CONTROL_YIELDS)
        return asks(t, (struct event){.kind = EVENT_YIELD});
    return synchronises(nr) && asks(t, (struct event){.kind = EVENT_CALL});
}

static uint64_t quantum(void)
{
    if (!agenda)
        return TURN_TICKS;
    const struct actor *a = actor_of(thread_self());
    uint64_t used = thread_count(a->thread) - a->tick;
    return used < TURN_TICKS ? TURN_TICKS - used : 1;
}

/* It has come to no event for long: it computes, or waits in a loop that no profile has seen. All
 * others come first, also those that a tactic holds back: it may be one of them that it waits for.
 */
static bool is_over(struct thread *t, bool spins)
{
    struct actor *a = actor_of(t);
    (void)spins;
    if (!agenda || engine.thread_count == 1 || thread_count(t) - a->tick < TURN_TICKS)
        return false;
    a->tick = thread_count(t);
    a->spun_at = now.writes;
    demote(a);
    return true;
}

static void start(void)
{
    const uint64_t bytes = PAGE_UP(sizeof *agenda);
    const int32_t pid = (int32_t)sys0(__NR_getpid);
    struct agenda *p = range_alloc(bytes);
    long r = sys6(__NR_mmap, (long)p, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                  (long)engine.opt.seed, 0);
    bool mine = !SYS_FAILED(r) && p->magic == AGENDA_MAGIC && (!p->pid || p->pid == pid);
    if (!mine || p->tactic >= AGENDA_TACTICS) { /* a child of the program that is searched */
        schedule = &plain_schedule;
        return;
    }
    p->pid = pid;
    agenda = p;
    now.state = agenda->seed;
    now.writes = 1;
    priority_below = 1u << 20;
    tactic = tactics[agenda->tactic];
    if (tactic->begin)
        tactic->begin();
}

const struct schedule maple_schedule = {.name = "maple",
                                        .choose = choose,
                                        .quantum = quantum,
                                        .is_over = is_over,
                                        .at_call = at_call,
                                        .at_access = at_access,
                                        .looks_at = sites_wants,
                                        .start = start,
                                        .exact = true,
                                        .controlled = true};
