/* replay_state.c - what a replay looks like while it is stopped. SPDX-License-Identifier: MIT */
#include <string.h>

#include "debug/talk.h"
#include "replayer/replay_int.h"
#include "replayer/replay_private.h"

enum { MAPS_MOST = 1 << 20 }; /* what a kernel can be set to allow is less */

static int order(void *arg, const struct inbox_order *what, struct err *err)
{
    return replay_command(arg, what, err);
}

static struct talk with(struct replay *r)
{
    return (struct talk){r->inbox, order, r};
}

/* ---- what the timeline needs ---- */

int replay_set_stops(struct replay *r, const void *stops, size_t bytes, struct err *err)
{
    const struct talk t = with(r);
    return talk_set_stops(&t, stops, bytes, err);
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
    const struct talk t = with(r);
    return talk_set_registers(&t, thread, regs, err);
}

int replay_registers(struct replay *r, uint32_t thread, struct program_registers *out,
                     struct err *err)
{
    const struct talk t = with(r);
    return talk_registers(&t, thread, out, err);
}

size_t replay_threads(struct replay *r, struct program_thread *out, size_t room)
{
    const struct talk t = with(r);
    return talk_threads(&t, out, room);
}

int replay_thread_state(struct replay *r, uint32_t thread, struct program_registers *registers,
                        int *state, struct err *err)
{
    const struct talk t = with(r);
    return talk_thread_state(&t, thread, registers, state, err);
}

/* ---- memory ---- */

size_t replay_read(struct replay *r, uint64_t addr, void *out, size_t bytes)
{
    const struct talk t = with(r);
    return talk_read(&t, addr, out, bytes);
}

size_t replay_write(struct replay *r, uint64_t addr, const void *bytes, size_t n)
{
    const struct talk t = with(r);
    return talk_write(&t, addr, bytes, n);
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
