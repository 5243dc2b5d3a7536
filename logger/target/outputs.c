/* outputs.c - which descriptors lead to standard output and error. SPDX-License-Identifier: MIT */
#include "logger/target/outputs.h"

#include "engine/core/engine.h"
#include "engine/os/effects.h"
#include "engine/os/kinds.h"
#include "logger/target/filestat.h"
#include "logger/target/log.h"

/* The number of the terminal behind a descriptor, whatever name it was opened by; 0: none. */
static uint32_t terminal_of(int fd)
{
    enum { GET_DEVICE = 0x80045432 }; /* TIOCGDEV */
    uint32_t device = 0;
    return sys3(__NR_ioctl, fd, (long)GET_DEVICE, (long)&device) ? 0 : device;
}

int outputs_of(int fd)
{
    const struct ring_outputs *o = &log_ring()->outputs;
    struct filestat st;
    if (!filestat_get(fd, &st))
        return 0;
    bool device = filestat_type(&st) == FILESTAT_DEVICE; /* /dev/null is no place to meet */
    uint32_t terminal = device ? terminal_of(fd) : 0;
    for (int i = 0; i < 2; i++)
        if (device ? terminal && terminal == o->file[i].terminal
                   : o->file[i].ino && o->file[i].ino == st.ino && o->file[i].dev == st.dev)
            return i + 1;
    return terminal && terminal == o->terminal ? 2 : 0;
}

int outputs_now(int fd)
{
    const struct ring_outputs *o = &log_ring()->outputs;
    struct filestat st;
    if ((fd == 1 || fd == 2) && filestat_get(fd, &st) && o->file[fd - 1].ino == st.ino &&
        o->file[fd - 1].dev == st.dev)
        return fd;
    return fd ? outputs_of(fd) : 0;
}

static void note(int fd, int to)
{
    struct record_output *o = log_begin(RECORD_OUTPUT, sizeof *o);
    o->fd = fd;
    o->to = (uint32_t)to;
    log_commit();
}

void outputs_inherited(int fd)
{
    int to = fd == 1 || fd == 2 ? 0 : outputs_of(fd);
    if (to && !log_over())
        note(fd, to);
}

void outputs_begin(void)
{
    if (!log_over())
        note(-1, 0);
}

/* Those in the control messages of a struct msghdr. */
static void in_message(gaddr message, void (*fn)(int fd))
{
    enum { CONTROL_AT = 32, SOCKET = 1, RIGHTS = 1 };
    struct {
        gaddr at;
        uint64_t bytes;
    } control;
    struct {
        uint64_t bytes;
        int32_t level, type;
    } head;
    if (!engine_read(&control, message + CONTROL_AT, sizeof control) || !control.at)
        return;
    const gaddr end = control.at + control.bytes;
    for (gaddr at = control.at; end - at >= sizeof head && engine_read(&head, at, sizeof head);) {
        if (head.bytes < sizeof head || head.bytes > end - at)
            return;
        bool rights = head.level == SOCKET && head.type == RIGHTS;
        for (gaddr p = at + sizeof head; rights && p + 4 <= at + head.bytes; p += 4) {
            int32_t fd;
            if (engine_read(&fd, p, sizeof fd))
                fn(fd);
        }
        if (end - at < ((head.bytes + 7) & ~7ull))
            return;
        at += (head.bytes + 7) & ~7ull;
    }
}

void outputs_received(long nr, const long a[6], long result, void (*fn)(int fd))
{
    bool many = call_info(nr)->effects->kind == EFFECT_OUT_MESSAGES;
    for (long i = 0; many && i < result; i++)
        in_message((gaddr)a[1] + (uint64_t)i * MESSAGE_STRIDE, fn);
    if (!many && result >= 0)
        in_message((gaddr)a[1], fn);
}

int outputs_opened(long nr, const long a[6], long result)
{
    const struct call_kind k = kinds_of(nr);
    bool writes = kinds_opens_to_write(k, a) || k.does == DOES_FETCHES;
    return writes && !SYS_FAILED(result) ? outputs_of((int)result) : 0;
}
