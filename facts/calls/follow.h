/* follow.h - executions of functions, followed through a trace.
 *
 * SPDX-License-Identifier: MIT
 *
 * One pass forwards. Frames (trace/frames.h) say which call each instruction was executed in; an
 * execution of a function is a frame, or a part of one that a jump to another function began. A
 * function that ends with a jump to another one (a tail call) is over when that one is. Most steps
 * stay in their function: they cost a look at a flag of their block and nothing else, so frames are
 * only asked where something may have changed.
 *
 * The caller's plan says which blocks begin functions that it wants to know of. It is told their
 * begins and ends in the order of the execution.
 *
 * Frames need values of the trace, which take most of the time to read. But nearly always a call is
 * returned from by the next return: the few steps that are different are kept beside the trace, and
 * from then on no values are read.
 */
#ifndef FACTS_CALLS_FOLLOW_H
#define FACTS_CALLS_FOLLOW_H

#include "base/position.h"
#include "trace/frames.h"
#include "trace/walk.h"

struct study;

enum { FOLLOW_NO_FUNCTION = UINT32_MAX };

/* How an execution began ... */
enum follow_how {
    FOLLOW_CALLED,
    FOLLOW_JUMPED,  /* a tail call */
    FOLLOW_SIGNAL,  /* a handler */
    FOLLOW_THREAD,  /* the first function of a thread, or of the trace */
    FOLLOW_INLINED, /* calls.h alone has these */
};

/* ... and how it ended. */
enum follow_end {
    FOLLOW_RETURNED,
    FOLLOW_TAIL,    /* it jumped to another function, which is over now */
    FOLLOW_UNWOUND, /* longjmp, an exception */
    FOLLOW_RUNNING, /* it was not over when its thread or the trace was */
};

struct follow_call {
    uint64_t serial; /* of its frame */
    gaddr slot;      /* of its frame; tail calls have the same */
    gaddr entry;
    gaddr from;        /* the call or jump; 0: none */
    uint64_t first;    /* number of its first instruction */
    uint64_t before;   /* instructions of the thread before it */
    uint64_t below;    /* instructions of those executions that began in it and are over */
    uint64_t own;      /* the visitor's, at first 0 */
    uint32_t function; /* of the plan; FOLLOW_NO_FUNCTION: not wanted */
    uint32_t depth;    /* callers below it; tail calls are as deep as who made them */
    uint32_t again;    /* executions of the same function below it */
    uint32_t block;    /* while another one runs: that it executed last */
    uint8_t how;       /* enum follow_how */
    bool signal;       /* its frame is a handler's */
    bool tail;         /* it has jumped to the one above */
    bool fresh;        /* no step of it was met */
    bool resolver;     /* the loader's: it looks for the function that a stub is of */
    uint32_t stub; /* the function that a stub, jumped from last, is of; plus one; 0: none was */
};

struct follow_thread {
    struct follow_call *call; /* the last one runs */
    uint32_t calls;
    size_t room;
    uint64_t insns;                /* executed */
    const struct trace_step *last; /* of the chunk, that frames were not told of; NULL: none */
    uint64_t last_insn;            /* that it executed */
    gaddr last_pc;
    uint32_t block;    /* that it executed last, in the execution that runs; plus one; 0: none */
    uint32_t *active;  /* by function: executions that are not over; NULL: none yet */
    uint32_t chain;    /* executions that jumped to another one */
    bool pending;      /* frames must be asked at its next step */
    bool from_handler; /* a handler's return is what it did last */
    bool by_return;    /* its last step ended with a return */
};

/* What is wanted of each block. */
enum {
    FOLLOW_LEAVES = 1, /* behind it there may be another frame */
    FOLLOW_ENTRY = 2,  /* a frame may begin here */
    FOLLOW_START = 4,  /* the function does: who jumps here from another one begins it */
    FOLLOW_WITHIN = 8, /* the visitor wants to be told of each step in it */
    FOLLOW_STUB = 16,  /* it jumps to the function, perhaps by way of the loader ... */
    FOLLOW_TARGET = 32 /* ... which this may be, if it belongs to none */
};

struct follow_block {
    uint32_t function; /* to which a frame that begins here belongs, or FOLLOW_NO_FUNCTION */
    uint16_t insns;
    uint8_t flags;
};

/* A step that does something else to frames than its code says. */
struct follow_odd {
    uint64_t insn; /* the number of its first instruction */
    struct frames_told told;
};

struct follow;

/* A pass tells how far it is, and asks whether it is to end, before each chunk. NULL: nobody. */
struct follow_watch {
    void (*progress)(void *arg, uint64_t done, uint64_t total); /* instructions */
    bool (*interrupted)(void);                                  /* ends it with 1 */
    void *arg;
};

struct follow_visitor {
    void *arg;
    struct follow_watch watch;
    /* The first step of a wanted execution is about to be done; the last one has been. Not 0 ends
     * the pass: -1 with *err set is an error. May be NULL. */
    int (*begin)(void *arg, struct follow *f, uint32_t thread, struct follow_call *call,
                 struct err *err);
    int (*end)(void *arg, struct follow *f, uint32_t thread, struct follow_call *call,
               enum follow_end how, struct err *err);
    /* A step of a block with FOLLOW_WITHIN; follow_thread.block is still the one before. */
    int (*within)(void *arg, struct follow *f, const struct trace_step *step, struct err *err);
    /* A step that did not do all of its block. */
    int (*cut)(void *arg, struct follow *f, const struct trace_step *step, struct err *err);
};

struct follow {
    struct trace *trace;
    struct follow_block *block; /* by number: the caller sets function, FOLLOW_START, _WITHIN */
    uint32_t functions;         /* that the caller has; numbers of functions are below it */
    uint64_t *count;            /* by block: how often all of it was executed; NULL: not wanted */
    uint32_t only;              /* the visitor is told of this thread, by its number; 0: of all */
    const struct follow_visitor *v;

    struct follow_odd *odd; /* by insn */
    size_t odds, odd_room;
    bool odds_known; /* all of them: values are not read */

    struct frames frames;
    struct follow_thread *thread;
    uint32_t threads;
    struct trace_chunk chunk;
    uint32_t runs, chunk_runs;     /* the thread that does; when the chunk began */
    const struct trace_step *step; /* that is met; NULL: the chunk's end */
    /* Ticks are counted where somebody asks for a position. */
    struct trace_walk behind;
    bool behind_begun;
    struct trace_state *state;
    bool *seen;
    uint64_t *step_count; /* by thread: ticks when its last step began */
};

int follow_init(struct follow *f, struct trace *trace, struct err *err);
void follow_deinit(struct follow *f);

/* The whole trace. 0, -1, or what the visitor ended it with; executions that are not over are told
 * as running. Once for each struct follow; at the end all odd steps are known. */
int follow_pass(struct follow *f, const struct follow_visitor *v, struct err *err);
/* The same, with odd steps that the study has kept, or keeps from now on. */
int follow_study(struct follow *f, struct study *study, const struct follow_visitor *v,
                 struct err *err);

/* The position of the first instruction of the step that is met: in begin() and within(). */
struct position follow_position(struct follow *f);
/* The position of the last instruction of a thread; in end(). */
struct position follow_last(struct follow *f, uint32_t thread);

/* Is the visitor told of what the thread does? */
static inline bool follow_tells(const struct follow *f, uint32_t thread)
{
    return !f->only || trace_thread(f->trace, thread) == f->only;
}

/* Instructions in an execution that ends now, and those of it that no other one did. */
static inline uint64_t follow_inclusive(const struct follow_thread *t, const struct follow_call *c)
{
    return t->insns - c->before;
}
static inline uint64_t follow_self(const struct follow_thread *t, const struct follow_call *c)
{
    return t->insns - c->before - c->below;
}

#endif
