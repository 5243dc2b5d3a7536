/* instrument.h - how tools watch the target without touching the translator.
 *
 * SPDX-License-Identifier: MIT
 *
 * A tool is a struct of functions, compiled into the runtime. Several may be installed: each is
 * told what it asked for and nothing else, in the order in which they were added. When a block is
 * translated, `select` is asked for every instruction which probes it wants; the probes then call
 * `probe` with all of the target's registers in thread->cpu (rip is the instruction's). The tool
 * may read and change registers and memory; a changed rip is followed. `select`'s answer may change
 * at run time: instrument_changed() drops the translations of a range, so that it is asked again.
 *
 * An access probe comes before the instruction and carries every memory operand with its address,
 * size and direction; a repeated string instruction counts as one access of one element (its count
 * is in rcx). All calls come with the baton held. A tool must not make the target's system calls.
 */
#ifndef ENGINE_CORE_INSTRUMENT_H
#define ENGINE_CORE_INSTRUMENT_H

#include "engine/core/thread.h"
#include "engine/x86/insn.h"

enum {
    PROBE_BEFORE = 1 << 0, /* before the instruction */
    PROBE_AFTER = 1 << 1,  /* after it, if it falls through to the next */
    PROBE_BLOCK = 1 << 2,  /* asked for the first instruction: at block entry */
    PROBE_MEMORY = 1 << 3, /* before it, with its memory accesses */
    PROBE_WATCH = 1 << 4,  /* ... only if it may touch a watched range: watch.h */
    PROBE_FLOW = 1 << 5,   /* the buffer is full: flow.h */
    PROBE_TAKE = 1 << 6,   /* as PROBE_BEFORE; comes where a run begins, too */
};

/* Each of several tools has eight bits of its own: those of the first are the lowest. */
enum { INSTRUMENT_MOST = 4, PROBE_BITS = 8 };
#define PROBE_EACH(bits) ((bits)*0x01010101u)

static inline unsigned instrument_any(unsigned probes)
{
    probes |= probes >> 2 * PROBE_BITS;
    return (probes | probes >> PROBE_BITS) & 0xff;
}

struct access {
    gaddr addr;
    uint32_t bytes;
    bool read, write;
};

struct probe {
    unsigned what; /* PROBE_* bits that apply here */
    gaddr pc;
    uint8_t len;
    int accesses;
    struct access access[8];
};

struct instrument {
    unsigned (*select)(const struct insn *in, bool first_in_block);
    void (*probe)(struct thread *t, const struct probe *p);
    void (*syscall)(struct thread *t,
                    bool after); /* registers as the kernel would see or leave them */
    void (*thread_start)(struct thread *t);
    void (*thread_exit)(struct thread *t);
    void (*position)(struct thread *t); /* at each asked-for position, engine_stop_at() */
    void (*step)(struct thread *t);     /* before each instruction, while STEP_TOOL is set */
    /* flow.h: block `number` was translated. Its last instruction may be anything. */
    void (*block)(uint32_t number, const struct insn *insn, int count);
    void (*cut)(struct thread *t); /* a block is left before the instruction at its pc */
    /* A signal's frame was written, rsp points to it; rip is still where it came. */
    void (*signal)(struct thread *t, int sig, gaddr handler);
    void (*finish)(void); /* the process ends or execs */
    unsigned flow;        /* PROBE_FLOW: blocks tell where they go, flow.h; one tool at most */
    bool sparse;          /* select wants few instructions: superblocks are made of the others */
};

void instrument_install(const struct instrument *tool); /* this one alone; NULL: none */
/* One more. False: there are too many, or another one has `flow`. */
bool instrument_add(const struct instrument *tool);
void instrument_changed(gaddr start, gaddr end);

/* An instruction may start anew after its probes: after a stop, or a fault that is not the
 * target's. They are not called again then. */
static inline unsigned instrument_heard(const struct thread *t, gaddr pc)
{
    return t->heard_pc == pc && t->heard_count == thread_count(t) ? t->heard : 0;
}

static inline void instrument_hear(struct thread *t, gaddr pc, unsigned probes)
{
    t->heard = (uint8_t)(instrument_heard(t, pc) | probes);
    t->heard_pc = pc;
    t->heard_count = thread_count(t);
}

/* For the engine: the only tool, or one that stands for all of them; NULL: none. */
extern const struct instrument *instrument;
/* PROBE_* bits of each tool. */
static inline unsigned instrument_wanted(const struct insn *in, bool first)
{
    return instrument && instrument->select ? instrument->select(in, first) : 0;
}
struct exit_site;
void instrument_run(struct thread *t, const struct exit_site *site);

#endif
