/* range.c - the address ranges the runtime owns. SPDX-License-Identifier: MIT */
#include "engine/rt/range.h"

#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { RANGES = 1024, STEP = 2 << 20 };

#define LARGE_PAGE (2ull << 20)

#define REACH (1800ull << 20)

static struct range ranges[RANGES];
static size_t range_count;
static gaddr home; /* where the runtime lies */
static gaddr cursor;
static gaddr reserved; /* [reserved, cursor) is set aside */
void (*range_far)(gaddr start, uint64_t bytes);
bool (*range_where)(gaddr near, uint64_t bytes, gaddr *start);
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

static long map(gaddr at, uint64_t bytes, int prot, int fixed)
{
    return sys6(__NR_mmap, (long)at, (long)bytes, prot,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

gaddr range_reserve(uint64_t bytes)
{
    for (; bytes >= 32 << 20; bytes /= 2) {
        gaddr at = cursor - bytes;
        long r = map(at, bytes, PROT_NONE, MAP_FIXED_NOREPLACE);
        if (!SYS_FAILED(r) && (gaddr)r == at) {
            note(at, cursor);
            reserved = at;
            break;
        }
    }
    return reserved ? reserved : cursor;
}

/* The highest place below `from`. A large range begins at a boundary of large pages, so that it can
 * have them. */
static gaddr place_below(gaddr from, uint64_t bytes)
{
    return (from - bytes) & ~((bytes < LARGE_PAGE ? PAGE_BYTES : LARGE_PAGE) - 1);
}

/* From what was set aside, if there is some left. */
static void *map_reserved(uint64_t bytes, int prot)
{
    gaddr at = place_below(cursor, bytes);
    if (!reserved || at < reserved || at > cursor || SYS_FAILED(map(at, bytes, prot, MAP_FIXED)))
        return NULL;
    cursor = at;
    return (void *)at;
}

static void *map_below(gaddr *from, gaddr home_of, uint64_t bytes, int prot)
{
    bytes = PAGE_UP(bytes);
    for (gaddr at = place_below(*from, bytes); at <= *from && home_of - at < REACH; at -= STEP) {
        long r = map(at, bytes, prot, MAP_FIXED_NOREPLACE);
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
    void *p = range_alloc_near(0, bytes, false);
    if (!p)
        rt_die("engine: no address space for %lu bytes", (unsigned long)bytes);
    return p;
}

void *range_table(uint64_t bytes)
{
    void *p = range_alloc(bytes);
    if (bytes >= LARGE_PAGE)
        sys3(__NR_madvise, (long)p, (long)bytes, MADV_HUGEPAGE);
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
    if (reserved && start >= reserved && end <= home) { /* stays ours */
        note(start, end);
        map(start, end - start, PROT_NONE, MAP_FIXED);
    } else {
        sys2(__NR_munmap, (long)start, (long)(end - start));
    }
    if (start == cursor)
        cursor = end;
}

void *range_alloc_near(gaddr near, uint64_t bytes, bool code)
{
    int prot = PROT_READ | PROT_WRITE | (code ? PROT_EXEC : 0);
    bytes = PAGE_UP(bytes);
    if (!near) {
        void *p = map_reserved(bytes, prot);
        return p || (reserved && range_where) ? p : map_below(&cursor, home, bytes, prot);
    }
    gaddr from = near - (16 << 20);
    if (range_where) {
        if (!range_where(near, bytes, &from))
            return NULL;
        note(from, from + bytes);
        return SYS_FAILED(map(from, bytes, prot, MAP_FIXED_NOREPLACE)) ? NULL : (void *)from;
    }
    void *p = near > (1ull << 32) ? map_below(&from, near, bytes, prot) : NULL;
    if (p && range_far)
        range_far((gaddr)p, bytes);
    return p;
}

void range_fill(uint8_t **ready, const uint8_t *pos, uint8_t *end)
{
    enum { STEP_BYTES = 128 << 10, NEAR_BYTES = 8 << 10, POPULATE_WRITE = 23 };
    if (*ready - pos > NEAR_BYTES || *ready == end)
        return;
    size_t bytes = end - *ready < STEP_BYTES ? (size_t)(end - *ready) : STEP_BYTES;
    sys3(__NR_madvise, (long)*ready, (long)bytes, POPULATE_WRITE); /* Linux 5.14; else faults do */
    *ready += bytes;
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
