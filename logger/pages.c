/* pages.c - which pages a process has written. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "logger/pages.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/rt/maplist.h"

/* Looking is bounded, too: it leaves out reservations of terabytes (sanitizers, garbage
 * collectors), and looks at so many of the other pages each time. */
enum { PAGE = 4096, BATCH = 512, MOST_BYTES = 16 << 20, MOST_LOOKS = 64 << 10 };
#define HUGE_BYTES (64ull << 30)

#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)
#define OF_FILE (1ull << 61)

struct search {
    struct ring_pages *out;
    size_t room, count;
    uint64_t left;  /* bytes that may still be listed ... */
    uint64_t looks; /* ... and pages looked at */
};

static bool full(const struct search *s)
{
    return s->count == s->room || s->left < PAGE || !s->looks;
}

static void add(struct search *s, uint64_t page)
{
    struct ring_pages *last = s->count ? &s->out[s->count - 1] : NULL;
    s->left -= PAGE;
    if (last && last->start + last->bytes == page)
        last->bytes += PAGE;
    else
        s->out[s->count++] = (struct ring_pages){page, PAGE};
}

/* Returns where it stopped: `end`, or the first page that there was no room for. */
static uint64_t look(int pagemap, uint64_t start, uint64_t end, struct search *s)
{
    uint64_t entry[BATCH];
    while (start < end) {
        size_t n = (end - start) / PAGE < BATCH ? (size_t)((end - start) / PAGE) : BATCH;
        ssize_t got = pread(pagemap, entry, n * 8, (off_t)(start / PAGE * 8));
        if (got <= 0)
            return end;
        for (size_t i = 0; i < (size_t)got / 8; i++, start += PAGE) {
            if (full(s))
                return start;
            s->looks--;
            if ((entry[i] & (PRESENT | SWAPPED)) && !(entry[i] & OF_FILE))
                add(s, start);
        }
    }
    return end;
}

size_t pages_written(pid_t pid, uint64_t not_from, uint64_t not_to, uint64_t *next,
                     struct ring_pages *out, size_t room)
{
    struct search s = {.out = out, .room = room, .left = MOST_BYTES, .looks = MOST_LOOKS};
    struct maplist maps;
    struct maplist_entry e;
    char path[64], lines[4096];
    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
    int pagemap = open(path, O_RDONLY | O_CLOEXEC);
    const bool listed = pagemap >= 0 && !maplist_open(&maps, (int)pid, lines, sizeof lines);
    uint64_t at = *next;
    *next = 0;
    while (listed && maplist_next(&maps, &e)) {
        if (!(e.prot & PROT_WRITE) || e.shared || e.end <= at || e.end - e.start > HUGE_BYTES ||
            (e.start < not_to && e.end > not_from))
            continue;
        uint64_t stopped = look(pagemap, e.start < at ? at : e.start, e.end, &s);
        if (stopped < e.end) {
            *next = stopped;
            break;
        }
    }
    if (listed)
        maplist_close(&maps);
    if (pagemap >= 0)
        close(pagemap);
    return s.count;
}
