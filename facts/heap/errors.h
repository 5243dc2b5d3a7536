/* errors.h - what a program did wrong with memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * One pass over the trace, with all accesses. Accesses inside the allocator never count.
 * docs/ask.md has the definitions.
 */
#ifndef FACTS_HEAP_ERRORS_H
#define FACTS_HEAP_ERRORS_H

#include "facts/heap/heap.h"

enum heap_error_kind {
    HEAP_USE_AFTER_FREE,
    HEAP_DOUBLE_FREE,
    HEAP_WRONG_FREE,   /* what was freed is no block */
    HEAP_WRONG_FAMILY, /* new and free(), malloc and delete, ... */
    HEAP_OVERFLOW,     /* through a pointer to one block, outside of it */
    HEAP_UNDEFINED_BRANCH,
    HEAP_UNDEFINED_ADDRESS,
    HEAP_UNDEFINED_CALL, /* a system call got an undefined value */
    HEAP_ERROR_KINDS
};

/* The same error at the same place, with blocks of the same place, is told once: the first time. */
struct heap_error {
    uint8_t kind; /* enum heap_error_kind */
    bool write;
    uint32_t thread; /* as in trace_step.thread */
    uint64_t insn, count;
    gaddr pc;
    uint32_t stack; /* calls around it */
    gaddr addr;     /* that was touched or freed; of an undefined value: where it was read */
    uint64_t bytes;
    uint32_t block; /* that it is about; HEAP_NONE: none */
    uint32_t other; /* an overflow: the block that lies there; HEAP_NONE */
    uint32_t call;  /* of the function that freed; HEAP_NONE */
    gaddr from_pc;  /* an undefined value: where it was read */
    uint64_t from_insn;
    gaddr owner_pc, owner_cfa; /* ... and on the stack: the frame that it is of; 0: not known */
    uint64_t times;
    uint64_t last;   /* the instruction that did it the last time */
    gaddr low, high; /* of an access: the bytes of all times that were with the same block */
    /* An overflow of a variable, and not of a block: where it is, where its address was made, and
     * the frame that it is in. 0: none. If it has no bytes, it is one of the frame, which ends
     * here. */
    gaddr variable, variable_pc, variable_cfa;
    uint64_t variable_bytes;
};

struct heap_errors {
    struct heap_error *list; /* in order of the execution */
    size_t count, room;
};

/* Made when it is first wanted and kept with the heap. NULL with *err set. */
const struct heap_errors *heap_errors(struct heap *h, struct study *s, struct err *err);
void heap_errors_free(struct heap_errors *e); /* NULL is allowed */

#endif
