/* space.c - the program's address space, as the replay makes it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Calls that changed the address space are made again, with the addresses they got then. Files
 * come, read-only, from the supervisor's one descriptor. Shared memory is an object of this process
 * (a memfd), so that several mappings of it still are one; no other process sees it.
 *
 * Pages of a mapping beyond the end of its file raised SIGBUS: here they are inaccessible, and the
 * log says which signal it was.
 */
#include "engine/core/engine.h"
#include "engine/os/maps.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/player.h"

enum { OBJECTS = 4096, MAP_TYPE_ = 0xf };

struct area {
    gaddr start, end;
    int prot;
    bool shared;
    uint32_t object; /* that it shows; 0: none */
    uint32_t file;   /* kept file that it was mapped from; MAP_FILE_NONE: none */
    uint64_t offset; /* in the object or file */
};

/* Sorted and disjoint, with the free room in the middle: calls that follow each other mostly change
 * neighbours, and a program may have 65,530 areas. */
static struct {
    struct area *list;
    int count, room;
    int gap; /* areas before the free room */
} areas;

static struct object {
    int fd; /* plus one; 0: not made yet */
    uint64_t bytes;
} * objects;

static gaddr heap_start, heap_end;
static gaddr stack_low; /* the lowest address that the first thread's stack may grow to; 0: none */

/* ---- the list ---- */

static struct area *area(int i)
{
    return &areas.list[i < areas.gap ? i : i + areas.room - areas.count];
}

static int index_of(gaddr addr) /* the first area that ends after addr */
{
    int lo = 0, hi = areas.count;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (area(mid)->end <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void move_gap(int to)
{
    struct area *behind = areas.list + (areas.room - areas.count);
    if (to < areas.gap)
        memmove(&behind[to], &areas.list[to], sizeof *behind * (size_t)(areas.gap - to));
    else
        memmove(&areas.list[areas.gap], &behind[areas.gap],
                sizeof *behind * (size_t)(to - areas.gap));
    areas.gap = to;
}

static void insert(int at, struct area a)
{
    if (areas.count == areas.room) {
        int room = areas.room ? 2 * areas.room : 4096;
        struct area *list = range_alloc((uint64_t)room * sizeof *list);
        memcpy(list, areas.list, (size_t)areas.count * sizeof *list);
        if (areas.room)
            range_free(areas.list, (uint64_t)areas.room * sizeof *list);
        areas.list = list;
        areas.room = room;
        areas.gap = areas.count;
    }
    move_gap(at);
    areas.list[areas.gap++] = a;
    areas.count++;
}

static struct area take_out(int at)
{
    struct area a = *area(at);
    move_gap(at);
    areas.count--;
    return a;
}

/* Where in its file or object an area is at `addr`. */
static uint64_t offset_at(const struct area *a, gaddr addr)
{
    return a->object || a->file != MAP_FILE_NONE ? a->offset + (addr - a->start) : 0;
}

static void cut(gaddr start, gaddr end)
{
    for (int i = index_of(start); i < areas.count && area(i)->start < end;) {
        struct area a = take_out(i);
        if (a.start < start) {
            struct area left = a;
            left.end = start;
            insert(i++, left);
        }
        if (a.end > end) {
            struct area right = a;
            right.start = end;
            right.offset = offset_at(&a, end);
            insert(i++, right);
        }
    }
}

static bool joins(const struct area *a, const struct area *b)
{
    return a->end == b->start && a->prot == b->prot && a->shared == b->shared && !a->object &&
           !b->object && a->file == b->file &&
           (a->file == MAP_FILE_NONE || a->offset + (a->end - a->start) == b->offset);
}

static void add(struct area a)
{
    cut(a.start, a.end);
    int i = index_of(a.start);
    if (i < areas.count && joins(&a, area(i))) {
        area(i)->start = a.start;
        area(i)->offset = a.offset;
    } else
        insert(i, a);
    if (i && joins(area(i - 1), area(i))) {
        area(i - 1)->end = area(i)->end;
        take_out(i);
    }
}

/* The stack is shown as far as it has grown: up to the first page that is there. */
static gaddr grown_to(gaddr start, gaddr end)
{
    static uint8_t present[4096];
    for (gaddr at = start; at < end;) {
        uint64_t pages = (end - at) / PAGE_BYTES;
        pages = pages < sizeof present ? pages : sizeof present;
        if (sys3(__NR_mincore, (long)at, (long)(pages * PAGE_BYTES), (long)present))
            return start;
        for (uint64_t i = 0; i < pages; i++)
            if (present[i] & 1)
                return at + i * PAGE_BYTES;
        at += pages * PAGE_BYTES;
    }
    return start;
}

int space_list(int from, struct mailbox_map *out, int room)
{
    int n = 0;
    for (; n < room && from >= 0 && from + n < areas.count; n++) {
        const struct area *a = area(from + n);
        out[n] = (struct mailbox_map){.start = a->start,
                                      .end = a->end,
                                      .prot = (uint32_t)a->prot,
                                      .shared = a->shared,
                                      .file = a->file == MAP_FILE_NONE ? -1 : (int64_t)a->file,
                                      .offset = a->offset};
        if (stack_low && a->start == stack_low)
            out[n].start = grown_to(a->start, a->end);
    }
    return n;
}

/* For maps.c: which of it is code. */
static void list_code(void (*fn)(struct region))
{
    for (int i = 0; i < areas.count; i++) {
        const struct area *a = area(i);
        if (a->prot & PROT_EXEC)
            fn((struct region){a->start, a->end, a->prot, a->shared});
    }
}

/* ---- mapping ---- */

static void must(long r, const char *what, gaddr at)
{
    if (SYS_FAILED(r))
        post_failed("%s at 0x%lx: error %ld", what, at, -r);
}

static void map(gaddr at, uint64_t bytes, int prot, int flags, int fd, uint64_t offset)
{
    if (!bytes)
        return;
    if (at >> 47 || bytes >> 47 || range_overlaps(at, at + bytes))
        post_failed("a mapping at 0x%lx lies where the program had none", at);
    must(sys6(__NR_mmap, (long)at, (long)bytes, prot, flags | MAP_FIXED | MAP_NORESERVE, fd,
              (long)offset),
         "mmap", at);
}

static uint64_t ask_file(uint32_t number)
{
    struct mailbox *box = post_box();
    box->arg[0] = number;
    post_ask(ASK_FILE);
    if (!box->arg[1])
        post_failed("file %u is not in the pinball", number);
    return box->arg[0];
}

static struct object *object_at(uint32_t number)
{
    if (!objects)
        objects = range_alloc(OBJECTS * sizeof *objects);
    if (number >= OBJECTS)
        post_failed("more than %d pieces of shared memory", OBJECTS);
    return &objects[number];
}

static void set_size(struct object *o, uint64_t bytes)
{
    if (bytes == o->bytes)
        return;
    must(sys2(__NR_ftruncate, o->fd - 1, (long)bytes), "ftruncate", bytes);
    o->bytes = bytes;
}

static void fill_object(const struct object *o, const struct record_map *m)
{
    uint64_t at = ask_file(m->file), bytes = PAGE_UP(m->size);
    gaddr from = (gaddr)range_alloc(bytes), to = (gaddr)range_alloc(bytes);
    must(sys6(__NR_mmap, (long)from, (long)bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED,
              (long)post_box()->files_fd, (long)at),
         "mmap", m->start);
    must(sys6(__NR_mmap, (long)to, (long)bytes, PROT_WRITE, MAP_SHARED | MAP_FIXED, o->fd - 1, 0),
         "mmap", m->start);
    memcpy((void *)to, (const void *)from, m->size);
    range_free((void *)to, bytes);
    range_free((void *)from, bytes);
}

/* The object's memory, filled from its file when it is first met. Its size is the file's: what lies
 * behind it raises SIGBUS here as it did there. */
static int object_fd(const struct record_map *m)
{
    struct object *o = object_at(m->object);
    bool new = !o->fd;
    if (new) {
        long fd = sys2(__NR_memfd_create, (long)"shared", 0);
        must(fd, "memfd_create", m->start);
        o->fd = (int)fd + 1;
    }
    set_size(o, m->size);
    if (new && m->file != MAP_FILE_NONE && m->size)
        fill_object(o, m);
    return o->fd - 1;
}

void space_resize(const struct record_size *s)
{
    struct object *o = object_at(s->object);
    if (o->fd)
        set_size(o, s->size);
}

void space_object(const struct record_object *r)
{
    struct object *o = object_at(r->object);
    if (r->bytes > r->r.bytes - sizeof *r || r->offset >> 47)
        post_failed("event %lu: not a record", cursor_number());
    uint64_t from = PAGE_DOWN(r->offset), bytes = PAGE_UP(r->offset + r->bytes) - from;
    if (!o->fd || r->offset + r->bytes > o->bytes)
        return;
    uint8_t *at = range_alloc(bytes);
    must(sys6(__NR_mmap, (long)at, (long)bytes, PROT_WRITE, MAP_SHARED | MAP_FIXED, o->fd - 1,
              (long)from),
         "mmap", from);
    memcpy(at + (r->offset - from), r + 1, r->bytes);
    range_free(at, bytes);
}

static void note(struct area a)
{
    maps_changed(a.start, a.end);
    add(a);
    if (a.prot & PROT_EXEC)
        maps_learn(a.start, a.end, a.prot, a.shared);
}

static struct area anonymous(gaddr start, uint64_t bytes, int prot)
{
    return (struct area){.start = start, .end = start + bytes, .prot = prot, .file = MAP_FILE_NONE};
}

/* In a copy of the process: shared memory is its own from now on. Pages of a private mapping that
 * the program has not written show the object as it is here, too. */
void space_part(void)
{
    for (uint32_t n = 1; objects && n < OBJECTS; n++) {
        struct object *o = &objects[n];
        uint64_t bytes = PAGE_UP(o->bytes);
        if (!o->fd)
            continue;
        long fd = sys2(__NR_memfd_create, (long)"shared", 0);
        must(fd, "memfd_create", n);
        must(sys2(__NR_ftruncate, fd, (long)o->bytes), "ftruncate", n);
        if (bytes) {
            void *from = range_alloc(bytes), *to = range_alloc(bytes);
            must(sys6(__NR_mmap, (long)from, (long)bytes, PROT_READ, MAP_SHARED | MAP_FIXED,
                      o->fd - 1, 0),
                 "mmap", n);
            must(sys6(__NR_mmap, (long)to, (long)bytes, PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
                 "mmap", n);
            memcpy(to, from, o->bytes);
            range_free(to, bytes);
            range_free(from, bytes);
        }
        for (int i = 0; i < areas.count; i++) {
            const struct area *a = area(i);
            if (a->object == n && a->shared)
                must(sys6(__NR_mmap, (long)a->start, (long)(a->end - a->start), a->prot,
                          MAP_SHARED | MAP_FIXED, fd, (long)a->offset),
                     "mmap", a->start);
        }
        sys1(__NR_close, o->fd - 1);
        o->fd = (int)fd + 1;
    }
}

void space_map(const struct record_map *m)
{
    uint64_t bytes = PAGE_UP(m->bytes), inside = bytes;
    int prot = (int)m->prot & (PROT_READ | PROT_WRITE | PROT_EXEC);
    bool shared = m->object && (m->flags & MAP_TYPE_) != MAP_PRIVATE;
    if (m->object) {
        map(m->start, bytes, prot, shared ? MAP_SHARED : MAP_PRIVATE, object_fd(m), m->offset);
    } else if (m->file == MAP_FILE_NONE) {
        map(m->start, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    } else {
        uint64_t at = ask_file(m->file);
        inside = m->offset < m->size ? PAGE_UP(m->size - m->offset) : 0;
        if (inside > bytes)
            inside = bytes;
        map(m->start, inside, prot, MAP_PRIVATE, (int)post_box()->files_fd, at + m->offset);
        map(m->start + inside, bytes - inside, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    note((struct area){.start = m->start,
                       .end = m->start + bytes,
                       .prot = prot,
                       .shared = shared,
                       .object = m->object,
                       .file = m->file,
                       .offset = m->offset});
}

/* ---- calls ---- */

static void unmap(gaddr start, uint64_t bytes)
{
    bytes = PAGE_UP(bytes);
    if (range_overlaps(start, start + bytes))
        post_failed("munmap at 0x%lx: not the program's", start);
    must(sys2(__NR_munmap, (long)start, (long)bytes), "munmap", start);
    maps_changed(start, start + bytes);
    cut(start, start + bytes);
}

static void protect(gaddr start, uint64_t bytes, int prot)
{
    enum { GROWSDOWN = 0x01000000 };
    bytes = PAGE_UP(bytes);
    int first = index_of(start);
    if ((prot & GROWSDOWN) && first < areas.count && area(first)->start < start) {
        bytes += start - area(first)->start; /* the whole stack, grown or not */
        start = area(first)->start;
    }
    prot &= PROT_READ | PROT_WRITE | PROT_EXEC;
    if (range_overlaps(start, start + bytes))
        post_failed("mprotect at 0x%lx: not the program's", start);
    maps_open(start, start + bytes);
    must(sys3(__NR_mprotect, (long)start, (long)bytes, prot), "mprotect", start);
    maps_changed(start, start + bytes);
    for (int i = index_of(start); i < areas.count && area(i)->start < start + bytes; i++) {
        struct area a = *area(i);
        gaddr from = a.start > start ? a.start : start;
        gaddr to = a.end < start + bytes ? a.end : start + bytes;
        if (a.prot == prot)
            continue;
        struct area changed = a;
        changed.start = from;
        changed.end = to;
        changed.prot = prot;
        changed.offset = offset_at(&a, from);
        add(changed);
        i = index_of(from);
    }
    if (prot & PROT_EXEC)
        for (int i = index_of(start); i < areas.count && area(i)->start < start + bytes; i++)
            maps_learn(area(i)->start, area(i)->end, prot, area(i)->shared);
}

/* The kernel goes from mapping to mapping and stops where there is none. */
static void protect_up_to_hole(gaddr start, uint64_t bytes, int prot)
{
    gaddr end = start;
    for (int i = index_of(start); i < areas.count && area(i)->start <= end; i++)
        end = area(i)->end;
    if (end > start + PAGE_UP(bytes))
        end = start + PAGE_UP(bytes);
    if (!(start & (PAGE_BYTES - 1)) && end > start)
        protect(start, end - start, prot);
}

static void move(const long a[6], gaddr to)
{
    enum { MAYMOVE = 1, FIXED = 2, DONTUNMAP = 4 };
    gaddr from = (gaddr)a[0];
    uint64_t old = PAGE_UP((uint64_t)a[1]), new = PAGE_UP((uint64_t)a[2]);
    int i = index_of(from);
    struct area was = i < areas.count ? *area(i) : anonymous(from, old, PROT_NONE);
    if (range_overlaps(from, from + old) || range_overlaps(to, to + new))
        post_failed("mremap at 0x%lx: not the program's", from);
    maps_open(from, from + old);
    long flags = to == from ? 0 : MAYMOVE | FIXED | (a[3] & DONTUNMAP);
    long r = sys6(__NR_mremap, (long)from, (long)old, (long)new, flags, (long)to, 0);
    must(r, "mremap", from);
    maps_changed(from, from + (old > new ? old : new));
    if (to != from && !(a[3] & DONTUNMAP) && old)
        cut(from, from + old);
    else if (to == from && new < old)
        cut(from + new, from + old);
    was.offset = offset_at(&was, from);
    was.start = to;
    was.end = to + new;
    note(was);
}

static void set_heap(gaddr end)
{
    gaddr old = PAGE_UP(heap_end), new = PAGE_UP(end);
    if (end < heap_start)
        return;
    if (new > old) {
        map(old, new - old, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        note(anonymous(old, new - old, PROT_READ | PROT_WRITE));
    } else if (new < old) {
        unmap(new, old - new);
    }
    heap_end = end;
}

static void advise(const long a[6])
{
    enum { DONTNEED = 4, FREE = 8, REMOVE = 9, DONTNEED_LOCKED = 24 };
    long what = a[2] == FREE || a[2] == DONTNEED_LOCKED ? DONTNEED : a[2];
    if (what != DONTNEED && what != REMOVE)
        return;
    if (range_overlaps((gaddr)a[0], (gaddr)a[0] + (uint64_t)a[1]))
        return;
    maps_open((gaddr)a[0], (gaddr)a[0] + (uint64_t)a[1]);
    sys3(__NR_madvise, a[0], a[1], what);
    maps_changed((gaddr)a[0], (gaddr)a[0] + (uint64_t)a[1]);
}

void space_call(struct thread *t, long nr, const long a[6], int64_t result,
                const struct record_map *map_of)
{
    (void)t;
    if (nr == __NR_madvise)
        advise(a); /* a failed one may have done a part */
    if ((nr == __NR_mprotect || nr == __NR_pkey_mprotect) && result == -ENOMEM)
        protect_up_to_hole((gaddr)a[0], (uint64_t)a[1], (int)a[2]);
    if (SYS_FAILED(result))
        return;
    switch (nr) {
    case __NR_mmap:
    case __NR_shmat:
        if (map_of)
            space_map(map_of);
        else
            space_map(&(struct record_map){.start = (uint64_t)result,
                                           .bytes = (uint64_t)a[1],
                                           .prot = (uint32_t)a[2],
                                           .file = MAP_FILE_NONE});
        break;
    case __NR_shmdt:
        if (map_of)
            unmap(map_of->start, map_of->bytes);
        break;
    case __NR_munmap:
        unmap((gaddr)a[0], (uint64_t)a[1]);
        break;
    case __NR_mprotect:
    case __NR_pkey_mprotect:
        protect((gaddr)a[0], (uint64_t)a[1], (int)a[2]);
        break;
    case __NR_mremap:
        move(a, (gaddr)result);
        break;
    case __NR_brk:
        set_heap((gaddr)result);
        break;
    default:
        break;
    }
}

void space_heap(gaddr *start, gaddr *end)
{
    *start = heap_start;
    *end = heap_end;
}

void space_write(gaddr addr, const void *bytes, uint64_t n)
{
    if (!n)
        return;
    stops_wrote(addr, n);
    flow_wrote(addr, n);
    if (range_overlaps(addr, addr + n))
        post_failed("event %lu: a write into memory that is not the program's", cursor_number());
    if (engine_write(addr, bytes, n))
        return;
    maps_open(addr, addr + n);
    if (engine_write(addr, bytes, n))
        return;
    /* Read-only for the program, not for the kernel; or behind the end of a file that has grown. */
    for (gaddr p = PAGE_DOWN(addr); p < addr + n; p += PAGE_BYTES) {
        int i = index_of(p), prot = PROT_NONE;
        if (i < areas.count && area(i)->start <= p)
            prot = area(i)->prot;
        gaddr from = p > addr ? p : addr,
              to = p + PAGE_BYTES < addr + n ? p + PAGE_BYTES : addr + n;
        sys3(__NR_mprotect, (long)p, PAGE_BYTES, PROT_READ | PROT_WRITE);
        bool ok = engine_write(from, (const uint8_t *)bytes + (from - addr), to - from);
        sys3(__NR_mprotect, (long)p, PAGE_BYTES, prot);
        maps_changed(p, p + PAGE_BYTES);
        if (prot & PROT_EXEC)
            maps_learn(p, p + PAGE_BYTES, prot, area(i)->shared);
        if (!ok)
            post_failed("event %lu: no memory at 0x%lx", cursor_number(), from);
    }
}

void space_start(const struct record_start *s)
{
    heap_start = heap_end = s->brk;
    maps_list = list_code;
    if (!s->stack_end)
        return;
    /* The kernel grows the stack when it is touched; here it has its full size from the start. */
    enum { MOST = 1 << 30 };
    uint64_t limit = s->stack_limit < MOST ? PAGE_UP(s->stack_limit) : MOST;
    int i = index_of(s->stack_end - 1);
    if (i == areas.count || area(i)->end != s->stack_end)
        return;
    struct area a = *area(i);
    gaddr low = s->stack_end - limit, before = i ? area(i - 1)->end : 0;
    if (low < before)
        low = before;
    if (low >= a.start)
        return;
    map(low, a.start - low, a.prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    note(anonymous(low, a.start - low, a.prot));
    stack_low = low;
}
