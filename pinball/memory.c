/* memory.c - a process's memory as records. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pinball/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pinball/records.h"

enum { PAGE = 4096, BATCH = 4096, PAGES = 8 };

#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)
#define OF_FILE (1ull << 61)

struct reading {
    int mem, pagemap; /* of the process */
    bool of_file;     /* the mapping that is read: a page without record is not zeros there */
    int (*put)(void *arg, const struct record *r, struct err *err);
    void *arg;
};

static bool is_zero(const uint8_t *at, size_t bytes)
{
    return !at[0] && !memcmp(at, at + 1, bytes - 1);
}

/* Up to PAGES pages. */
static int put_pages(const struct reading *c, uint64_t start, uint64_t bytes, struct err *err)
{
    struct {
        struct record_data d;
        uint8_t data[PAGES * PAGE];
    } r = {.d = {.r = {.kind = RECORD_DATA}, .addr = start, .bytes = bytes}};
    if (pread(c->mem, r.data, bytes, (off_t)start) != (ssize_t)bytes)
        return err_set(err, "memory at 0x%" PRIx64 ": %m", start);
    if (!c->of_file && is_zero(r.data, bytes))
        return 0;
    r.d.r.bytes = (uint32_t)(sizeof r.d + bytes);
    return c->put(c->arg, &r.d.r, err);
}

static int put_entries(const struct reading *c, const uint64_t *entry, size_t n, uint64_t start,
                       struct err *err)
{
    for (size_t i = 0, run = 0; i <= n; i++) {
        const bool own =
            i < n && (entry[i] & (PRESENT | SWAPPED)) && !(entry[i] & OF_FILE) && run < PAGES;
        if (own) {
            run++;
            continue;
        }
        if (run && put_pages(c, start + (i - run) * PAGE, run * PAGE, err))
            return -1;
        if (run == PAGES)
            i--; /* this one has not been looked at */
        run = 0;
    }
    return 0;
}

static int put_map(struct reading *c, const struct record_map *m, struct err *err)
{
    uint64_t entry[BATCH];
    const uint64_t end = m->start + m->bytes;
    c->of_file = m->file != MAP_FILE_NONE || m->object;
    for (uint64_t at = m->start; at < end;) {
        uint64_t n = (end - at) / PAGE < BATCH ? (end - at) / PAGE : BATCH;
        ssize_t got = pread(c->pagemap, entry, n * 8, (off_t)(at / PAGE * 8));
        if (got < 8)
            return err_set(err, "memory at 0x%" PRIx64 " cannot be listed: %m", at);
        n = (uint64_t)got / 8;
        if (put_entries(c, entry, n, at, err))
            return -1;
        at += n * PAGE;
    }
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

static int put_all(struct reading *c, const struct memory_list *list, struct err *err)
{
    const uint8_t *stop = (const uint8_t *)list->records + list->bytes;
    uint64_t above = 0; /* so no page is written twice */
    for (const struct record *r = records_first(list->records, list->bytes); r;
         r = records_next(r, stop)) {
        const struct record_map *m = (const struct record_map *)r;
        if (r->kind != RECORD_MAP || r->bytes < sizeof *m)
            continue;
        if (m->start % PAGE || m->bytes % PAGE || m->start >> 47 || m->bytes >> 47 ||
            m->start < above)
            return err_set(err, "the process talks nonsense: the address of a mapping");
        if (put_map(c, m, err))
            return -1;
        above = m->start + m->bytes;
    }
    return 0;
}

int memory_put(pid_t pid, const struct memory_list *list,
               int (*put)(void *arg, const struct record *r, struct err *err), void *arg,
               struct err *err)
{
    struct reading c = {.put = put, .arg = arg, .pagemap = -1};
    c.mem = open_of(pid, "mem", err);
    if (c.mem >= 0)
        c.pagemap = open_of(pid, "pagemap", err);
    int bad = c.pagemap < 0 ? -1 : put_all(&c, list, err);
    if (c.mem >= 0)
        close(c.mem);
    if (c.pagemap >= 0)
        close(c.pagemap);
    return bad;
}
