/* heap.h - the blocks that a program allocated: where, how large, from when to when, by whom.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace says when allocator functions were called and returned; one replay with probes says what
 * they were given and what they returned. A call that another one of the same pool makes (operator
 * new calls malloc) is no call of its own. All lists are plain arrays without pointers.
 *
 * A block lives from the instruction by which its allocator returned to the first one of the
 * function that took it back. One that realloc() changed is another block from then on.
 */
#ifndef FACTS_HEAP_HEAP_H
#define FACTS_HEAP_HEAP_H

#include "base/table.h"
#include "facts/heap/allocators.h"
#include "study/study.h"

#define HEAP_NEVER UINT64_MAX
enum { HEAP_NONE = UINT32_MAX, HEAP_DEPTH = 32 };

/* A call of an allocator function. */
struct heap_call {
    uint64_t first;  /* its first instruction */
    uint64_t last;   /* the return; HEAP_NEVER: it did not */
    uint64_t over;   /* the first instruction behind it, also where it was left otherwise */
    uint64_t count;  /* ticks of the thread at the first instruction */
    uint32_t thread; /* as in trace_step.thread */
    uint32_t function;
    uint32_t stack;         /* who called it */
    uint32_t block;         /* that it gave out; HEAP_NONE: none */
    uint32_t took;          /* that it took back */
    bool entered, returned; /* the values are known: */
    uint64_t arg[HEAP_ARGUMENTS];
    uint64_t result;
};

struct heap_block {
    gaddr start;
    uint64_t size;
    uint64_t from, to;         /* instructions; to: HEAP_NEVER: to the end */
    uint32_t allocated, freed; /* calls; freed: HEAP_NONE */
    uint32_t next;             /* what it became in its place; HEAP_NONE */
    uint8_t family;            /* enum heap_family */
};

struct heap_place {
    gaddr start;
    uint64_t block;
};

/* Calls around something, the innermost first: places of the call instructions. */
struct heap_stack {
    uint32_t first, count;
};

/* A stack by what is in it. */
struct heap_same {
    uint64_t hash; /* never 0 */
    uint64_t stack;
};

struct heap {
    struct heap_functions functions;
    struct heap_call *call;   /* by first instruction */
    struct heap_block *block; /* by the end of the call that made it */
    struct heap_stack *stack;
    gaddr *frame; /* of all stacks */
    size_t calls, blocks, stacks, frames;
    size_t call_room, block_room, stack_room, frame_room;
    struct heap_place *by_start;  /* by address, then age */
    gaddr *reach;                 /* how far those up to that one reach at the most */
    TABLE(struct heap_same) same; /* stacks that were met */
    char *pool;                   /* the user's, or NULL */
    struct heap_errors *errors;   /* errors.h; NULL: not looked for yet */
};

/* The blocks of a study's recording, made when they are first wanted and kept with it. `pool` is
 * NULL or the user's allocator (allocators.h). NULL with *err set. */
struct heap *heap_of(struct study *s, const char *pool, struct err *err);

/* The block that has the address at an instruction; the innermost, if pools lie in blocks. With
 * `dead`, the one that had it last if none has. HEAP_NONE: none. */
uint32_t heap_find(const struct heap *h, gaddr addr, uint64_t insn, bool dead);
/* The nearest one that lives and ends at or before the address, at most `most` bytes before. */
uint32_t heap_before(const struct heap *h, gaddr addr, uint64_t insn, uint64_t most);

/* Where a call is in the program: the innermost caller that is the user's own code, or else the
 * innermost one; 0: none. */
gaddr heap_caller(const struct heap *h, struct study *s, uint32_t stack);

/* The stack of calls around a frame, whose call is the innermost. `jump` is where a jump to its
 * function was, if the frame does not tell; else 0. HEAP_NONE: no memory. */
struct frame;
uint32_t heap_stack(struct heap *h, const struct frame *frame, gaddr jump);

/* ---- between the files of facts/heap ---- */

/* calls.c: fills in the calls. blocks.c: the blocks, by them. */
int heap_take_calls(struct heap *h, struct study *s, struct err *err);
int heap_take_blocks(struct heap *h, struct err *err);
/* heap.c: writes beside the trace what is known by now. */
void heap_keep(const struct heap *h, const struct study *s);

#endif
