/* place.h - points of a trace, by what people call them. SPDX-License-Identifier: MIT
 *
 * The stop of a breakpoint at a line is an *instance* of the line. It is over where its frame goes
 * on at another line, or ends.
 */
#ifndef SLICER_CRITERION_PLACE_H
#define SLICER_CRITERION_PLACE_H

#include "study/study.h"

struct place {
    uint32_t thread;          /* as in trace_step.thread */
    uint64_t at;              /* before this instruction; trace_insns(): the end */
    struct position position; /* of it; at the end: of what was executed last in the frame */
    gaddr line_pc;            /* an instruction of the line that was asked for; else the pc */
    struct position first;    /* of a line: where its instance begins */
    gaddr cfa;                /* of the frame; 0: not known */
    uint64_t entry;           /* the frame's first instruction; UINT64_MAX: not known */
    gaddr pc;         /* where in its code the frame is: variables have their places there */
    gaddr scope;      /* names are those that are visible at this pc of it, ... */
    uint32_t inlined; /* ... outside of so many calls that are inlined there */
    /* For a frame that is not the innermost (place_frame.c): */
    uint64_t call;  /* its registers are those before this instruction, which left it, ... */
    gaddr context;  /* ... or those that a signal's frame has here; UINT64_MAX and 0: neither */
    uint64_t *insn; /* of a line: its instructions, in order */
    size_t insns;
};

void place_deinit(struct place *p);

struct place_options {
    uint64_t instance; /* 1, 2, ... of the line; 0: the last one */
    uint32_t thread;   /* its number in positions; 0: any */
    gaddr last;        /* of `*ADDRESS`: the instance goes on as far as here; 0: it does not */
};

/* Codes of errors, besides source.h's. */
enum place_error { PLACE_NEVER = 100 /* no such instance, position, thread */ };

/* The end of such a message: since when nothing was found. "" if the trace begins where the
 * recording does. */
const char *place_since(const struct study *s);

/* `FILE:LINE`, `FUNCTION`: behind the instance of the line. `*ADDRESS`, or a function without
 * lines: right there; with `last`, behind what is from there to `last`, that included. */
int place_line(struct study *s, const char *where, const struct place_options *options,
               struct place *out, struct err *err);
int place_position(struct study *s, const struct position *at, struct place *out, struct err *err);

/* Which frame names and registers of a place are of. */
struct place_view {
    uint32_t thread; /* its number in positions; 0: the place's own */
    uint32_t frame;  /* 0 is the innermost; as GDB numbers them, inlined calls and signals count */
};
int place_frame(struct study *s, struct place *p, const struct place_view *view, struct err *err);

struct frame;
gaddr place_cfa(const struct frame *f);                       /* 0: not known */
void place_set_frame(struct place *p, const struct frame *f); /* makes it the innermost */

/* A call that a thread was in. */
struct place_call {
    gaddr entry;
    uint64_t maker; /* FRAME_NO_MAKER: none */
};

/* Where a thread was at the end of the trace. If that is not in the user's own code, place.line_pc
 * is the call that led there. */
struct place_end {
    struct place place;
    struct place_call *call; /* the innermost first */
    size_t calls;
    size_t own;                     /* the innermost that the user's own code made; `calls`: none */
    const struct code_block *block; /* its last step: ... */
    uint32_t insns;                 /* ... how many of its instructions were executed */
    uint64_t first;                 /* ... the number of the first */
    uint64_t executed;              /* what the thread executed last; UINT64_MAX: nothing */
};

/* The end of a thread, by its number in positions; 0: of the one that ran last. */
int place_end(struct study *s, uint32_t thread, struct place_end *out, struct err *err);
void place_end_deinit(struct place_end *e);

/* The same of all threads that did something, *count of them, in one pass. NULL with *err set. */
struct place_end *place_ends(struct study *s, size_t *count, struct err *err);
void place_ends_free(struct place_end *list, size_t count); /* NULL is allowed */

#endif
