/* talk.c - orders to a process that is stopped, and what they bring. SPDX-License-Identifier: MIT
 */
#include "debug/talk.h"

#include <string.h>

static int no_thread(uint32_t thread, struct err *err)
{
    return err_set(err, "thread %u: not there", thread);
}

int talk_set_stops(const struct talk *t, const void *stops, size_t bytes, struct err *err)
{
    const struct inbox_order order = {.what = DO_STOPS, .data = stops, .bytes = bytes};
    bool done = false;
    if (bytes <= inbox_room() &&
        (t->order(t->arg, &order, err) || inbox_done(t->inbox, &done, err)))
        return -1;
    return done ? 0 : err_set(err, "too many breakpoints");
}

int talk_set_registers(const struct talk *t, uint32_t thread, const struct program_registers *regs,
                       struct err *err)
{
    struct mailbox_registers m = {
        .rip = regs->rip, .rflags = regs->rflags, .xsave_bytes = (uint32_t)regs->xsave_bytes};
    const struct inbox_order order = {
        .what = DO_SET, .arg = {thread}, .data = &m, .bytes = sizeof m};
    bool done;
    memcpy(m.gpr, regs->gpr, sizeof m.gpr);
    memcpy(m.xsave, regs->xsave, sizeof m.xsave);
    if (t->order(t->arg, &order, err) || inbox_done(t->inbox, &done, err))
        return -1;
    return done ? 0 : no_thread(thread, err);
}

int talk_registers(const struct talk *t, uint32_t thread, struct program_registers *out,
                   struct err *err)
{
    const struct inbox_order order = {.what = DO_REGISTERS, .arg = {thread}};
    if (t->order(t->arg, &order, err))
        return -1;
    int there = inbox_registers(t->inbox, thread, out, err);
    return there > 0 ? 0 : there < 0 ? -1 : no_thread(thread, err);
}

size_t talk_threads(const struct talk *t, struct program_thread *out, size_t room)
{
    const struct inbox_order order = {.what = DO_THREADS};
    struct err err;
    size_t count;
    uint32_t made;
    if (t->order(t->arg, &order, &err) || inbox_threads(t->inbox, out, room, &count, &made, &err))
        return 0;
    return count;
}

int talk_thread_state(const struct talk *t, uint32_t thread, struct program_registers *registers,
                      int *state, struct err *err)
{
    const struct inbox_order ask = {.what = DO_REGISTERS, .arg = {thread}};
    const struct inbox_order list = {.what = DO_THREADS};
    size_t count;
    uint32_t made;
    *state = 0;
    if (t->order(t->arg, &ask, err))
        return -1;
    int there = inbox_registers(t->inbox, thread, registers, err);
    if (there)
        return there < 0 ? -1 : 0;
    if (t->order(t->arg, &list, err) || inbox_threads(t->inbox, NULL, 0, &count, &made, err))
        return -1;
    *state = thread > made ? -1 : 1;
    return 0;
}

size_t talk_read(const struct talk *t, uint64_t addr, void *out, size_t bytes)
{
    struct err err;
    size_t done = 0, got = 0, n = 0;
    for (; done < bytes && got == n; done += got) {
        n = bytes - done < INBOX_PIECE ? bytes - done : INBOX_PIECE;
        const struct inbox_order order = {.what = DO_READ, .arg = {addr + done, n}};
        if (t->order(t->arg, &order, &err) ||
            inbox_read(t->inbox, (uint8_t *)out + done, n, &got, &err))
            break;
    }
    return done;
}

size_t talk_write(const struct talk *t, uint64_t addr, const void *bytes, size_t n)
{
    struct err err;
    size_t done = 0, put = 0, piece = 0;
    for (; done < n && put == piece; done += put) {
        piece = n - done < INBOX_PIECE ? n - done : INBOX_PIECE;
        const struct inbox_order order = {.what = DO_WRITE,
                                          .arg = {addr + done, piece},
                                          .data = (const uint8_t *)bytes + done,
                                          .bytes = piece};
        if (t->order(t->arg, &order, &err) || inbox_written(t->inbox, piece, &put, &err))
            break;
    }
    return done;
}
