/* closure.h - slices checked by executing them: between the files of slice_closure.
 *
 * SPDX-License-Identifier: MIT
 *
 * Whoever has a slice should need nothing else: its instructions alone, given what they read and no
 * instruction defined, must compute what they computed in the run. Three parts:
 *
 * - closure_cpu.c executes one instruction natively. The target's memory is at its own addresses in
 *   this process, page by page.
 * - closure_record.c executes the whole trace that way, once, and writes down what every
 *   instruction changed: the original values. System calls, signals and what else no instruction
 *   computes are taken from a replay; there all registers and pages are compared with it.
 * - closure_check.c and closure_node.c execute a slice. Everything is a pattern at first. What an
 * instruction of the slice uses must have been defined by the slice, or by nobody: then it gets its
 * original value. What instructions outside the slice define becomes the pattern again.
 */
#ifndef TESTS_SLICE_CLOSURE_H
#define TESTS_SLICE_CLOSURE_H

#include "slicer/slice.h"
#include "slicer/walk/copy.h"
#include "tests/insn/defusestate.h"
#include "trace/forward.h"
#include "trace/state.h"

/* Behind the last range of a note. */
static inline const struct flow_range *closure_ranges_end(const struct flow_note *n)
{
    return (const struct flow_range *)((const uint8_t *)n + n->bytes);
}

struct program_registers;

/* ---- closure_cpu.c ---- */

enum { CLOSURE_PAGE = 4096, CLOSURE_TAIL = 7 /* bytes behind an instruction that are borrowed */ };

struct closure_page {
    gaddr addr;
    uint8_t ref[CLOSURE_PAGE];   /* the original values, now */
    uint8_t state[CLOSURE_PAGE]; /* enum closure_state */
    uint64_t by[CLOSURE_PAGE];   /* the node that defined it last, plus one */
};

int closure_init(void); /* -1 with a message: this machine cannot */
/* The page of an address that is there; NULL: it is not. And in the order of their making. */
struct closure_page *closure_page(gaddr addr);
struct closure_page *closure_page_number(size_t i);
/* Makes it, filled with nothing. Ends the process with CLOSURE_AGAIN if the address is in use. */
struct closure_page *closure_make_page(gaddr addr);
enum { CLOSURE_AGAIN = 75 };

/* Executes `in` from *s. `through` is where an indirect transfer finds its target; 0: a register.
 * *next is where it leads. -1: it raised a signal, *fault says which. */
int closure_execute(const struct insn *in, struct flat *s, gaddr through, gaddr *next,
                    struct fault *fault);
/* Is it for the kernel or the engine to say what it does? */
bool closure_is_external(const struct insn *in);
/* Its code and data are in each other's way. */
bool closure_is_tangled(const struct forward_at *n);

uint64_t closure_gpr(const struct flat *s, unsigned reg);
void closure_set_gpr(struct flat *s, unsigned reg, uint64_t value);
void closure_copy_loc(struct flat *to, const struct flat *from, unsigned loc);
void closure_from_replay(const struct program_registers *r, struct flat *out);

/* ---- closure_record.c ---- */

/* What one node did, in `log`, from at[node] on. */
enum closure_kind {
    CLOSURE_END,      /* of the node's */
    CLOSURE_NEW_PAGE, /* before the node: number, CLOSURE_PAGE bytes */
    CLOSURE_REGISTER, /* loc, count, bytes */
    CLOSURE_MEMORY,   /* addr, count, bytes */
    CLOSURE_GIVEN,    /* the same, but nobody was said to write it */
    CLOSURE_FS_BASE,  /* addr */
    CLOSURE_NEXT,     /* addr: where a transfer went */
};

struct closure_entry {
    uint32_t kind, count;
    uint64_t addr;
    uint8_t bytes[]; /* padded to 8 */
};

/* A signal's delivery, or the return from one. */
struct closure_event {
    uint32_t thread;
    struct flat after;
    gaddr frame;
    size_t bytes;
    uint8_t *memory; /* of the frame */
};

struct closure_record {
    uint8_t *log;
    size_t used, room;
    size_t *at;
    uint64_t nodes;
    uint32_t threads;
    struct flat *first; /* by thread */
    struct closure_event *event;
    size_t events;
    uint64_t executed, external, copies, syncs;
    unsigned wrong; /* things that the trace or def/use sets do not tell, and happened */
    bool unlucky;   /* two calls of different threads are over with nothing between them: another
                       recording is needed */
};

int closure_record(struct trace_index *s, struct pinball *pinball, struct closure_record *out,
                   struct err *err);
void closure_record_deinit(struct closure_record *r);

static inline const struct closure_entry *closure_next(const struct closure_entry *e)
{
    size_t bytes = e->kind == CLOSURE_NEW_PAGE || e->kind == CLOSURE_REGISTER ||
                           e->kind == CLOSURE_MEMORY || e->kind == CLOSURE_GIVEN
                       ? (e->count + 7u) & ~7u
                       : 0;
    return (const struct closure_entry *)(e->bytes + bytes);
}

/* ---- closure_copy.c ---- */

/* The source's bytes, to be freed, if the instruction counts as a copy; NULL: it does not. */
uint8_t *closure_copy_take(const struct forward_at *n, const struct flat *before, struct copy *out);
/* Are they in the target now, and behind them zeros or their sign? */
bool closure_copy_holds(const struct copy *c, const uint8_t *kept, const struct flat *after);

/* ---- closure_check.c ---- */

enum closure_state {
    CLOSURE_UNTOUCHED, /* nobody has defined it */
    CLOSURE_OWN,       /* the slice has */
    CLOSURE_FOREIGN,   /* somebody else has */
};

struct closure_question {
    const struct slice *slice;
    const struct slice_want *want;
    size_t wants;
    const struct slice_options *options;
    uint64_t without; /* this node is taken out; UINT64_MAX: none */
    bool *idle;       /* of it: all that it defines is left out of slices; NULL: not wanted */
    unsigned pattern; /* 0 or 1 */
    bool quiet;
};

/* 0: closed; 1: it is not, and why was printed; -1 with *err set. */
int closure_check(struct trace_index *s, const struct closure_record *r,
                  const struct closure_question *q, struct err *err);

#endif
