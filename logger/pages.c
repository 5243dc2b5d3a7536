/* pages.c - which pages a process has written. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "logger/pages.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Looking is bounded, too: reservations of terabytes (sanitizers, garbage collectors) are left out,
 * and of the rest so many pages are looked at each time. */
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
    char path[64], line[512], perms[8];
    unsigned long long start, end;
    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
    int pagemap = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = pagemap < 0 ? NULL : fopen(path, "re");
    uint64_t at = *next;
    *next = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%llx-%llx %7s", &start, &end, perms) != 3 || perms[1] != 'w' ||
            perms[3] != 'p' || end <= at || end - start > HUGE_BYTES ||
            (start < not_to && end > not_from))
            continue;
        if (start < at)
            start = at;
        uint64_t stopped = look(pagemap, start, end, &s);
        if (stopped < end) {
            *next = stopped;
            break;
        }
    }
    if (maps)
        fclose(maps);
    if (pagemap >= 0)
        close(pagemap);
    return s.count;
}
