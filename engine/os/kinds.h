/* kinds.h - what a system call does besides reading and writing memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * The columns `args`, `does` and `message` of syscalls.def, which explains the words, for all who
 * look at a program's calls: the recorder, the replay, the stub, traces and their analyses. They
 * need no call's number. Inside a target and outside; any thread.
 */
#ifndef ENGINE_OS_KINDS_H
#define ENGINE_OS_KINDS_H

#include "engine/rt/types.h"

enum call_does {
    DOES_0, /* nothing of what follows */
    /* descriptors */
    DOES_OPENS, /* call_kind.arg has the flags */
    DOES_OPENS_ANYHOW,
    DOES_MAKES_FILE,
    DOES_MAKES,
    DOES_FETCHES,
    DOES_DUPLICATES,
    DOES_CONTROLS,
    DOES_MAKES_TWO, /* call_kind.arg is where they are */
    DOES_IMPORTS,
    DOES_CLOSES,
    DOES_CLOSES_RANGE,
    /* files */
    DOES_READS,
    DOES_READS_VECTOR,
    DOES_READS_AT,
    DOES_READS_VECTOR_AT,
    DOES_WRITES,
    DOES_WRITES_AT,
    DOES_WRITES_HOW,
    DOES_COPIES, /* call_kind.arg is the descriptor that is written to */
    DOES_COPIES_AT,
    DOES_RESIZES,
    DOES_RESIZES_NAMED,
    DOES_ALLOCATES,
    DOES_WRITES_MEMORY,
    DOES_WRITES_BACK,
    DOES_LISTS,
    /* maps */
    DOES_MAPS,
    DOES_UNMAPS,
    DOES_REMAPS,
    DOES_PROTECTS,
    DOES_ADVISES,
    DOES_ATTACHES,
    DOES_DETACHES,
    DOES_BREAKS,
    DOES_IMPLIES,
    /* threads and processes */
    DOES_FORKS,
    DOES_VFORKS,
    DOES_CLONES,
    DOES_CLONES_BY,
    DOES_EXECS,
    DOES_ENDS_THREAD,
    DOES_ENDS_PROCESS,
    DOES_NAMES,
    DOES_SETS_WORD,
    DOES_FUTEX,
    DOES_SIGRETURN,
    DOES_PASSES_TIME,
};

enum call_message {
    MESSAGE_0,
    MESSAGE_SENDS = 1,
    MESSAGE_RECEIVES = 2,
    MESSAGE_EXCHANGES = MESSAGE_SENDS | MESSAGE_RECEIVES,
    MESSAGE_BY_DESCRIPTOR = 4, /* in argument 0: a file carries no messages */
    MESSAGE_SENDS_BY = MESSAGE_SENDS | MESSAGE_BY_DESCRIPTOR,
    MESSAGE_RECEIVES_BY = MESSAGE_RECEIVES | MESSAGE_BY_DESCRIPTOR,
};

struct call_kind {
    uint8_t args; /* how many it has */
    uint8_t does; /* enum call_does */
    uint8_t arg;  /* the argument that this is about */
    uint8_t message;
    bool waits; /* it may, while other threads run */
    bool is;    /* it has a row */
};

enum kinds_number {
#define SYSCALL(nr, name, ...) KINDS_NUMBER_##name = (nr),
#include "engine/os/syscalls.def"
#undef SYSCALL
    KINDS_CALLS /* behind the last row, which has the highest */
};

enum { KINDS_ARGS = 6 }; /* at most */

/* By number; the last one is for all without a row. Use kinds_of(). */
extern const struct call_kind kinds_table[KINDS_CALLS + 1];

/* A number without a row may use all arguments and does nothing that is known. Inline, since each
 * call of a recorded program is looked up some ten times. */
static inline struct call_kind kinds_of(int64_t nr)
{
    return kinds_table[nr >= 0 && nr < KINDS_CALLS && kinds_table[nr].is ? nr : KINDS_CALLS];
}

const char *kinds_name(int64_t nr); /* NULL: it has no row; not inside the target */

bool kinds_opens(struct call_kind k);                         /* a file */
bool kinds_opens_to_write(struct call_kind k, const long *a); /* ... or perhaps */
bool kinds_duplicates(struct call_kind k, const long *a);     /* argument 0, if it succeeds */

#endif
