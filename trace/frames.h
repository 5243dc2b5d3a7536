/* frames.h - which call an instruction was executed in.
 *
 * SPDX-License-Identifier: MIT
 *
 * Follows calls, returns, tail calls, signals and changes of the stack through a trace, forwards,
 * by the rules of docs/slicing.md. What a transfer does to the stack of frames is decided when the
 * thread's next step is known. Frames are shared by all states that know them, and counted.
 */
#ifndef TRACE_FRAMES_H
#define TRACE_FRAMES_H

#include "trace/trace.h"

#define FRAME_NO_MAKER UINT64_MAX

enum frame_kind { FRAME_ROOT, FRAME_CALL, FRAME_SIGNAL };

struct frame {
    struct frame *parent; /* NULL for a root */
    uint32_t refs;
    uint8_t kind; /* enum frame_kind */
    bool resolver;
    uint64_t serial; /* no other frame of the trace has it; not 0 */
    gaddr slot, entry;
    gaddr second;   /* the instruction behind the entry's, once executed; 0: not known */
    uint64_t maker; /* the instruction, or FRAME_NO_MAKER */
    /* Where its maker is; of frames that jumps put in another's place also where the first of those
     * jumps is, and the call. 0: none. */
    gaddr maker_pc, jump_pc, call_pc;
    uint32_t saves; /* for scan.c: how many it has executed */
    uint32_t mark;  /* of whoever follows the frames, at first 0 */
    void *own;      /* the same, with how to free it; see trail.h */
    void (*drop)(void *own);
};

/* A thread that has left a block and not entered another one. */
struct frames_thread {
    struct frame *top;             /* NULL: it has not begun */
    const struct code_block *left; /* NULL: nothing is pending */
    uint64_t insn;                 /* number of its last instruction */
    gaddr addr;                    /* of the return address it wrote or read */
};

struct frames {
    const struct trace *trace;
    struct frames_thread *thread;
    uint32_t threads;
    uint64_t serials;
    uint64_t slots; /* that frames_leave_told() gave out */
    uint64_t gap;   /* the instruction that stands for what was left out last */
    bool failed;    /* there was no memory for a frame: what is here is not right any more */
};

int frames_init(struct frames *f, const struct trace *trace, struct err *err);
int frames_copy(struct frames *to, const struct frames *from, struct err *err);
void frames_deinit(struct frames *f);
/* *f is now as `from`, a later state of the same trace; what hangs on frames that are in both goes
 * along. */
int frames_go_on(struct frames *f, const struct frames *from, struct err *err);
/* Marks and what hangs on frames is gone: for those that are used again. */
void frames_forget(struct frames *f);

/* What a transfer did. */
enum frames_effect {
    FRAMES_STAYED, /* in the same frame */
    FRAMES_MADE,   /* a frame, whose maker the transfer is, or the maker of the old one */
    FRAMES_POPPED, /* a return */
};

/* The thread enters a block (or is interrupted) at pc: settles what it left. NULL: there was no
 * memory, and nothing that is asked from now on is answered. */
struct frame *frames_enter(struct frames *f, uint32_t thread, const struct code_block *b, gaddr pc,
                           enum frames_effect *effect);

/* The thread has done a step: `insn` is the number of its first instruction. Returns how many
 * frames it tore down by setting the stack pointer. */
uint32_t frames_leave(struct frames *f, const struct trace_step *s, const struct code_block *b,
                      const uint64_t *values, uint64_t insn);

/* What the values of a step said about frames, for those who do not read them: how many it tore
 * down; and if it ends with a return, how many are above the one that is returned from. */
struct frames_told {
    uint32_t torn, above;
};
enum { FRAMES_NOWHERE = UINT32_MAX }; /* `above`: it returns from none */
/* What a step says nearly always: it tears down nothing and returns from the frame on top, if that
 * is a call's. To be asked behind frames_leave(); true: it was different, as *out says. */
bool frames_tell(const struct frames *f, uint32_t thread, uint32_t torn, struct frames_told *out);
/* frames_leave() without values; `told` may be NULL. Slots of frames are then not addresses, but
 * numbers: the same for a call and what is jumped to from there. */
void frames_leave_told(struct frames *f, const struct trace_step *s, const struct code_block *b,
                       const struct frames_told *told, uint64_t insn);

/* A ret in `frame` that pops a frame: the one whose call's return address it reads. */
bool frames_returns(const struct frame *frame, const struct code_block *b, unsigned i,
                    const uint64_t *values);

/* A note, which may be anything. -1: no memory. */
int frames_note(struct frames *f, uint32_t thread, const struct flow_note *note);

void frame_unref(struct frame *frame); /* NULL is allowed */
static inline struct frame *frame_ref(struct frame *frame)
{
    frame->refs++;
    return frame;
}

#endif
