/* memory.c - a process's memory as records. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pinball/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "pinball/records.h"

enum { PAGE = 4096, BATCH = 4096, PIECE = 256, PAGES = 8, SHARED = 1 /* of mmap */, READS = 1 };

#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)
#define OF_FILE (1ull << 61)

/* A piece of a shared object that was read. */
struct seen {
    uint32_t object;
    uint64_t from, to;
};

struct memory_walk {
    int mem, pagemap; /* of the process */
    struct memory_list list;
    const struct record *next;
    struct record_map map; /* that is being read ... */
    uint64_t at;           /* ... from here on; map.bytes 0: none is */
    uint64_t above;        /* so no page is written twice */
    struct seen *seen;
    size_t seen_count;
    memory_put_fn *put;
    void *arg;
};

static bool is_zero(const uint8_t *at, size_t bytes)
{
    return !at[0] && !memcmp(at, at + 1, bytes - 1);
}

static bool is_object(const struct memory_walk *w)
{
    return w->map.object && (w->map.flags & SHARED);
}

/* A private mapping of a file or an object: a page without record is not zeros there. */
static bool is_of_file(const struct memory_walk *w)
{
    return !is_object(w) && (w->map.file != MAP_FILE_NONE || w->map.object);
}

/* Shared memory may end before its mapping does. */
static int cannot_read(const struct memory_walk *w, uint64_t start, struct err *err)
{
    return is_object(w) ? 0 : err_set(err, "memory at 0x%" PRIx64 ": %m", start);
}

/* Up to PAGES pages. */
static int put_pages(const struct memory_walk *w, uint64_t start, uint64_t bytes, struct err *err)
{
    union {
        struct {
            struct record_data d;
            uint8_t data[PAGES * PAGE];
        } private;
        struct {
            struct record_object o;
            uint8_t data[PAGES * PAGE];
        } shared;
    } r;
    uint8_t *data = is_object(w) ? r.shared.data : r.private.data;
    if (pread(w->mem, data, bytes, (off_t)start) != (ssize_t)bytes)
        return cannot_read(w, start, err);
    if (is_zero(data, bytes) && !is_of_file(w))
        return 0;
    if (is_object(w)) {
        r.shared.o = (struct record_object){.r = {.kind = RECORD_OBJECT},
                                            .object = w->map.object,
                                            .offset = w->map.offset + (start - w->map.start),
                                            .bytes = bytes};
        r.shared.o.r.bytes = (uint32_t)(sizeof r.shared.o + bytes);
        return w->put(w->arg, &r.shared.o.r, err);
    }
    r.private.d = (struct record_data){.r = {.kind = RECORD_DATA}, .addr = start, .bytes = bytes};
    r.private.d.r.bytes = (uint32_t)(sizeof r.private.d + bytes);
    return w->put(w->arg, &r.private.d.r, err);
}

static bool is_wanted(const struct memory_walk *w, uint64_t entry)
{
    if (is_object(w))
        return w->list.absent || (entry & (PRESENT | SWAPPED));
    return (entry & (PRESENT | SWAPPED)) && !(entry & OF_FILE);
}

static int put_entries(const struct memory_walk *w, const uint64_t *entry, size_t n, uint64_t start,
                       struct err *err)
{
    for (size_t i = 0, run = 0; i <= n; i++) {
        if (i < n && is_wanted(w, entry[i]) && run < PAGES) {
            run++;
            continue;
        }
        if (run && put_pages(w, start + (i - run) * PAGE, run * PAGE, err))
            return -1;
        if (run == PAGES)
            i--; /* this one has not been looked at */
        run = 0;
    }
    return 0;
}

/* The next pages of the mapping. */
static int put_some(struct memory_walk *w, struct err *err)
{
    uint64_t entry[BATCH];
    const uint64_t end = w->map.start + w->map.bytes;
    uint64_t n = (end - w->at) / PAGE < BATCH ? (end - w->at) / PAGE : BATCH;
    ssize_t got = pread(w->pagemap, entry, n * 8, (off_t)(w->at / PAGE * 8));
    if (got < 8)
        return err_set(err, "memory at 0x%" PRIx64 " cannot be listed: %m", w->at);
    n = (uint64_t)got / 8;
    for (uint64_t i = 0, pages = 0; i < n; i++)
        if (is_wanted(w, entry[i]) && ++pages == PIECE)
            n = i + 1;
    if (put_entries(w, entry, n, w->at, err))
        return -1;
    w->at += n * PAGE;
    if (w->at >= end)
        w->map.bytes = 0;
    return 0;
}

/* Another mapping of the object may have shown the same. */
static bool was_seen(struct memory_walk *w, const struct record_map *m)
{
    const struct seen s = {m->object, m->offset, m->offset + m->bytes};
    for (size_t i = 0; i < w->seen_count; i++)
        if (w->seen[i].object == s.object && w->seen[i].from <= s.from && s.to <= w->seen[i].to)
            return true;
    (void)!array_append(&w->seen, &w->seen_count, s); /* without memory it is written twice */
    return false;
}

static int take_map(struct memory_walk *w, const struct record_map *m, struct err *err)
{
    if (m->start % PAGE || m->bytes % PAGE || m->start >> 47 || m->bytes >> 47 ||
        m->start < w->above)
        return err_set(err, "the process talks nonsense: the address of a mapping");
    w->above = m->start + m->bytes;
    w->map = *m;
    w->at = m->start;
    if (is_object(w) && (!w->list.objects || !(m->prot & READS) || was_seen(w, m)))
        w->map.bytes = 0;
    return 0;
}

static int open_of(pid_t pid, const char *name, struct err *err)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        err_set(err, "%s: %m", path);
    return fd;
}

struct memory_walk *memory_walk_new(pid_t pid, const struct memory_list *list, struct err *err)
{
    struct memory_walk *w = calloc(1, sizeof *w);
    if (!w) {
        err_set(err, "no memory");
        return NULL;
    }
    w->list = *list;
    w->next = records_first(list->records, list->bytes);
    w->pagemap = -1;
    w->mem = open_of(pid, "mem", err);
    if (w->mem >= 0)
        w->pagemap = open_of(pid, "pagemap", err);
    if (w->pagemap >= 0)
        return w;
    memory_walk_free(w);
    return NULL;
}

void memory_walk_free(struct memory_walk *walk)
{
    if (!walk)
        return;
    if (walk->mem >= 0)
        close(walk->mem);
    if (walk->pagemap >= 0)
        close(walk->pagemap);
    free(walk->seen);
    free(walk);
}

int memory_walk_some(struct memory_walk *w, memory_put_fn *put, void *arg, struct err *err)
{
    const uint8_t *stop = (const uint8_t *)w->list.records + w->list.bytes;
    w->put = put;
    w->arg = arg;
    while (!w->map.bytes) {
        const struct record_map *m = (const struct record_map *)w->next;
        if (!m)
            return 0;
        w->next = records_next(w->next, stop);
        if (m->r.kind == RECORD_MAP && m->r.bytes >= sizeof *m && take_map(w, m, err))
            return -1;
    }
    return put_some(w, err) ? -1 : 1;
}

int memory_put(pid_t pid, const struct memory_list *list, memory_put_fn *put, void *arg,
               struct err *err)
{
    struct memory_walk *w = memory_walk_new(pid, list, err);
    int more = w ? 1 : -1;
    while (more > 0)
        more = memory_walk_some(w, put, arg, err);
    memory_walk_free(w);
    return more;
}
