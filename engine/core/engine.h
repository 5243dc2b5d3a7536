/* engine.h - the engine's global state and the labels of entry.S.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_CORE_ENGINE_H
#define ENGINE_CORE_ENGINE_H

#include "engine/core/thread.h"
#include "engine/rt/types.h"
#include "engine/x86/operand.h"

struct process;

/* Settings that come from the command line, "key=value,..." (engine/host/launch.h). */
struct options {
    bool stats;          /* a line at the end */
    bool link;           /* patch direct exits */
    bool spin;           /* threads that only wait give their turn away */
    bool exact_flags;    /* keep dead flags too */
    uint64_t cpu;        /* hide what is above x86-64-v2 or -v3; 0: nothing */
    uint64_t hot;        /* 0: no superblocks; 1: as it pays; else a sample every so many ticks */
    bool whole_ticks;    /* leave at every tick: finds where linked and unlinked runs differ */
    uint64_t cache;      /* bytes per arena */
    uint64_t sample;     /* print (count, pc, registers) every so many ticks */
    uint64_t stop_count; /* print the state at this position ... */
    gaddr stop_pc;
    bool has_stop;
    bool record; /* through the descriptor ... */
    int record_fd;
    bool live;        /* ... with a debugger */
    uint64_t threads; /* made by the program before this one */
    uint64_t check;   /* record: note the registers every so many ticks */
    uint64_t seed;    /* of the strategy: sched/schedule.h */
    char tool[48];    /* built-in instrumentation, NAME+NAME...: core/tools.c */
};

/* One table for all threads: only the baton's holder runs translated code. */
struct lookup_entry {
    gaddr pc;
    const uint8_t *host;
};

struct engine {
    gaddr base;    /* of the runtime's image */
    gaddr mailbox; /* replay: boot.h; live: of live/target */
    struct thread *threads;
    uint32_t thread_count;   /* live ones */
    uint32_t threads_made;   /* ever: gives the numbers */
    bool visited;            /* somebody comes while all threads wait: baton_if_idle() */
    uint32_t side_processes; /* of the live ones: processes of their own that share the memory */
    struct lookup_entry *lookup;
    struct options opt;
    bool wrfsbase; /* the CPU and kernel have the fsgsbase instructions */
    bool rorx;     /* the CPU has BMI2 */
    uint64_t start_tsc, start_ns;
    uint64_t total_ticks; /* of threads that have ended */
    /* A debugger takes part: a kernel thread of the runtime's own asks for the baton, so all calls
     * that wait give it away; and it gets these signals in the program's place. */
    bool guested;
    uint64_t guest_runs; /* so often it has let the program go on */
    uint64_t guest_signals;
};
extern struct engine engine;

/* entry.S */
extern const uint8_t engine_indirect[], engine_exit[], engine_enter[], engine_enter_end[];
extern const uint8_t engine_syscall_check[], engine_syscall_insn[], engine_syscall_abort[];
extern const uint8_t engine_copy_quick[], engine_copy_slow[];
extern const uint8_t engine_copy_insn[], engine_copy_fault[], engine_cas_insn[];
extern const uint8_t engine_faulted[], engine_restorer[];
_Noreturn void engine_native(const struct cpu_state *cpu);
long engine_syscall(long nr, const long args[6]);
long engine_clone(long nr, const long args[6], struct thread *child);
long engine_clone_vm(long flags, void *stack, void (*fn)(void *), void *arg);
size_t engine_copy(void *dst, const void *src, size_t n);
size_t engine_cas(void *word, uint32_t *old, uint32_t new);
void engine_save_xmm(void);
void engine_load_xmm(void);

/* Replay: where the kernel would have grown the stack on a touch. True: it is there now. */
extern bool (*engine_grow)(gaddr addr);

/* Replay: told of all that the runtime writes on the target's behalf; NULL: nobody asks. */
extern void (*engine_wrote)(gaddr addr, uint64_t bytes);

/* On the target's behalf: the stack grows as if it did it itself. Code that only looks, for a
 * debugger, calls engine_copy(). */
static inline bool engine_read(void *dst, gaddr src, size_t n)
{
    return engine_copy(dst, (const void *)src, n) == 0 ||
           (engine_grow && engine_grow(src) && engine_copy(dst, (const void *)src, n) == 0);
}

static inline bool engine_write(gaddr dst, const void *src, size_t n)
{
    if (engine_wrote)
        engine_wrote(dst, n);
    return engine_copy((void *)dst, src, n) == 0 ||
           (engine_grow && engine_grow(dst) && engine_copy((void *)dst, src, n) == 0);
}

/* dispatch.c */
const uint8_t *engine_dispatch(struct thread *t, int64_t exit);
const uint8_t *engine_dispatch_fault(struct thread *t);
_Noreturn void engine_run(struct thread *t); /* start or restart a thread at t->cpu */

/* The running thread lends the decoder library its xmm registers and FS: struct insn_guard. */
void engine_decoder_enter(void);
void engine_decoder_leave(void);

struct segments engine_segments(struct thread *t);

/* Ask for instrument->position(t) at (count, pc), or as soon as count is reached if pc is 0. One
 * request at a time, NULL: none; a count that has passed is never reached. */
void engine_stop_at(struct thread *t, uint64_t count, gaddr pc);

#endif
