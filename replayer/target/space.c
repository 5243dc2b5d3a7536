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
 *
 * The kernel grew the stack when it was touched, by rules that depend on limits and neighbours of
 * that time. Here the log decides: a touch below a mapping that grows makes it grow, unless the log
 * has a fault there.
 *
 * Which mappings are one to the kernel depends on how they came about, and here they come about in
 * another way. So what the kernel did to one mapping is done here piece by piece.
 */
#include "replayer/target/space.h"

#include "base/search.h"
#include "debug/target/post.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/changes.h"
#include "replayer/target/cursor.h"
#include "replayer/target/divert.h"
#include "replayer/target/flow.h"

#define PERSONALITY_ASKED 0xffffffffu /* personality() with this changes nothing */

enum { READ_IMPLIES_EXEC = 0x400000 };
enum { OBJECTS = 4096, MAP_TYPE_ = 0xf, GROWSDOWN = 0x100 /* of mmap */ };

struct area {
    gaddr start, end;
    int prot;
    bool shared;
    uint32_t object; /* that it shows; 0: none */
    uint32_t file;   /* kept file that it was mapped from; MAP_FILE_NONE: none */
    uint64_t offset; /* in the object or file */
    uint64_t size;   /* of the file, when it was mapped */
    bool grows;      /* downwards, when it is touched */
};

/* Sorted and disjoint, with the free room in the middle: calls that follow each other mostly change
 * neighbours, and a program may have 65,530 areas. */
static struct {
    struct area *list;
    int count, room;
    int gap; /* areas before the free room */
} areas;

static struct object {
    int fd;      /* plus one; 0: not made yet */
    bool common; /* other copies of this process may have it, too: it is not written to */
    uint64_t bytes;
} * objects;

static gaddr heap_start, heap_end;

/* ---- the list ---- */

static struct area *area(int i)
{
    return &areas.list[i < areas.gap ? i : i + areas.room - areas.count];
}

static int index_of(gaddr addr) /* the first area that ends after addr */
{
    return (int)search_first(areas.count, i, area((int)i)->end <= addr);
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
    return a->end == b->start && a->prot == b->prot && a->shared == b->shared &&
           a->grows == b->grows && !a->object && !b->object && a->file == b->file &&
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
    }
    return n;
}

bool space_area(int i, struct record_map *out)
{
    if (i >= areas.count)
        return false;
    const struct area *a = area(i);
    *out = (struct record_map){.start = a->start,
                               .bytes = a->end - a->start,
                               .prot = (uint32_t)a->prot,
                               .flags = (a->shared ? MAP_SHARED : MAP_PRIVATE) |
                                        (a->grows ? GROWSDOWN : 0u),
                               .file = a->file,
                               .object = a->object,
                               .offset = a->offset,
                               .size = a->object ? objects[a->object].bytes : a->size};
    return true;
}

bool space_object_get(uint32_t number, int *fd, uint64_t *bytes)
{
    if (!objects || number >= OBJECTS)
        return false;
    *fd = objects[number].fd - 1;
    *bytes = objects[number].bytes;
    return true;
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
    if (r == -EPERM && at < 1 << 20) /* the program had CAP_SYS_RAWIO, or another kernel */
        post_failed("memory at 0x%lx: this kernel gives none so low (vm.mmap_min_addr)", at);
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

static void own(struct object *o);

static void set_size(struct object *o, uint64_t bytes)
{
    if (bytes != o->bytes)
        own(o);
    if (bytes == o->bytes)
        return;
    must(sys2(__NR_ftruncate, o->fd - 1, (long)bytes), "ftruncate", bytes);
    o->bytes = bytes;
    changes_object((uint32_t)(o - objects));
}

/* The page of the object that has its end, for the runtime. */
static uint8_t *map_end(const struct object *o)
{
    const uint64_t at = PAGE_DOWN(o->bytes);
    uint8_t *page = range_alloc(PAGE_BYTES);
    must(sys6(__NR_mmap, (long)page, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
              o->fd - 1, (long)at),
         "mmap", at);
    return page;
}

/* What lies behind the old end, in its page, is cleared or stays: kernels differ there. */
static void grow_object(struct object *o, uint64_t bytes, bool clears)
{
    uint8_t kept[PAGE_BYTES], *page;
    const uint64_t old = o->bytes % PAGE_BYTES, behind = PAGE_BYTES - old;
    own(o);
    page = map_end(o);
    if (!clears)
        memcpy(kept, page + old, behind);
    set_size(o, bytes);
    if (clears)
        memset(page + old, 0, behind);
    else
        memcpy(page + old, kept, behind);
    range_free(page, PAGE_BYTES);
    changes_object((uint32_t)(o - objects));
}

/* Copies [from_at, from_at + bytes) of a file of memory to `to_at` of another one. Only
 * what is there: such files may be terabytes of which next to nothing was ever written, and reading
 * a hole would make it memory. */
static void copy_data(int from, uint64_t from_at, int to, uint64_t to_at, uint64_t bytes)
{
    enum { WINDOW = 1 << 20, DATA = 3, HOLE = 4 };
    const uint64_t end = from_at + bytes;
    uint8_t *in = range_alloc(WINDOW), *out = range_alloc(WINDOW);
    for (uint64_t at = from_at; at < end;) {
        long data = sys3(__NR_lseek, from, (long)at, DATA);
        if (data == -ENXIO || (data >= 0 && (uint64_t)data >= end))
            break; /* nothing but a hole is left */
        must(data, "lseek", at);
        long hole = sys3(__NR_lseek, from, data, HOLE);
        must(hole, "lseek", at);
        uint64_t stop = (uint64_t)hole < end ? (uint64_t)hole : end;
        for (at = PAGE_DOWN((uint64_t)data); at < stop; at += WINDOW) {
            uint64_t n = stop - at < WINDOW ? stop - at : WINDOW;
            must(sys6(__NR_mmap, (long)in, WINDOW, PROT_READ, MAP_SHARED | MAP_FIXED, from,
                      (long)at),
                 "mmap", at);
            must(sys6(__NR_mmap, (long)out, WINDOW, PROT_WRITE, MAP_SHARED | MAP_FIXED, to,
                      (long)(to_at + (at - from_at))),
                 "mmap", at);
            if (engine_copy(out, in, n))
                post_failed("event %lu: a file that is shorter than it says", cursor_number());
        }
        at = stop;
    }
    range_free(out, WINDOW);
    range_free(in, WINDOW);
}

/* No other copy of this process has the object from here on. */
static void own_always(struct object *o)
{
    const uint32_t n = (uint32_t)(o - objects);
    long fd = sys2(__NR_memfd_create, (long)"shared", 0);
    must(fd, "memfd_create", n);
    must(sys2(__NR_ftruncate, fd, (long)o->bytes), "ftruncate", n);
    copy_data(o->fd - 1, 0, (int)fd, 0, o->bytes);
    for (int i = 0; i < areas.count; i++) {
        const struct area *a = area(i);
        if (a->object == n && a->shared)
            must(sys6(__NR_mmap, (long)a->start, (long)(a->end - a->start), a->prot,
                      MAP_SHARED | MAP_FIXED, fd, (long)a->offset),
                 "mmap", a->start);
    }
    sys1(__NR_close, o->fd - 1);
    o->fd = (int)fd + 1;
    o->common = false;
}

static void own(struct object *o)
{
    if (o->common)
        own_always(o);
}

/* Private mappings show what is written to an object later: an own object would not be theirs. */
static bool is_only_read(uint32_t object)
{
    for (int i = 0; i < areas.count; i++)
        if (area(i)->object == object && (!area(i)->shared || (area(i)->prot & PROT_WRITE)))
            return false;
    return true;
}

static void fill_object(const struct object *o, const struct record_map *m)
{
    uint64_t at = ask_file(m->file);
    copy_data((int)post_box()->files_fd, at, o->fd - 1, 0, m->size);
}

/* More of an object is mapped, and the file was kept again since it has changed outside of what was
 * mapped, or that part never was kept. */
static void fill_more(const struct object *o, const struct record_map *m)
{
    uint64_t at = ask_file(m->file);
    if (m->offset % PAGE_BYTES || m->offset >= m->size)
        return;
    uint64_t bytes = m->size - m->offset < m->bytes ? m->size - m->offset : m->bytes;
    copy_data((int)post_box()->files_fd, at + m->offset, o->fd - 1, m->offset, bytes);
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
    const bool fills = m->file != MAP_FILE_NONE && m->r.flags != MAP_AS_IS;
    if (fills || (m->prot & PROT_WRITE) || (m->flags & MAP_TYPE_) == MAP_PRIVATE)
        own(o);
    set_size(o, m->size);
    if (!fills)
        return o->fd - 1;
    changes_object(m->object);
    if (!new)
        fill_more(o, m);
    else if (m->size)
        fill_object(o, m);
    return o->fd - 1;
}

void space_object_make(const struct record_size *s)
{
    const struct record_map m = {.object = s->object, .size = s->size, .file = MAP_FILE_NONE};
    object_fd(&m);
}

void space_resize(const struct record_size *s)
{
    struct object *o = object_at(s->object);
    if (!o->fd)
        return;
    if (s->size >= o->bytes && o->bytes % PAGE_BYTES)
        grow_object(o, s->size, s->r.flags & SIZE_CLEARS);
    else
        set_size(o, s->size);
}

void space_object(const struct record_object *r)
{
    struct object *o = object_at(r->object);
    if (r->bytes > r->r.bytes - sizeof *r || r->offset >> 47)
        post_failed("event %lu: not a record", cursor_number());
    uint64_t from = PAGE_DOWN(r->offset), bytes = PAGE_UP(r->offset + r->bytes) - from;
    if (!o->fd || r->offset + r->bytes > PAGE_UP(o->bytes))
        return;
    own(o);
    uint8_t *at = range_alloc(bytes);
    must(sys6(__NR_mmap, (long)at, (long)bytes, PROT_WRITE, MAP_SHARED | MAP_FIXED, o->fd - 1,
              (long)from),
         "mmap", from);
    memcpy(at + (r->offset - from), r + 1, r->bytes);
    range_free(at, bytes);
    changes_object(r->object);
}

/* Its old bytes are gone, and private pages of its mappings, too: those are mapped anew. */
void space_object_anew(const struct record_size *s)
{
    struct object *o = object_at(s->object);
    if (o->fd)
        set_size(o, 0);
    space_object_make(s);
}

static void changed(gaddr start, gaddr end)
{
    maps_changed(start, end);
    changes_mapped(start, end);
}

static void note(struct area a)
{
    changed(a.start, a.end);
    add(a);
    if (a.prot & PROT_EXEC)
        maps_learn(a.start, a.end, a.prot, a.shared);
}

static struct area anonymous(gaddr start, uint64_t bytes, int prot)
{
    return (struct area){.start = start, .end = start + bytes, .prot = prot, .file = MAP_FILE_NONE};
}

/* Copying what nobody writes, as a library of classes of 120 MB, would take longer than all the
 * rest of a copy. */
void space_before_copy(void)
{
    for (uint32_t n = 1; objects && n < OBJECTS; n++)
        if (objects[n].fd && !objects[n].common)
            objects[n].common = is_only_read(n);
}

/* In a copy of the process: shared memory is its own from now on, or when it is written to. Pages
 * of a private mapping that the program has not written show the object as it is here, too. */
void space_part(void)
{
    for (uint32_t n = 1; objects && n < OBJECTS; n++)
        if (objects[n].fd && !objects[n].common)
            own_always(&objects[n]);
}

void space_own_all(void)
{
    for (uint32_t n = 1; objects && n < OBJECTS; n++)
        own(&objects[n]);
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
                       .offset = m->offset,
                       .size = m->size,
                       .grows = !m->object && (m->flags & GROWSDOWN)});
}

/* ---- growing ---- */

/* Is it in the log that touching `addr` here was a fault, or that a frame could not be written? */
static bool faulted(const struct thread *t, gaddr addr)
{
    const struct record_fault *f = (const struct record_fault *)cursor_peek();
    return !divert_is_on() && f && f->r.kind == RECORD_FAULT && f->at.count == thread_count(t) &&
           f->at.pc == t->cpu.rip && (f->forced || PAGE_DOWN(f->cr2) == PAGE_DOWN(addr));
}

/* A mapping that grows, and begins above `addr` with nothing in between, begins there now. */
static bool reach(gaddr addr)
{
    int i = index_of(addr);
    if (i == areas.count || area(i)->start <= addr || !area(i)->grows)
        return false;
    struct area a = *area(i);
    a.end = a.start;
    a.start = PAGE_DOWN(addr);
    if (range_overlaps(a.start, a.end))
        return false;
    map(a.start, a.end - a.start, a.prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    note(a);
    return true;
}

static bool grow(gaddr addr)
{
    return !faulted(thread_self(), addr) && reach(addr);
}

/* ---- calls ---- */

static void unmap(gaddr start, uint64_t bytes)
{
    bytes = PAGE_UP(bytes);
    if (range_overlaps(start, start + bytes))
        post_failed("munmap at 0x%lx: not the program's", start);
    must(sys2(__NR_munmap, (long)start, (long)bytes), "munmap", start);
    changed(start, start + bytes);
    cut(start, start + bytes);
}

void space_gone(const struct record_map *m)
{
    if (m->start >> 47 || m->bytes >> 47 || m->start % PAGE_BYTES)
        post_failed("event %lu: not a record", cursor_number());
    unmap(m->start, m->bytes);
}

static void protect(gaddr start, uint64_t bytes, int prot)
{
    enum { DOWNWARDS = 0x01000000 };
    bytes = PAGE_UP(bytes);
    reach(start);
    int first = index_of(start);
    if ((prot & DOWNWARDS) && first < areas.count && area(first)->start < start) {
        bytes += start - area(first)->start; /* all of the stack below */
        start = area(first)->start;
    }
    prot &= PROT_READ | PROT_WRITE | PROT_EXEC;
    if (range_overlaps(start, start + bytes))
        post_failed("mprotect at 0x%lx: not the program's", start);
    maps_open(start, start + bytes);
    for (int i = index_of(start); i < areas.count && area(i)->start < start + bytes; i++)
        if (area(i)->object && (prot & PROT_WRITE))
            own(object_at(area(i)->object));
    must(sys3(__NR_mprotect, (long)start, (long)bytes, prot), "mprotect", start);
    changed(start, start + bytes);
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

/* Moves pages that may be several mappings here. */
static void move_pages(gaddr from, gaddr to, uint64_t bytes, long flags)
{
    long r = sys6(__NR_mremap, (long)from, (long)bytes, (long)bytes, flags, (long)to, 0);
    if (r == -EFAULT && bytes > PAGE_BYTES) {
        uint64_t half = PAGE_UP(bytes / 2);
        move_pages(from, to, half, flags);
        move_pages(from + half, to + half, bytes - half, flags);
        return;
    }
    must(r, "mremap", from);
}

/* What is mapped in [from, from + bytes) goes to `to`, holes stay holes. */
static void carry(gaddr from, gaddr to, uint64_t bytes, long flags)
{
    enum { MAYMOVE = 1, FIXED = 2, DONTUNMAP = 4 };
    for (gaddr at = from; at < from + bytes;) {
        int i = index_of(at);
        if (i == areas.count || area(i)->start >= from + bytes)
            return;
        struct area a = *area(i), moved = a;
        gaddr start = a.start > at ? a.start : at;
        gaddr end = a.end < from + bytes ? a.end : from + bytes;
        maps_open(start, end);
        move_pages(start, to + (start - from), end - start, MAYMOVE | FIXED | (flags & DONTUNMAP));
        changed(start, end);
        if (!(flags & DONTUNMAP))
            cut(start, end);
        moved.offset = offset_at(&a, start);
        moved.start = to + (start - from);
        moved.end = to + (end - from);
        note(moved);
        at = end;
    }
}

/* A mapping such as `was` goes on at its end. */
static void extend(const struct area *was, uint64_t bytes)
{
    space_map(
        &(struct record_map){.start = was->end,
                             .bytes = bytes,
                             .prot = (uint32_t)was->prot,
                             .flags = was->shared ? MAP_SHARED : MAP_PRIVATE,
                             .file = was->object ? MAP_FILE_NONE : was->file,
                             .object = was->object,
                             .offset = offset_at(was, was->end),
                             .size = was->object ? object_at(was->object)->bytes : was->size});
}

/* `more`, if any, says what it is that the mapping grows by, except its rights. */
static void move(const long a[6], gaddr to, const struct record_map *more)
{
    gaddr from = (gaddr)a[0];
    uint64_t old = PAGE_UP((uint64_t)a[1]), new = PAGE_UP((uint64_t)a[2]);
    if (range_overlaps(from, from + old) || range_overlaps(to, to + new))
        post_failed("mremap at 0x%lx: not the program's", from);
    reach(from);
    if (new < old) {
        unmap(from + new, old - new);
        old = new;
    }
    /* What is to grow; of nothing, a second mapping of shared memory is made. */
    int i = index_of(old ? from + old - 1 : from);
    if (i == areas.count || area(i)->start > from + old)
        post_failed("mremap at 0x%lx: there is no memory", from);
    struct area last = *area(i);
    last.offset = offset_at(&last, from + old);
    last.start = last.end = to + old;
    if (to != from)
        carry(from, to, old, a[3]);
    if (new <= old)
        return;
    if (!more) {
        extend(&last, new - old);
        return;
    }
    struct record_map m = *more;
    m.start = to + old;
    m.bytes = new - old;
    m.prot = (uint32_t)last.prot;
    space_map(&m);
}

/* The rights that the thread's new memory really got. */
static int implied(const struct thread *t, int prot)
{
    return t->reads_execute && (prot & PROT_READ) ? prot | PROT_EXEC : prot;
}

static void set_heap(gaddr end, int prot)
{
    gaddr old = PAGE_UP(heap_end), new = PAGE_UP(end);
    if (end < heap_start)
        return;
    if (new > old) {
        map(old, new - old, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        note(anonymous(old, new - old, prot));
    } else if (new < old) {
        unmap(new, old - new);
    }
    heap_end = end;
}

static void advise(gaddr start, uint64_t bytes, long what)
{
    enum { DONTNEED = 4, FREE = 8, REMOVE = 9, DONTNEED_LOCKED = 24 };
    if (what == FREE || what == DONTNEED_LOCKED)
        what = DONTNEED;
    if (what != DONTNEED && what != REMOVE)
        return;
    if (range_overlaps(start, start + bytes))
        return;
    maps_open(start, start + bytes);
    sys3(__NR_madvise, (long)start, (long)bytes, what);
    changed(start, start + bytes);
}

/* Private mappings of a kept file show an object from now on, which is made of that file. What the
 * program has written to them follows in the log. */
static void show_object(const struct record_map *m)
{
    const gaddr end = m->start + m->bytes;
    for (gaddr at = m->start; at < end;) {
        int i = index_of(at);
        if (i == areas.count || area(i)->start >= end)
            return;
        const struct area a = *area(i);
        const struct object *o = object_at(m->object);
        gaddr from = a.start > at ? a.start : at, to = a.end < end ? a.end : end;
        at = to;
        if (!m->object || a.shared || a.object || a.file == MAP_FILE_NONE)
            continue;
        space_map(&(struct record_map){.start = from,
                                       .bytes = to - from,
                                       .prot = (uint32_t)a.prot,
                                       .flags = MAP_PRIVATE,
                                       .file = o->fd ? MAP_FILE_NONE : a.file,
                                       .object = m->object,
                                       .offset = offset_at(&a, from),
                                       .size = o->fd ? o->bytes : a.size});
    }
}

/* A piece of what a call did before it failed. Where the source of mremap is gone and nothing was
 * to be made smaller, it was moved. */
void space_partly(long nr, const long a[6], const struct record_map *m)
{
    bool moves = kinds_of(nr).does == DOES_REMAPS && a[1] == a[2] && m->start >= (uint64_t)a[0] &&
                 m->start + m->bytes <= (uint64_t)a[0] + PAGE_UP((uint64_t)a[1]);
    if (m->start >> 47 || m->bytes >> 47 || range_overlaps(m->start, m->start + m->bytes))
        post_failed("event %lu: not a record", cursor_number());
    switch (m->r.flags) {
    case PARTLY_GONE:
        if (moves)
            carry(m->start, (gaddr)a[4] + (m->start - (gaddr)a[0]), m->bytes, a[3]);
        else
            unmap(m->start, m->bytes);
        break;
    case PARTLY_PROT:
        protect(m->start, m->bytes, (int)m->prot);
        break;
    case PARTLY_EMPTY:
        advise(m->start, m->bytes, a[2]);
        break;
    case PARTLY_OBJECT:
        show_object(m);
        break;
    default:
        post_failed("event %lu: not a record", cursor_number());
    }
}

void space_call(struct thread *t, long nr, const long a[6], int64_t result,
                const struct record_map *map_of)
{
    if (SYS_FAILED(result))
        return;
    switch (kinds_of(nr).does) {
    case DOES_MAPS:
    case DOES_ATTACHES: {
        struct record_map m = {.start = (uint64_t)result,
                               .bytes = (uint64_t)a[1],
                               .prot = (uint32_t)a[2],
                               .flags = (uint32_t)a[3],
                               .file = MAP_FILE_NONE};
        if (map_of)
            m = *map_of;
        m.prot = (uint32_t)implied(t, (int)m.prot);
        space_map(&m);
        break;
    }
    case DOES_DETACHES:
        if (map_of)
            unmap(map_of->start, map_of->bytes);
        break;
    case DOES_UNMAPS:
        unmap((gaddr)a[0], (uint64_t)a[1]);
        break;
    case DOES_PROTECTS:
        protect((gaddr)a[0], (uint64_t)a[1], implied(t, (int)a[2]));
        break;
    case DOES_REMAPS:
        move(a, (gaddr)result, map_of);
        break;
    case DOES_BREAKS:
        set_heap((gaddr)result, implied(t, PROT_READ | PROT_WRITE));
        break;
    case DOES_ADVISES:
        advise((gaddr)a[0], (uint64_t)a[1], a[2]);
        break;
    case DOES_IMPLIES:
        if ((uint32_t)a[0] != PERSONALITY_ASKED)
            t->reads_execute = a[0] & READ_IMPLIES_EXEC;
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

void space_heap_ends(gaddr end)
{
    heap_end = end;
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
        if (i < areas.count && area(i)->start <= p) {
            prot = area(i)->prot;
            if (area(i)->object)
                own(object_at(area(i)->object));
        }
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

void space_begin(gaddr start, gaddr end)
{
    heap_start = start;
    heap_end = end;
    maps_list = list_code;
    engine_grow = grow;
}

void space_start(const struct record_start *s)
{
    space_begin(s->brk, s->brk);
    int i = index_of(s->stack_end - 1);
    if (i < areas.count && area(i)->end == s->stack_end)
        area(i)->grows = true;
}
