/* tactic.h - how a controlled run is scheduled: one small interface, a source for each row of
 * tactics.def.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every thread that can run stands before an event: an access to memory that threads share, or a
 * system call by which they synchronise. A tactic picks the one whose event comes next; that thread
 * then runs up to its next event. All choices come from rand_draw(), which the seed decides, so a
 * program without outside input runs the same each time.
 */
#ifndef MAPLE_BRIDGE_TARGET_TACTIC_H
#define MAPLE_BRIDGE_TARGET_TACTIC_H

#include "engine/core/thread.h"
#include "maple-bridge/agenda.h"

enum event_kind {
    EVENT_NONE, /* it begins, or goes on after a wait */
    EVENT_READ,
    EVENT_WRITE,
    EVENT_UPDATE, /* both at once */
    EVENT_CALL,
    EVENT_YIELD, /* it says itself that others shall run */
};

struct event {
    enum event_kind kind;
    uint16_t site, group;
    uint32_t bytes;
    gaddr addr, pc;
};

/* What is known of a thread. */
struct actor {
    struct thread *thread; /* NULL: nobody */
    uint32_t number;       /* the thread's */
    struct event next;     /* before which it stands */
    uint64_t events;       /* that it has come to */
    uint64_t priority;     /* of use to a tactic */
    uint64_t drawn;        /* ... for this event, plus one */
    uint64_t since;        /* events of all when its turn began */
    uint64_t tick;         /* ticks then */
    uint32_t repeats;      /* reads in sequence that saw what they saw before */
    uint64_t seen[4][2];   /* the last ones: where, what */
    uint64_t spun_at;      /* writes of all when it was found to spin; 0: it does not */
};

enum { CHOICES = 512 };

/* Those that can run, at least one. */
struct choice {
    struct actor *who[CHOICES];
    int count;
    struct actor *self; /* that runs now, if it can go on; else NULL */
    struct actor *ran;  /* that ran until now; NULL: nobody did */
};

struct tactic {
    void (*begin)(void); /* NULL: nothing is to be done */
    struct actor *(*pick)(struct choice *c);
    void (*done)(struct actor *a); /* a->next is being executed; NULL: not wanted */
    /* It has used up a long turn, or spins: others shall come before it. NULL: not wanted. */
    void (*demote)(struct actor *a);
};

#define TACTIC(name, help) extern const struct tactic name##_tactic;
#include "maple-bridge/tactics.def"
#undef TACTIC

extern struct agenda *agenda;

uint64_t rand_draw(void);
static inline uint64_t rand_below(uint64_t n)
{
    return n ? rand_draw() % n : 0;
}

/* The one with the highest priority. An actor without one draws it, above all that a tactic gives
 * when it demotes. */
struct actor *choice_highest(const struct choice *c);
void actor_demote(struct actor *a); /* below all others */

/* Its row in tables of the agenda. */
static inline uint32_t actor_slot(const struct actor *a)
{
    return a->number < AGENDA_THREADS ? a->number : AGENDA_THREADS - 1;
}

static inline bool event_writes(const struct event *e)
{
    return e->kind == EVENT_WRITE || e->kind == EVENT_UPDATE;
}

static inline bool event_reads(const struct event *e)
{
    return e->kind == EVENT_READ || e->kind == EVENT_UPDATE;
}

static inline bool event_accesses(const struct event *e)
{
    return e->kind == EVENT_READ || event_writes(e);
}

/* The word that an address is in: of 8 bytes, if the search does not want another size. */
static inline gaddr event_word(gaddr addr)
{
    return addr >> (agenda->shift & 63);
}

/* Would it matter which of the two comes first? */
static inline bool event_conflicts(const struct event *a, const struct event *b)
{
    return event_accesses(a) && event_accesses(b) && event_word(a->addr) == event_word(b->addr) &&
           (event_writes(a) || event_writes(b));
}

/* The site that wrote a word last; 0: nobody since the beginning. */
uint16_t event_writer(gaddr addr);

#endif
