/* checkpoints.c - copies of a replaying process. SPDX-License-Identifier: MIT */
#include "replayer/checkpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"

enum { MARKS = 64, NEIGHBOURS = 24, FIRST_APART_MS = 200, MEASURED_EVERY = 8 };

void checkpoints_init(struct checkpoints *c, uint64_t memory_bytes)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t share = machine / 4 < memory_limit() / 2 ? machine / 4 : memory_limit() / 2;
    *c = (struct checkpoints){.memory_bytes = memory_bytes ? memory_bytes : share,
                              .apart_ns = FIRST_APART_MS * 1000000ull};
}

void checkpoints_deinit(struct checkpoints *c)
{
    for (size_t i = 0; i < c->count; i++)
        replay_free(c->list[i].replay);
    free(c->list);
    *c = (struct checkpoints){0};
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int checkpoints_compare(const struct mailbox_moment *a, const struct mailbox_moment *b)
{
    int by = order(a->events, b->events);
    by = by ? by : order(a->count, b->count);
    by = by ? by : order(a->pc, b->pc);
    return by ? by : order(a->stage, b->stage);
}

int checkpoints_before(const struct checkpoints *c, const struct mailbox_moment *at, bool or_at)
{
    int i = (int)c->count - 1;
    while (i >= 0 && checkpoints_compare(&c->list[i].at, at) >= (or_at ? 1 : 0))
        i--;
    return i;
}

static void drop(struct checkpoints *c, size_t i)
{
    replay_free(c->list[i].replay);
    memmove(&c->list[i], &c->list[i + 1], (c->count - i - 1) * sizeof *c->list);
    c->count--;
}

void checkpoints_drop_gone(struct checkpoints *c)
{
    for (size_t i = c->count; i-- > 0;)
        if (replay_gone(c->list[i].replay))
            drop(c, i);
}

static size_t count_kind(const struct checkpoints *c, enum checkpoint_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        n += c->list[i].kind == kind;
    return n;
}

static void drop_oldest_neighbour(struct checkpoints *c)
{
    size_t oldest = c->count;
    for (size_t i = 0; i < c->count; i++)
        if (c->list[i].kind == CHECKPOINT_NEIGHBOUR &&
            (oldest == c->count || c->list[i].serial < c->list[oldest].serial))
            oldest = i;
    if (oldest < c->count)
        drop(c, oldest);
}

static void drop_every_other_mark(struct checkpoints *c)
{
    bool keep = true;
    for (size_t i = 0; i < c->count;) {
        bool mark = c->list[i].kind == CHECKPOINT_MARK;
        keep = mark ? !keep : keep;
        if (mark && !keep)
            drop(c, i);
        else
            i++;
    }
    c->apart_ns *= 2;
}

/* What they take together: the kernel divides what is shared among those who share it. */
static uint64_t memory_used(const struct checkpoints *c)
{
    uint64_t bytes = 0;
    const struct memory_line line = {"Pss", &bytes};
    for (size_t i = 0; i < c->count; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)replay_pid(c->list[i].replay));
        memory_lines(path, &line, 1);
    }
    return bytes;
}

static void keep_limits(struct checkpoints *c)
{
    while (count_kind(c, CHECKPOINT_NEIGHBOUR) > NEIGHBOURS)
        drop_oldest_neighbour(c);
    if (count_kind(c, CHECKPOINT_MARK) > MARKS)
        drop_every_other_mark(c);
    if (c->serial % MEASURED_EVERY)
        return;
    while (memory_used(c) > c->memory_bytes) {
        if (count_kind(c, CHECKPOINT_NEIGHBOUR) > 2)
            drop_oldest_neighbour(c);
        else if (count_kind(c, CHECKPOINT_MARK) > 1)
            drop_every_other_mark(c);
        else
            return;
    }
}

int checkpoints_add(struct checkpoints *c, struct replay *from, const struct checkpoint *what,
                    struct err *err)
{
    int before = checkpoints_before(c, &what->at, true);
    if (before >= 0 && checkpoints_compare(&c->list[before].at, &what->at) == 0) {
        if (what->kind == CHECKPOINT_BEGIN)
            c->list[before].kind = CHECKPOINT_BEGIN;
        return 0;
    }
    if (array_reserve(&c->list, &c->room, c->count + 1))
        return err_set(err, "no memory");
    struct replay *copy = replay_copy(from, err);
    if (!copy)
        return -1;
    size_t i = (size_t)(before + 1);
    memmove(&c->list[i + 1], &c->list[i], (c->count - i) * sizeof *c->list);
    c->list[i] = *what;
    c->list[i].replay = copy;
    c->list[i].serial = ++c->serial;
    c->count++;
    keep_limits(c);
    return 0;
}
