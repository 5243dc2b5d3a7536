/* terminal.c - calls that wait for a terminal which a debugger reads, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/os/terminal.h"

#include "engine/core/engine.h"
#include "engine/os/kernel.h"
#include "engine/os/kinds.h"
#include "engine/os/syscalls.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"

enum { GETFL = 3, NONBLOCK = 04000, TCGETS = 0x5401, TIOCGPGRP = 0x540f, IN = 1 };

struct poll_fd {
    int32_t fd;
    int16_t events, seen;
};

/* struct termios of the kernel */
struct settings {
    uint32_t input, output, control, local;
    uint8_t line, character[19];
};

enum { ICANON = 2, VMIN = 6 };

/* In the background it is stopped by a signal: that is the kernel's to decide. */
bool terminal_waits(long nr, const long a[6])
{
    struct settings s;
    int32_t group;
    const enum call_does does = kinds_of(nr).does;
    if ((does != DOES_READS && does != DOES_READS_VECTOR) ||
        sys3(__NR_ioctl, a[0], TCGETS, (long)&s) < 0 ||
        (sys2(__NR_fcntl, a[0], GETFL) & NONBLOCK) || (!(s.local & ICANON) && !s.character[VMIN]))
        return false;
    return sys3(__NR_ioctl, a[0], TIOCGPGRP, (long)&group) >= 0 && group == sys1(__NR_getpgid, 0);
}

/* A signal that comes while it waits. */
static long interrupted(const struct thread *t)
{
    return t->process->action[t->pending_info.sig].flags & SA_RESTART_ ? SYSCALL_ABORTED : -EINTR;
}

bool terminal_read(struct thread *t, long nr, const long a[6], long *result)
{
    struct poll_fd wanted = {.fd = (int32_t)a[0], .events = IN};
    const long b[6] = {(long)&wanted, 1, -1};
    do {
        baton_drop(t);
        *result = engine_syscall(__NR_poll, b);
        baton_acquire(t);
        if (*result == SYSCALL_ABORTED)
            return true;
        if (t->pending) {
            *result = interrupted(t);
            return true;
        }
    } while (sys3(__NR_poll, (long)&wanted, 1, 0) == 0);
    if (!terminal_waits(nr, a))
        return false;
    *result = engine_syscall(nr, a); /* at once: nobody else comes between */
    return true;
}

bool terminal_looks(long nr)
{
    return nr == __NR_poll || nr == __NR_ppoll || nr == __NR_select || nr == __NR_pselect6;
}
