/* kinds.c - what a system call does besides reading and writing memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/os/kinds.h"

/* Words of the table that have an argument. */
#define DOES_OPENS(n)     DOES_OPENS, .arg = (n)
#define DOES_MAKES_TWO(n) DOES_MAKES_TWO, .arg = (n)
#define DOES_COPIES(n)    DOES_COPIES, .arg = (n)
#define DOES_COPIES_AT(n) DOES_COPIES_AT, .arg = (n)

enum { HOW_QUICK = false, HOW_BLOCKS = true, HOW_REFUSED = false };

const struct call_kind kinds_table[KINDS_CALLS + 1] = {
#define SYSCALL(nr, name_, args_, how_, handler_, replay_, does_, message_, ...)                   \
    [nr] = {.is = true,                                                                            \
            .args = (args_),                                                                       \
            .message = MESSAGE_##message_,                                                         \
            .waits = HOW_##how_,                                                                   \
            .does = DOES_##does_},
#include "engine/os/syscalls.def"
#undef SYSCALL
    [KINDS_CALLS] = {.args = KINDS_ARGS},
};

bool kinds_opens(struct call_kind k)
{
    return k.does == DOES_OPENS || k.does == DOES_OPENS_ANYHOW;
}

bool kinds_opens_to_write(struct call_kind k, const long *a)
{
    enum { ACCMODE = 3 };
    return k.does == DOES_OPENS_ANYHOW || (k.does == DOES_OPENS && (a[k.arg] & ACCMODE));
}

bool kinds_duplicates(struct call_kind k, const long *a)
{
    enum { DUPFD = 0, DUPFD_CLOEXEC = 1030 };
    return k.does == DOES_DUPLICATES ||
           (k.does == DOES_CONTROLS && (a[1] == DUPFD || a[1] == DUPFD_CLOEXEC));
}
