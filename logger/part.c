/* part.c - the recorder's work for a recording of a part of the run. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "logger/part.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "logger/group.h"
#include "pinball/memory.h"
#include "pinball/text.h"
#include "pinball/writer.h"

enum { ROOM = 1 << 20, HELD_MOST = 256 << 20 };

bool part_begins(const struct recorder *r)
{
    return r->what->region && r->part.state_bytes && !r->part.begun;
}

int part_state(struct recorder *r, const void *records, size_t bytes, struct err *err)
{
    struct part *p = &r->part;
    if (p->begun)
        return 0;
    if (array_reserve(&p->state, &p->state_room, p->state_bytes + bytes))
        return err_set(err, "no memory");
    memcpy(p->state + p->state_bytes, records, bytes);
    p->state_bytes += bytes;
    return 0;
}

/* ---- memory ---- */

static int flush(struct recorder *r, struct err *err)
{
    struct part *p = &r->part;
    if (!p->memory_bytes)
        return 0;
    summary_add(&r->out->summary, p->memory, p->memory_bytes);
    int bad = writer_events(r->writer, p->memory, p->memory_bytes, p->memory_records, err);
    p->records += p->memory_records;
    p->memory_bytes = p->memory_records = 0;
    p->chunks += !bad;
    return bad;
}

static int put(void *arg, const struct record *record, struct err *err)
{
    struct recorder *r = arg;
    struct part *p = &r->part;
    if (p->memory_bytes + record->bytes > ROOM && flush(r, err))
        return -1;
    memcpy(p->memory + p->memory_bytes, record, record->bytes);
    p->memory_bytes += record->bytes;
    p->memory_records++;
    return 0;
}

static int begin(struct recorder *r, pid_t twin, struct err *err)
{
    struct part *p = &r->part;
    if (recorder_drain(r, false, err))
        return -1;
    p->begun = true;
    p->twin = twin;
    const struct memory_list list = {
        .records = p->state, .bytes = p->state_bytes, .objects = true, .absent = !twin};
    if (!(p->memory = malloc(ROOM)))
        return err_set(err, "no memory");
    r->ring->memory.state = MEMORY_BEGUN;
    p->walk = memory_walk_new(twin ? twin : r->pid, &list, err);
    return p->walk ? 0 : -1;
}

/* Only a child of ours can be waited for: the program does not say whom to kill. */
static void end_child(pid_t pid)
{
    int status;
    if (pid <= 0 || waitpid(pid, &status, WNOHANG | __WALL) != 0)
        return;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
}

/* Nothing of it is needed any more. */
static void end_walk(struct part *p)
{
    memory_walk_free(p->walk);
    p->walk = NULL;
    end_child(p->twin);
    p->twin = 0;
    free(p->memory);
    free(p->state);
    p->memory = p->state = NULL;
    p->state_bytes = p->state_room = 0;
}

static void drop_held(struct part *p)
{
    for (size_t i = 0; i < p->held_count; i++)
        free(p->held[i].records);
    free(p->held);
    p->held = NULL;
    p->held_count = 0;
    p->held_bytes = 0;
}

static int write_held(struct recorder *r, struct err *err)
{
    for (size_t i = 0; i < r->part.held_count; i++) {
        const struct held *h = &r->part.held[i];
        if (writer_events(r->writer, h->records, h->bytes, h->count, err))
            return -1;
        summary_add(&r->out->summary, h->records, h->bytes);
    }
    return 0;
}

/* A recorder that is killed before the state is written leaves no begin: recover.c. */
static int complete(struct recorder *r, struct err *err)
{
    int bad = flush(r, err);
    end_walk(&r->part);
    if (!bad)
        bad = write_held(r, err);
    drop_held(&r->part);
    r->ring->memory.chunks = r->part.chunks;
    r->ring->memory.records = r->part.records;
    if (!bad)
        __atomic_store_n(&r->ring->memory.state, MEMORY_WRITTEN, __ATOMIC_RELEASE);
    recorder_answer(r);
    return bad;
}

static void give_up(struct recorder *r, const struct err *why)
{
    end_walk(&r->part);
    drop_held(&r->part);
    recorder_stop(r, why);
}

bool part_step(struct recorder *r)
{
    struct err err;
    if (!r->part.walk)
        return false;
    int more = memory_walk_some(r->part.walk, put, r, &err);
    if (more == 0)
        more = complete(r, &err);
    if (more < 0)
        give_up(r, &err);
    return more > 0;
}

void part_finish(struct recorder *r)
{
    while (part_step(r))
        ;
}

bool part_lacks_begin(const struct recorder *r)
{
    return r->what->region && r->what->from[r->index] && r->ring->memory.state != MEMORY_WRITTEN;
}

void part_serve_memory(struct recorder *r)
{
    struct err err = {0};
    const pid_t twin = r->ring->keep.fd;
    r->part.twin = twin;
    if (!r->full && !r->part.begun && begin(r, twin, &err))
        give_up(r, &err);
    if (r->full)
        end_walk(&r->part);
    if (!twin)
        part_finish(r);
    __atomic_store_n(&r->ring->keep.state, KEEP_DONE, __ATOMIC_RELEASE);
    recorder_answer(r);
    if (!r->full && writer_keep_flush(r->writer, &err))
        recorder_stop(r, &err);
}

void part_reset(struct recorder *r)
{
    end_walk(&r->part);
    drop_held(&r->part);
    r->part = (struct part){0};
}

void part_deinit(struct recorder *r)
{
    part_reset(r);
    free(r->place);
}

/* ---- segments that wait ---- */

bool part_holds(const struct recorder *r)
{
    return r->part.walk;
}

bool part_holds_most(const struct recorder *r)
{
    return r->part.walk && r->part.held_bytes >= HELD_MOST;
}

int part_hold(struct recorder *r, const void *records, size_t bytes, uint64_t count,
              struct err *err)
{
    struct part *p = &r->part;
    const struct held h = {malloc(bytes), bytes, count};
    if (!h.records || array_append(&p->held, &p->held_count, h)) {
        free(h.records);
        return err_set(err, "no memory");
    }
    memcpy(h.records, records, bytes);
    p->held_bytes += bytes;
    return 0;
}

/* ---- triggers ---- */

/* The one that the program waits for; NULL: it waits for none of these. */
static struct trigger *waited_for(const struct recorder *r)
{
    struct trigger_region *g = &r->ring->region;
    const uint32_t begun = __atomic_load_n(&g->begun, __ATOMIC_ACQUIRE);
    const uint32_t ended = __atomic_load_n(&g->ended, __ATOMIC_ACQUIRE);
    const uint32_t number = 2 * ended + (begun > ended);
    struct trigger *t = number < 2 * g->parts ? trigger_of(g, number) : NULL;
    return t && t->kind == TRIGGER_FIRED && !t->fired ? t : NULL;
}

/* The program may be asleep. */
static void poke(struct recorder *r)
{
    __atomic_add_fetch(&r->ring->poke, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &r->ring->poke, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

void part_end_sentry(struct recorder *r)
{
    const pid_t sentry = r->ring->sentry;
    if (sentry != r->pid)
        end_child(sentry);
    r->ring->sentry = 0;
}

uint64_t part_fire(struct recorder *r, uint64_t since_ns)
{
    enum { SECOND = 1000000000 };
    struct trigger *t = waited_for(r);
    if (!t)
        return SECOND;
    const bool fires = t->number ? since_ns >= t->number : group_keys() > r->keys;
    if (fires) {
        r->keys += !t->number;
        __atomic_store_n(&t->fired, 1, __ATOMIC_RELEASE);
        poke(r);
        return SECOND;
    }
    return t->number && t->number - since_ns < SECOND ? t->number - since_ns : SECOND;
}

bool part_uses_key(const struct trigger_region *g)
{
    for (uint32_t i = 0; i < g->parts; i++)
        if ((g->part[i].from.kind == TRIGGER_FIRED && !g->part[i].from.number) ||
            (g->part[i].to.kind == TRIGGER_FIRED && !g->part[i].to.number))
            return true;
    return false;
}

void part_head(const struct recorder *r, struct text *text)
{
    const uint32_t parts = r->what->region->parts;
    if (r->what->from && r->what->from[r->index])
        text_add(text, "region_from", r->what->from[r->index]);
    if (r->what->to && r->what->to[r->index])
        text_add(text, "region_to", r->what->to[r->index]);
    if (r->what->box_fd && r->index >= r->what->region->begun)
        text_add(text, "region_from", "pin record on");
    if (parts > 1 && !r->what->box_fd)
        text_addf(text, "region_part", "%u of %u", r->index + 1, parts);
}

/* ---- names ---- */

/* The file's name as the program has it. */
static const char *wanted_path(const struct recorder *r, char *buf, size_t room)
{
    char link[64];
    if (r->ring->keep.fd < 0) {
        snprintf(buf, room, "%.*s", (int)sizeof r->ring->keep.path, r->ring->keep.path);
        return buf;
    }
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)r->pid, (int)r->ring->keep.fd);
    const ssize_t n = readlink(link, buf, room - 1);
    buf[n > 0 ? n : 0] = 0;
    return buf;
}

static void find_places(struct recorder *r)
{
    char path[sizeof r->ring->keep.path];
    const int fd = recorder_open_wanted(r);
    const struct recording_module module = {.path = wanted_path(r, path, sizeof path),
                                            .fd = fd,
                                            .start = r->ring->file_at,
                                            .end = r->ring->file_at + r->ring->keep.bytes,
                                            .offset = r->ring->keep.offset};
    size_t room = RING_PLACES;
    r->places = 0;
    for (bool fits = fd < 0; !fits;) {
        struct ring_place *larger = realloc(r->place, room * sizeof *larger);
        if (!larger)
            break;
        r->place = larger;
        r->places = r->what->places(r->what->arg, &module, r->place, room);
        fits = r->places <= room;
        room = r->places;
    }
    if (fd >= 0)
        close(fd);
}

void part_serve_places(struct recorder *r)
{
    const size_t skip = r->ring->keep.skip;
    if (!skip)
        find_places(r);
    size_t n = r->places > skip ? r->places - skip : 0;
    n = n < RING_PLACES ? n : RING_PLACES;
    if (n)
        memcpy(r->ring->keep.places, r->place + skip, n * sizeof *r->place);
    r->ring->keep.size = r->places;
    __atomic_store_n(&r->ring->keep.state, KEEP_DONE, __ATOMIC_RELEASE);
    recorder_answer(r);
}

void part_serve_loaded(struct recorder *r)
{
    __atomic_store_n(&r->ring->keep.state, KEEP_DONE, __ATOMIC_RELEASE);
    recorder_answer(r);
    r->what->loaded(r->what->arg);
}
