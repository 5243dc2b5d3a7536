/* range.c - the address ranges the runtime owns. SPDX-License-Identifier: MIT */
#include "engine/rt/range.h"

#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { RANGES = 1024, STEP = 1 << 20 };

#define REACH (1800ull << 20)

static struct range ranges[RANGES];
static size_t range_count;
static gaddr home; /* where the runtime lies */
static gaddr cursor;
static uint8_t *heap_pos, *heap_end;

static void note(gaddr start, gaddr end)
{
    for (size_t i = 0; i < range_count; i++) {
        if (ranges[i].end == start) {
            ranges[i].end = end;
            return;
        }
        if (ranges[i].start == end) {
            ranges[i].start = start;
            return;
        }
    }
    if (range_count == RANGES)
        rt_die("engine: more than %d address ranges", RANGES);
    ranges[range_count++] = (struct range){start, end};
}

void range_init(gaddr base, uint64_t bytes)
{
    home = cursor = base;
    note(base, base + bytes);
}

static void *map_below(gaddr *from, gaddr home_of, uint64_t bytes, int prot)
{
    bytes = PAGE_UP(bytes);
    for (gaddr at = PAGE_DOWN(*from - bytes); at <= *from && home_of - at < REACH; at -= STEP) {
        long r = sys6(__NR_mmap, (long)at, (long)bytes, prot,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (!SYS_FAILED(r) && (gaddr)r == at) {
            *from = at;
            note(at, at + bytes);
            return (void *)at;
        }
        if (!SYS_FAILED(r))
            sys2(__NR_munmap, r, (long)bytes); /* a kernel older than NOREPLACE took it as a hint */
    }
    return NULL;
}

void *range_alloc(uint64_t bytes)
{
    void *p = map_below(&cursor, home, PAGE_UP(bytes), PROT_READ | PROT_WRITE);
    if (!p)
        rt_die("engine: no address space for %lu bytes", (unsigned long)bytes);
    return p;
}

void range_free(void *p, uint64_t bytes)
{
    gaddr start = (gaddr)p, end = start + PAGE_UP(bytes);
    for (size_t i = 0; i < range_count; i++) {
        struct range *r = &ranges[i];
        if (start < r->start || end > r->end)
            continue;
        if (r->end == end)
            r->end = start;
        else if (r->start == start)
            r->start = end;
        else {
            gaddr tail = r->end;
            r->end = start;
            note(end, tail);
        }
        break;
    }
    sys2(__NR_munmap, (long)start, (long)(end - start));
    if (start == cursor)
        cursor = end;
}

void *range_alloc_near(gaddr near, uint64_t bytes, bool code)
{
    int prot = PROT_READ | PROT_WRITE | (code ? PROT_EXEC : 0);
    if (!near)
        return map_below(&cursor, home, bytes, prot);
    gaddr from = near - (16 << 20);
    return near > (1ull << 32) ? map_below(&from, near, bytes, prot) : NULL;
}

void *range_heap(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if ((size_t)(heap_end - heap_pos) < bytes) {
        size_t chunk = bytes > 1 << 20 ? bytes : 1 << 20;
        heap_pos = range_alloc(chunk);
        heap_end = heap_pos + chunk;
    }
    void *p = heap_pos;
    heap_pos += bytes;
    return p;
}

size_t range_list(const struct range **list)
{
    *list = ranges;
    return range_count;
}

bool range_overlaps(gaddr start, gaddr end)
{
    for (size_t i = 0; i < range_count; i++)
        if (start < ranges[i].end && end > ranges[i].start)
            return true;
    return false;
}
