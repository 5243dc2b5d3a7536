/* replay_state.c - what a replay looks like while it is stopped. SPDX-License-Identifier: MIT */
#include <string.h>

#include "replayer/replay_int.h"
#include "replayer/replay_private.h"

enum { MAPS_MOST = 1 << 20 }; /* what a kernel can be set to allow is less */

static int no_thread(uint32_t thread, struct err *err)
{
    return err_set(err, "thread %u: not there", thread);
}

/* ---- what the timeline needs ---- */

int replay_set_stops(struct replay *r, const void *stops, size_t bytes, struct err *err)
{
    const struct inbox_order order = {.what = DO_STOPS, .data = stops, .bytes = bytes};
    bool done = false;
    if (bytes <= inbox_room() &&
        (replay_command(r, &order, err) || inbox_done(r->inbox, &done, err)))
        return -1;
    return done ? 0 : err_set(err, "too many breakpoints");
}

int replay_fence(struct replay *r, const struct mailbox_fence *fence, struct err *err)
{
    const struct inbox_order order = {.what = DO_FENCE, .data = fence, .bytes = sizeof *fence};
    bool done;
    return replay_command(r, &order, err) || inbox_done(r->inbox, &done, err) ? -1 : done;
}

int replay_trail(struct replay *r, struct mailbox_moment *out, size_t *count, struct err *err)
{
    const struct inbox_order order = {.what = DO_TRAIL};
    return replay_command(r, &order, err) || inbox_trail(r->inbox, out, count, err) ? -1 : 0;
}

int replay_divert(struct replay *r, struct err *err)
{
    const struct inbox_order order = {.what = DO_DIVERT};
    return replay_command(r, &order, err);
}

/* ---- threads ---- */

int replay_set_registers(struct replay *r, uint32_t thread, const struct program_registers *regs,
                         struct err *err)
{
    struct mailbox_registers m = {
        .rip = regs->rip, .rflags = regs->rflags, .xsave_bytes = (uint32_t)regs->xsave_bytes};
    const struct inbox_order order = {
        .what = DO_SET, .arg = {thread}, .data = &m, .bytes = sizeof m};
    bool done;
    memcpy(m.gpr, regs->gpr, sizeof m.gpr);
    memcpy(m.xsave, regs->xsave, sizeof m.xsave);
    if (replay_command(r, &order, err) || inbox_done(r->inbox, &done, err))
        return -1;
    return done ? 0 : no_thread(thread, err);
}

int replay_registers(struct replay *r, uint32_t thread, struct program_registers *out,
                     struct err *err)
{
    const struct inbox_order order = {.what = DO_REGISTERS, .arg = {thread}};
    if (replay_command(r, &order, err))
        return -1;
    int there = inbox_registers(r->inbox, thread, out, err);
    return there > 0 ? 0 : there < 0 ? -1 : no_thread(thread, err);
}

size_t replay_threads(struct replay *r, struct program_thread *out, size_t room)
{
    const struct inbox_order order = {.what = DO_THREADS};
    struct err err;
    size_t count;
    uint32_t made;
    if (replay_command(r, &order, &err) || inbox_threads(r->inbox, out, room, &count, &made, &err))
        return 0;
    return count;
}

int replay_thread_state(struct replay *r, uint32_t thread, struct program_registers *registers,
                        int *state, struct err *err)
{
    const struct inbox_order ask = {.what = DO_REGISTERS, .arg = {thread}};
    const struct inbox_order list = {.what = DO_THREADS};
    size_t count;
    uint32_t made;
    *state = 0;
    if (replay_command(r, &ask, err))
        return -1;
    int there = inbox_registers(r->inbox, thread, registers, err);
    if (there)
        return there < 0 ? -1 : 0;
    if (replay_command(r, &list, err) || inbox_threads(r->inbox, NULL, 0, &count, &made, err))
        return -1;
    *state = thread > made ? -1 : 1;
    return 0;
}

/* ---- memory ---- */

size_t replay_read(struct replay *r, uint64_t addr, void *out, size_t bytes)
{
    struct err err;
    size_t done = 0, got = 0, n = 0;
    for (; done < bytes && got == n; done += got) {
        n = bytes - done < INBOX_PIECE ? bytes - done : INBOX_PIECE;
        const struct inbox_order order = {.what = DO_READ, .arg = {addr + done, n}};
        if (replay_command(r, &order, &err) ||
            inbox_read(r->inbox, (uint8_t *)out + done, n, &got, &err))
            break;
    }
    return done;
}

size_t replay_write(struct replay *r, uint64_t addr, const void *bytes, size_t n)
{
    struct err err;
    size_t done = 0, put = 0, piece = 0;
    for (; done < n && put == piece; done += put) {
        piece = n - done < INBOX_PIECE ? n - done : INBOX_PIECE;
        const struct inbox_order order = {.what = DO_WRITE,
                                          .arg = {addr + done, piece},
                                          .data = (const uint8_t *)bytes + done,
                                          .bytes = piece};
        if (replay_command(r, &order, &err) || inbox_written(r->inbox, piece, &put, &err))
            break;
    }
    return done;
}

size_t replay_maps(struct replay *r, struct program_map *out, size_t room)
{
    struct program_map piece[INBOX_MAPS];
    struct err err;
    uint64_t above = 0;
    size_t done = 0, n = 1;
    while (n && done < MAPS_MOST) {
        const struct inbox_order order = {.what = DO_MAPS, .arg = {done}};
        if (replay_command(r, &order, &err) || inbox_maps(r->inbox, above, piece, &n, &err))
            break;
        for (size_t i = 0; i < n; i++, done++)
            if (done < room)
                out[done] = piece[i];
        above = n ? piece[n - 1].end : above;
    }
    return done;
}

int replay_state(struct replay *r, enum mailbox_state what, struct err *err)
{
    return replay_command(r, &(struct inbox_order){.what = DO_STATE, .arg = {what}}, err);
}

void replay_image(const struct replay *r, uint64_t *chunk, uint64_t *offset)
{
    *chunk = r->begun_chunk;
    *offset = r->begun_offset;
}
