/* thread.h - the state of one thread of the target, as the engine sees it.
 *
 * SPDX-License-Identifier: MIT
 *
 * The struct lives in the runtime's range; GS points to it while the thread's kernel thread runs.
 * Registers are in `cpu` whenever the thread is in the runtime, in the hardware while it runs in
 * the code cache. Fields of a thread are touched by itself, or by others that hold the baton.
 *
 * The progress counter counts ticks: count = limit - left. Generated code decrements `left` at
 * every tick and leaves for the runtime when it gets negative; a switch, a signal or an exact stop
 * is asked for by moving both numbers together, which leaves the count as it is.
 */
#ifndef ENGINE_CORE_THREAD_H
#define ENGINE_CORE_THREAD_H

#include "engine/core/layout.h"
#include "engine/core/spin_state.h"
#include "engine/rt/types.h"
#include "engine/x86/cpu.h"

struct process;
struct filter;
struct lookup_entry;

/* A signal with what the kernel told about it. */
struct siginfo_raw {
    int32_t sig, err, code, pad;
    uint64_t field[14];
};

/* A synchronous fault of the target, as the kernel reported it. */
struct fault {
    struct siginfo_raw info;
    uint64_t trapno, error, cr2;
    bool forced; /* raised by the kernel's rules or by ours, not by the instruction: repeating it
                    proves nothing */
};

/* Signals that were sent and wait here (signals_ours() in os/signals.h). */
enum { HELD_SIGNALS = 8 };
struct held {
    uint64_t set; /* bit 0: signal 1 */
    struct siginfo_raw info[HELD_SIGNALS];
};

struct sigstack {
    gaddr sp;
    int32_t flags;
    uint64_t size;
};

/* Reasons to run one instruction at a time, each set and reset by its owner. */
enum step_for {
    STEP_POSITION = 1, /* dispatch.c: a position lies between this tick and the next */
    STEP_SESSION = 2,  /* replay: a switch does */
    STEP_SCHEDULE = 4, /* sched/schedule.h: the thread is taken off in a few instructions */
    STEP_TOOL = 8,     /* instrument->step wants to see every one */
    STEP_SPIN = 16,    /* sched/look.c looks whether the thread only waits for others */
};

enum { HOST_STACK_BYTES = 64 << 10, ALT_STACK_BYTES = 48 << 10, XSAVE_BYTES = 16 << 10 };

struct thread {
    /* Known to generated code: layout.h. */
    struct thread *self;
    int64_t left;
    uint64_t limit;
    int64_t
        exit; /* which exit was taken: address of its struct exit_site minus the runtime's base */
    uint64_t spill_rax, spill_rcx, spill_flags, spill_s0, spill_s1;
    const uint8_t *jump;
    uint64_t host_sp;
    const void *h_exit, *h_indirect;
    uint32_t pending;            /* an asynchronous signal waits in pending_info */
    uint32_t number;             /* 1, 2, ... in order of creation, never reused */
    uint64_t gs_base;            /* the target's */
    struct lookup_entry *lookup; /* engine.lookup */
    struct cpu_state cpu;
    uint8_t *flow; /* where the next record of a trace goes: flow.h */
    uint64_t pad1[5];
    uint8_t xmm[256];

    struct process *process;
    struct filter *seccomp; /* its system call filters, newest first */
    struct thread *next;    /* list of live threads */
    int32_t tid;
    int32_t host_alive;   /* the kernel clears it when the kernel thread is gone */
    uint64_t baton_since; /* time stamp counter when it got the baton */

    struct siginfo_raw pending_info, carried; /* the latter, if `carries`: signals_carry() */
    struct held held; /* sent to this thread; to the process: process->held */
    struct fault fault;
    uint64_t mask;                       /* signals the target has blocked */
    uint64_t wait_mask;                  /* mask in force inside sigsuspend, ppoll, ... */
    uint64_t wait_set;                   /* signals that sigtimedwait waits for, while it does */
    bool no_tsc;                         /* prctl(PR_SET_TSC): rdtsc faults */
    bool reads_execute, clears_handlers; /* READ_IMPLIES_EXEC (replay); CLONE_CLEAR_SIGHAND */
    bool has_wait_mask, carries;
    bool between;       /* sched/: it gives the baton away between two ticks */
    uint8_t steps;      /* sched/: ... after so many instructions, one by one */
    bool at_tick;       /* a signal is being delivered at a tick, not at a system call */
    bool call_noted;    /* record: the call under way is in the log already */
    bool begun, ticked; /* threads_begin() is done; it is at a tick that is counted */
    bool plain;         /* it is to run blocks, no superblocks: every tick comes to the runtime */
    uint8_t step;       /* run one instruction at a time: who wants it, enum step_for */
    bool step_once;     /* ... just the next one */
    bool calling;       /* it is inside the system call at its pc: in a replay, taken off there */
    uint8_t heard;   /* probes that were heard at (heard_count, heard_pc): not again if that starts
                        anew */
    bool trap;       /* the target's trap flag ... */
    bool trap_armed; /* ... raises SIGTRAP after the instruction under way */
    struct sigstack altstack;
    uint64_t heard_count;
    gaddr heard_pc;
    gaddr clear_tid, start_tid, robust_list;
    uint64_t fs_saved;
    uint64_t fs_base;         /* while another thread runs: in a replay, or session->leaves() */
    struct thread *child;     /* replay: the one that the call under way makes */
    uint64_t entry_hash;      /* of the registers before the call under way */
    uint32_t attached, maker; /* threads it traces: ptrace.h; replay: who made it, 0: not known */
    bool detached;            /* a process that shares memory, and nobody waits for its exec */
    struct process *own_process; /* a vfork child's, kept for the next one */
    char name[16];               /* replay: as prctl and /proc have it; "": the program's */

    struct thread *baton_next;
    uint32_t baton_word;              /* sched/baton.c: is it given, is its kernel thread asleep */
    uint16_t baton_skips, baton_skip; /* sleeps at once so many times, of which so many are left */
    bool baton_queued;                /* from the time it asks for the baton until it has it */
    bool baton_parked, baton_spun;    /* for any time; gave its last turn away, only waiting */
    struct spin_state spin;           /* sched/spin.c: does it only wait for others */
    struct control_state control;     /* os/control.c, for a controlled schedule */
    bool futex_waits;                 /* os/futex.c: it is in the queue of futex_word */
    bool futex_pi;                    /* ... for a lock that is futex_owner's (os/futex_pi.c) */
    bool futex_heir;                  /* ... who ended: the lock is to be this thread's */
    uint32_t futex_bits;
    gaddr futex_word, futex_joins; /* the latter: os/futex.c, waits for it in the kernel */
    struct thread *futex_next, *futex_prev;
    struct thread *futex_owner; /* NULL: it ended */

    /* Where blocking calls put their outputs (os/effects.h). */
    void *scratch;  /* kept when the struct is used again */
    void *borrowed; /* more, for one call */
    uint32_t borrowed_size;

    uint8_t xsave[XSAVE_BYTES] __attribute__((aligned(64)));
    uint8_t alt_stack[ALT_STACK_BYTES] __attribute__((aligned(64)));
    uint8_t host_stack[HOST_STACK_BYTES] __attribute__((aligned(64)));
};

#define AT(member, where)                                                                          \
    _Static_assert(offsetof(struct thread, member) == (where), "layout.h: " #member)
AT(left, T_LEFT);
AT(limit, T_LIMIT);
AT(exit, T_EXIT);
AT(spill_rax, T_SPILL_RAX);
AT(spill_rcx, T_SPILL_RCX);
AT(spill_flags, T_SPILL_FLAGS);
AT(spill_s0, T_SPILL_S0);
AT(spill_s1, T_SPILL_S1);
AT(jump, T_JUMP);
AT(host_sp, T_HOST_SP);
AT(h_exit, T_H_EXIT);
AT(h_indirect, T_H_INDIRECT);
AT(pending, T_PENDING);
AT(gs_base, T_GS_BASE);
AT(cpu, T_GPR);
AT(cpu.rip, T_RIP);
AT(cpu.rflags, T_RFLAGS);
AT(flow, T_FLOW);
AT(xmm, T_XMM);
AT(lookup, T_LOOKUP);
#undef AT

static inline struct thread *thread_self(void)
{
    struct thread *t;
    __asm__ volatile("mov %%gs:0, %0" : "=r"(t));
    return t;
}

static inline uint64_t thread_count(const struct thread *t)
{
    return t->limit - (uint64_t)t->left;
}

/* The next `n` ticks stay in the cache, the one after them comes to the runtime. */
static inline void thread_expire_in(struct thread *t, uint64_t n)
{
    t->limit = thread_count(t) + n;
    t->left = (int64_t)n;
}

/* A tick that happens in the runtime: signal delivery, sigreturn, a restarted call. */
static inline void thread_tick(struct thread *t)
{
    t->left--;
    t->ticked = true;
}

#endif
