/* variable.h - variables: which one lies at an address or in a register, and where one is.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace has addresses but no values. So addresses are named from what the caller knows of a
 * frame: the canonical frame address is enough for most, because rbp and rsp follow from it by the
 * call frame information. Where it is not enough the answer is "unknown", never a guess. Registers
 * have their DWARF numbers: 0-15 are rax rdx rcx rbx rsi rdi rbp rsp r8-r15, 16 is the return
 * address, 17-32 are xmm0-15.
 */
#ifndef SOURCE_VARIABLE_H
#define SOURCE_VARIABLE_H

#include "source/source.h"
#include "source/term.h"
#include "source/types.h"

/* What is known about the frame of a pc. 0 is unknown. */
struct source_frame {
    gaddr cfa;
    gaddr fs_base;         /* of the thread: for thread-local variables of the executable */
    gaddr tls_base;        /* of the thread's block for pc's module, if that is no executable */
    const uint64_t *reg;   /* NULL, or the values of registers 0-16 at pc */
    const uint64_t *entry; /* NULL, or those of 0-15 when the function was entered */
    gaddr scope;      /* names are those that are visible at this pc of the function; 0: at pc */
    uint32_t inlined; /* calls that are inlined there, the frame is outside of so many */
    /* NULL, or reads memory as it is there: returns how many bytes there were. */
    size_t (*memory)(void *arg, gaddr addr, void *out, size_t bytes);
    void *arg;
    /* NULL, or where formulas are kept for what is not known of the frame (source/term.h). */
    struct terms *terms;
    const struct term *unwound; /* NULL, or registers 0-15 of a caller; unknown: they are gone */
    uint32_t callers;           /* so many calls out */
};

/* Writes the name of what the `bytes` bytes at addr are, seen from pc: `total`, `table[3].next`,
 * `node.left`; the smallest part that has all of them. Locals and parameters of the function and
 * of what is inlined there, then globals and statics of all modules. Returns false, and an empty
 * name, where it is unknown. `frame` may be NULL. */
bool source_variable(struct source *s, gaddr pc, const struct source_frame *frame, gaddr addr,
                     uint32_t bytes, char *buf, size_t room);
/* The same, with the type of that part, if it is all of it. */
bool source_variable_typed(struct source *s, gaddr pc, const struct source_frame *frame, gaddr addr,
                           uint32_t bytes, char *buf, size_t room, struct source_type *type);

/* The line that declares the variable there; false: not known. */
bool source_variable_declared(struct source *s, gaddr pc, const struct source_frame *frame,
                              gaddr addr, const char **file, uint32_t *line);

/* The variable that lives in a register at pc, or NULL. Its type, too, unless `type` is NULL. */
const char *source_register_variable(struct source *s, gaddr pc, unsigned reg);
const char *source_register_typed(struct source *s, gaddr pc, unsigned reg,
                                  struct source_type *type);

enum source_where {
    SOURCE_MEMORY,   /* at `address` */
    SOURCE_REGISTER, /* in register `reg`, from its lowest byte on */
    SOURCE_CONSTANT, /* `value` always */
    SOURCE_COMPUTED, /* made from what the place's `read` lists */
    SOURCE_NOWHERE   /* this part was optimized out */
};

struct source_piece {
    enum source_where where;
    gaddr address;
    uint64_t value;
    uint32_t bytes; /* 0: the size is unknown */
    uint16_t reg;
    bool known;       /* of what is computed: `value` is */
    struct term term; /* a formula: in place of `address`, or of `value` if that is computed */
};

/* Something that a computed value is made from. */
struct source_read {
    bool memory;   /* `bytes` bytes at `address`; else register `reg` */
    bool at_entry; /* the register's value when the function was entered */
    bool known;    /* of memory: the address */
    gaddr address;
    uint16_t reg;
    uint16_t bytes;
};

enum { SOURCE_PIECES = 16, SOURCE_READS = 16 };

struct source_place {
    uint64_t bytes; /* of the variable; 0 unknown */
    struct source_type type;
    struct source_piece piece[SOURCE_PIECES];
    struct source_read read[SOURCE_READS];
    uint32_t pieces, reads;
    bool local; /* a variable of the function, not a global */
};

/* Where the variable `name` that is visible at pc is: the innermost one of the function, which may
 * be inlined there, else what is static in its compilation unit, a global, what is static in
 * another one. What is around an inlined call is not visible in it. With pc 0 globals only. The
 * name may be
 * `'FILE'::NAME`, `FUNCTION::NAME` (a static one, or a local of the function at pc), or both. -1
 * with one of source_error's codes. `frame` may be NULL. */
int source_variable_at(struct source *s, gaddr pc, const struct source_frame *frame,
                       const char *name, struct source_place *out, struct err *err);
/* The same of the object that the method at pc belongs to. */
int source_variable_this(struct source *s, gaddr pc, const struct source_frame *frame,
                         struct source_place *out, struct err *err);

/* A variable as memory. */
struct source_object {
    gaddr start;
    uint64_t bytes;
    bool tuned;  /* the code was optimized, or may have been: addresses in it need not be those of
                    what they are used for */
    bool shared; /* ... and other variables may have the same memory at other times */
};

/* The variable that has the byte at addr, all of it in one piece: with a frame, a local one of the
 * function at pc, else a global or static one, perhaps a symbol alone. False: none is known. */
bool source_object(struct source *s, gaddr pc, const struct source_frame *frame, gaddr addr,
                   struct source_object *out);

/* The global or static at addr has an atomic type, or the member or element there has. */
bool source_is_atomic(struct source *s, gaddr addr);

#endif
