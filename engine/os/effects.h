/* effects.h - what system calls do to the target's memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * syscalls.def says it once for all readers: the logger (what to record), the replayer (what to put
 * back), the slicer (what depends on what) and the scratch memory below. commands.def and
 * ioctls.def go on where a command in an argument decides.
 *
 * Blocking calls that are made while other threads run must not let the kernel write target memory
 * at a time nobody knows: effects_divert() has it write to scratch memory of the calling thread,
 * and effects_deliver() copies what it wrote to its place when the thread has the baton again. Both
 * need the baton.
 */
#ifndef ENGINE_OS_EFFECTS_H
#define ENGINE_OS_EFFECTS_H

#include "engine/core/thread.h"

/* May the call succeed and write less than it says? Then scratch memory starts as a copy. */
enum { PREFILL_NEVER, PREFILL_ALWAYS, PREFILL_TRUNC /* with MSG_TRUNC in when_arg */ };

enum { VECTOR_OF_ONE = 0xff }; /* as size_arg: there is no count */

enum call_how { CALL_UNKNOWN, CALL_QUICK, CALL_BLOCKS, CALL_REFUSED };

enum replay_kind { REPLAY_LOGGED, REPLAY_SAME, REPLAY_MEMORY, REPLAY_THREAD };

enum effect_kind {
    EFFECT_END, /* of a list */
    EFFECT_NONE,
    EFFECT_IN,
    EFFECT_OUT,
    EFFECT_INOUT,
    EFFECT_PLACE,   /* read and written, and only there: a futex word is no copy of itself */
    EFFECT_PATH,    /* a string */
    EFFECT_STRINGS, /* argv: an array of strings that ends with 0 */
    EFFECT_IN_VECTOR,
    EFFECT_OUT_VECTOR,
    EFFECT_PLACE_VECTOR, /* pages of it may be kept by the kernel: never moved */
    EFFECT_IN_MESSAGE,
    EFFECT_OUT_MESSAGE,
    EFFECT_IN_MESSAGES,
    EFFECT_OUT_MESSAGES,
    EFFECT_OUT_SIZED,
    EFFECT_OUT_COUNTED, /* struct { uint32_t bytes; void *buffer; } with the count written back */
    EFFECT_OUT_AT,
    EFFECT_OUT_THROUGH, /* at the address in byte when_arg of a struct */
    EFFECT_IN_FILTER,
    EFFECT_COMMAND,
    EFFECT_OPTION, /* of a socket: what sockopts.def adds */
};

enum effect_size {
    SIZE_BYTES,
    SIZE_UP_TO, /* as much of that as is mapped */
    SIZE_ARG,
    SIZE_ARG32,
    SIZE_ARG_PLUS,
    SIZE_TIMES,
    SIZE_POLLFDS,
    SIZE_RESULT,
    SIZE_RESULT_TIMES,
    SIZE_RESULT_PLUS,
    SIZE_BITS,
    SIZE_SETS,
    SIZE_PAGES,
    SIZE_FIELD,
    SIZE_SEMAPHORES,
    SIZE_REQUEST, /* as an ioctl request's number tells */
};

enum effect_when {
    WHEN_SUCCESS,
    WHEN_FOUND,
    WHEN_ANY,
    WHEN_INTERRUPTED,
    WHEN_FLAG,
    WHEN_EQUAL,
    WHEN_OWN
};

struct effect {
    uint8_t kind, arg;      /* the argument that is the address */
    uint8_t size, size_arg; /* enum effect_size; the argument (or field) with the count */
    uint8_t when, when_arg; /* enum effect_when; the argument with the flags */
    uint8_t width, prefill; /* of the field; the call may succeed and write less */
    uint32_t bytes;         /* constant, factor, or the table of commands */
    uint32_t mask;          /* flags; factor of the field */
};

struct call_info {
    const char *name;
    uint8_t how;    /* enum call_how */
    uint8_t replay; /* enum replay_kind */
    const struct effect *effects;
};

/* NULL for numbers that syscalls.def does not have. */
const struct call_info *call_info(long nr);

/* False: the command among the arguments is in no table, and *u says what to answer. Not for
 * numbers without a row. */
struct unknown_command {
    uint32_t command;
    long error;
    bool told; /* with a line: a kernel might have it */
};
bool effects_known(long nr, const long a[6], struct unknown_command *u);

typedef void effect_fn(void *arg, gaddr addr, uint64_t bytes);

/* Before the call: all that the kernel may read. */
void effects_read(long nr, const long a[6], effect_fn *fn, void *arg);

/* After the call: every range that the kernel or the runtime wrote on its behalf; more than that
 * only where memory is mapped. A call that failed with EFAULT may have written any part of what it
 * was given; one that failed otherwise has written what syscalls.def says, mostly nothing. */
void effects_written(long nr, const long a[6], long result, effect_fn *fn, void *arg);
bool effects_through(long nr, const long a[6]); /* by addresses inside its arguments */
bool effects_may_write(long nr);                /* false: effects_written() never names anything */

/* ---- scratch memory ---- */

struct divert_piece {
    uint64_t scratch; /* address there */
    gaddr target;
    uint64_t bytes;
};

struct divert {
    long nr;
    long b[6];
    bool measure; /* first pass: only count */
    uint32_t pieces, piece_max;
    struct divert_piece *piece;
    uint8_t *memory;                                   /* for the copies */
    uint64_t used, room;                               /* bytes of it */
    uint64_t budget;                                   /* bytes that bulk data may still take */
    uint8_t buffer[2048] __attribute__((aligned(16))); /* most calls need no more */
};

/* True: the call is to be made with b[], and *d goes to effects_deliver(). False with *error 0: it
 * is to be made with a[]; else *error is its result. Arguments that cannot be read are left to the
 * kernel to complain about. */
bool effects_divert(struct thread *t, long nr, const long a[6], long b[6], struct divert *d,
                    long *error);

/* The result that the target sees. */
long effects_deliver(struct thread *t, struct divert *d, long result);

/* ---- between the sources of this module ---- */

enum { VECTOR_MAX = 1024, NAME_MAX_ = 128, MESSAGE_STRIDE = 64, MESSAGE_LEN = 56 };

struct vector { /* struct iovec */
    gaddr base;
    uint64_t len;
};

struct message { /* struct msghdr */
    gaddr name;
    uint32_t name_bytes, pad0;
    gaddr vector;
    uint64_t count;
    gaddr control;
    uint64_t control_bytes;
    uint32_t flags, pad1;
};

struct counted { /* struct ifconf */
    uint32_t bytes, pad;
    gaddr buffer;
};

bool effects_apply(const struct effect *e, const long a[6]); /* by the arguments alone */

/* The command's own list for e->kind EFFECT_COMMAND; NULL for an unknown one. */
const struct effect *effects_of_command(const struct effect *e, const long a[6]);

/* What sockopts.def adds for the option among the arguments of set- or getsockopt. */
const struct effect *effects_of_option(const long a[6], bool set);

uint64_t effects_capacity(const struct effect *e, const long a[6]); /* bytes at most */
uint64_t effects_mapped(gaddr addr, uint64_t bytes); /* how many of them can be read */

#endif
