/* machine.h - carries what is known of values along with them, through an execution.
 *
 * SPDX-License-Identifier: MIT
 *
 * Beside each register and each byte of memory: which of its bits are undefined, and which block a
 * pointer was made from (shadow.h). Steps of a trace are executed on that, as compiled (ops.h).
 * What looks like an error is told to the one who runs it (errors.c).
 */
#ifndef FACTS_HEAP_MACHINE_H
#define FACTS_HEAP_MACHINE_H

#include "facts/heap/ops.h"
#include "facts/heap/shadow.h"

/* A tag of what is no pointer, though it was made from some: the distance between two blocks. What
 * it is added to points to no block that is known. */
#define MACHINE_DISTANCE UINT32_MAX

enum { MACHINE_RED_ZONE = 128, MACHINE_ORIGINS = 1 << 20 };

/* Where an undefined value came from. */
struct machine_origin {
    gaddr addr, pc;
    uint64_t insn;
    uint32_t bytes; /* 0: not known */
};

struct machine_vector {
    uint8_t undefined[LOC_VEC_BYTES];
    uint32_t tag[LOC_VEC_BYTES / 8];
    bool any; /* one of these is not 0 */
    struct machine_origin origin[LOC_VEC_BYTES / 8];
    gaddr late; /* a string function read this, which it should not, if it stores it */
    uint32_t late_bytes, late_tag;
};

struct machine_thread {
    uint64_t undefined[OPS_REGS];
    uint32_t tag[OPS_REGS];
    struct machine_origin origin[OPS_REGS];
    uint64_t zero[OPS_REGS]; /* of a register with undefined bits: others that are surely 0 */
    uint16_t flags;          /* undefined ones, as in RFLAGS */
    struct machine_origin flags_origin;
    struct machine_vector vector[OPS_VECTORS];
    gaddr sp;  /* 0: not known */
    gaddr low; /* the lowest it was since bytes below it were last given up */
};

/* The block of a tag, or the variable, by which pointers are checked. */
struct machine_block {
    gaddr start, end;
    bool freed;
    uint16_t site; /* of a variable: where its address was made; else 0 */
};

/* An instruction that makes the address of a variable (objects.h). */
struct machine_site {
    gaddr slot;   /* of the frame it was in last, ... */
    uint32_t tag; /* ... and the tag of the variable there; 0: none */
    bool local;
    bool seen; /* the variable was touched, through a pointer from here, and inside */
};

/* Where the machine is. */
struct machine_at {
    const struct code_block *b;
    unsigned i; /* instruction */
    uint64_t insn, count;
    uint32_t thread;
    struct frame *frame;
};

enum machine_use { MACHINE_BRANCH, MACHINE_ADDRESS, MACHINE_CALL };

struct machine_access {
    gaddr addr;
    uint64_t bytes;
    uint32_t tag; /* of its address; 0: none */
    bool write;
};

struct machine {
    struct shadow shadow;
    struct machine_thread *thread;
    struct machine_block *block; /* by tag */
    struct machine_site *site;   /* by number */
    struct machine_at at;
    struct machine_origin *origin; /* of values that were stored; the first is nobody's */
    size_t origins, origin_room;
    void *arg;
    /* Memory that was taken back is touched, or a pointer leads outside of its block. */
    void (*touched)(void *arg, const struct machine_at *at, const struct machine_access *a);
    void (*used)(void *arg, const struct machine_at *at, enum machine_use use,
                 const struct machine_origin *origin);
    /* Which variable a site's address is of, in this frame; 0: none. */
    uint32_t (*object)(void *objects, const struct machine_at *at, uint16_t site);
    void *objects;
};

/* Executes a step. */
void machine_run(struct machine *m, const struct ops *ops, const uint64_t *values, unsigned insns);
/* The same inside an allocator: what it writes is defined, and nothing else is known. */
void machine_run_inside(struct machine *m, const struct ops *ops, const uint64_t *values,
                        unsigned insns);

/* Does an access go where it should not? It looks at the first page of it. */
bool machine_is_odd(struct machine *m, const struct machine_access *a);

void machine_deinit(struct machine *m); /* what it has made itself */

/* A function of the allocator has returned: its result, flags and vectors are defined. */
void machine_forget(struct machine_thread *t);

#endif
