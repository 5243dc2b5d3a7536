/* mapped.c - files and shared memory that the target has mapped. SPDX-License-Identifier: MIT */
#include "engine/core/engine.h"
#include "engine/os/effects.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/os/procfs.h"
#include "engine/os/threads.h"
#include "engine/rt/maplist.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/filestat.h"
#include "logger/target/log.h"
#include "logger/target/mapped_int.h"
#include "logger/target/outputs.h"
#include "logger/target/snapshot.h"

enum { MAP_TYPE_ = 0xf };
enum { MAP_DENYWRITE_ = 0x800 }; /* the loader says it of programs and libraries */
enum { SHOWS_LIMIT = 64 << 10 }; /* of private mappings: databases map much more */
enum { COPY_LIMIT = 16 << 20 };  /* of shared memory that is mapped a second time */

struct mapped mapped;

/* The contents of a mapping are logged once the mapping itself is. */
static struct {
    gaddr start;
    uint64_t bytes;
    gaddr emptied, emptied_end; /* pages that madvise took away */
} later;

static void contents(gaddr start, uint64_t bytes)
{
    later.start = start;
    later.bytes = bytes;
}

/* ---- the list ---- */

static void add(struct mapping n)
{
    if (mapped.count == mapped.room) {
        size_t room = mapped.room ? 2 * mapped.room : 1024;
        struct mapping *list = range_alloc(room * sizeof *list);
        memcpy(list, mapped.list, mapped.count * sizeof *list);
        if (mapped.room)
            range_free(mapped.list, mapped.room * sizeof *list);
        mapped.list = list;
        mapped.room = room;
    }
    mapped.list[mapped.count++] = n;
}

static void drop_shadows(gaddr start, gaddr end)
{
    for (size_t i = 0; i < mapped.shadows;) {
        struct shadow *s = &mapped.shadow[i];
        if (s->end <= start || s->start >= end) {
            i++;
            continue;
        }
        range_free(s->copy, s->end - s->start);
        *s = mapped.shadow[--mapped.shadows];
    }
}

static void cut(gaddr start, gaddr end)
{
    drop_shadows(start, end);
    for (size_t i = 0; i < mapped.count; i++) {
        struct mapping old = mapped.list[i];
        if (old.end <= start || old.start >= end)
            continue;
        mapped.list[i--] = mapped.list[--mapped.count];
        if (old.start < start) {
            struct mapping left = old;
            left.end = start;
            add(left);
        }
        if (old.end > end) {
            struct mapping right = old;
            right.offset += end - old.start;
            right.start = end;
            add(right);
        }
        if (old.start < start || old.end > end)
            i = (size_t)-1; /* the list moved: look again */
    }
}

/* What mremap moves may be several mappings; the last one grows. Returns what it grew by, or
 * nothing.
 */
static struct mapping move(gaddr from, uint64_t old_bytes, gaddr to, uint64_t new_bytes)
{
    gaddr last_page = old_bytes && new_bytes > old_bytes ? from + old_bytes - 1 : from;
    struct mapping last = {0};
    for (size_t i = 0; i < mapped.count; i++)
        if (mapped.list[i].start <= last_page && mapped.list[i].end > last_page)
            last = mapped.list[i];
    if (new_bytes < old_bytes) {
        cut(from + new_bytes, from + old_bytes);
        old_bytes = new_bytes;
    }
    if (to != from)
        cut(to, to + new_bytes);
    for (size_t i = 0; i < mapped.count && to != from; i++) {
        struct mapping n = mapped.list[i];
        if (n.end <= from || n.start >= from + old_bytes)
            continue;
        gaddr start = n.start > from ? n.start : from;
        gaddr end = n.end < from + old_bytes ? n.end : from + old_bytes;
        n.offset += start - n.start;
        n.start = to + (start - from);
        n.end = to + (end - from);
        cut(start, end);
        add(n);
        i = (size_t)-1; /* the list moved: look again */
    }
    if (new_bytes <= old_bytes || !last.end)
        return (struct mapping){0};
    last.offset += from + old_bytes - last.start;
    last.start = to + old_bytes;
    last.end = to + new_bytes;
    cut(last.start, last.end);
    add(last);
    return last;
}

/* Pages that were taken away show the file again, as it is now: a replay has it as it was kept. */
static void log_emptied(const struct mapping *n)
{
    gaddr from = n->start > later.emptied ? n->start : later.emptied;
    gaddr to = n->end < later.emptied_end ? n->end : later.emptied_end;
    if (n->changed && from < to)
        log_data(from, to - from, DATA_AFTER);
}

void mapped_contents(void)
{
    if (later.bytes)
        log_data(later.start, later.bytes, DATA_AFTER);
    for (size_t i = 0; later.emptied_end && i < mapped.count; i++)
        log_emptied(&mapped.list[i]);
    later.bytes = 0;
    later.emptied = later.emptied_end = 0;
}

static bool is_stale(uint32_t object)
{
    return object >= OBJECTS || mapped.stale[object];
}

uint32_t mapped_object_of(uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < mapped.count; i++)
        if (mapped.list[i].object && mapped.list[i].dev == dev && mapped.list[i].ino == ino)
            return mapped.list[i].object;
    return 0;
}

bool mapped_is_mapped(uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < mapped.count; i++)
        if (mapped.list[i].dev == dev && mapped.list[i].ino == ino && mapped.list[i].ino)
            return true;
    return false;
}

void mapped_note(gaddr start, uint64_t bytes, uint64_t dev, uint64_t ino, uint64_t offset,
                 uint64_t size)
{
    add((struct mapping){.start = start,
                         .end = start + bytes,
                         .dev = dev,
                         .ino = ino,
                         .offset = offset,
                         .private = true,
                         .size = size});
}

/* ---- mappings that were there before ---- */

void mapped_begin(void)
{
    drop_shadows(0, ~0ull);
    mapped.count = 0;
    mapped.objects = 0;
    memset(mapped.size, 0, sizeof mapped.size);
    memset(mapped.stale, 0, sizeof mapped.stale);
    memset(mapped.writable, 0, sizeof mapped.writable);
    memset(mapped.watched, 0, sizeof mapped.watched);
}

void mapped_log_size(uint32_t object, uint64_t size, uint8_t flags)
{
    mapped.size[object] = size;
    struct record_size *s = log_begin(RECORD_SIZE, sizeof *s);
    s->r.flags = flags;
    s->object = object;
    s->pad = 0;
    s->size = size;
    log_commit();
}

/* As after_shmat() and after_mmap() would have it. */
static void identify(const struct maplist_entry *l, struct mapping *n)
{
    const bool system5 = rt_prefix(l->path, "/SYSV");
    *n = (struct mapping){.start = l->start,
                          .end = l->end,
                          .dev = system5 ? ~0ull : l->dev,
                          .ino = system5 ? ~l->ino : l->ino,
                          .offset = l->offset,
                          .private = !l->shared,
                          .writable = l->shared && (l->prot & PROT_WRITE)};
    n->object = n->ino ? mapped_object_of(n->dev, n->ino) : 0;
}

void mapped_shared_before(const struct maplist_entry *l)
{
    struct mapping n;
    struct filestat st;
    identify(l, &n);
    if (!n.object)
        n.object = ++mapped.objects;
    rt_check(n.object < OBJECTS);
    const bool is_file = sys4(__NR_newfstatat, -100, (long)l->path, (long)&st, 0) == 0 &&
                         st.dev == l->dev && st.ino == l->ino;
    const uint64_t size = is_file ? (uint64_t)st.size : l->offset + (l->end - l->start);
    if (size > mapped.size[n.object])
        mapped_log_size(n.object, size, 0);
    mapped.stale[n.object] = true; /* what is not mapped now */
    n.size = mapped.size[n.object];
    add(n);
    mapped_anybody_may_map(n.writable);
    mapped.sharing |= mapped.forked;
    if (mapped.forked) /* what a child writes before the twin has it must be found later */
        mapped_shadow_of(&n);
}

bool mapped_before(const struct maplist_entry *l, struct record_map *map)
{
    struct mapping n;
    identify(l, &n);
    if (!n.object)
        return false;
    map->flags = l->shared ? MAP_SHARED : MAP_PRIVATE;
    map->object = n.object;
    map->offset = n.offset;
    map->size = n.size = mapped.size[n.object];
    if (n.private)
        add(n);
    return true;
}

/* ---- what calls map ---- */

uint32_t mapped_keep(int fd, const char *path, uint64_t dev, uint64_t ino, uint64_t offset,
                     uint64_t bytes, uint64_t *size)
{
    struct ring *g = log_ring();
    if (log_over())
        return MAP_FILE_NONE;
    g->keep.fd = fd;
    g->keep.dev = dev;
    g->keep.ino = ino;
    g->keep.offset = offset;
    g->keep.bytes = bytes;
    rt_format(g->keep.path, sizeof g->keep.path, "%s", path);
    log_ask(KEEP_ASKED);
    *size = g->keep.size;
    return g->keep.file;
}

static void describe(struct record_map *r, gaddr start, uint64_t bytes, const long a[6])
{
    *r = (struct record_map){.start = start,
                             .bytes = bytes,
                             .prot = (uint32_t)a[2],
                             .flags = (uint32_t)a[3],
                             .file = MAP_FILE_NONE};
}

/* Shared memory without a file: every mapping is an object of its own. */
static bool after_anonymous(gaddr start, uint64_t bytes, const long a[6], struct record_map *r)
{
    if ((a[3] & MAP_TYPE_) == MAP_PRIVATE)
        return false;
    describe(r, start, bytes, a);
    r->object = ++mapped.objects;
    r->size = bytes;
    add((struct mapping){
        .start = start, .end = start + bytes, .object = r->object, .writable = true});
    return true;
}

static bool may_write(int fd)
{
    enum { GETFL = 3, ACCMODE = 3, BOTH = 2 };
    return (sys3(__NR_fcntl, fd, GETFL, 0) & ACCMODE) == BOTH;
}

/* Is it meant for sharing: in /dev/shm, a memfd, of huge pages? */
static bool is_of_memory(int fd)
{
    enum { TMPFS = 0x01021994, HUGETLBFS = 0x958458f6 };
    uint64_t fs[15] = {0}; /* struct statfs */
    return sys2(__NR_fstatfs, fd, (long)fs) == 0 &&
           ((uint32_t)fs[0] == TMPFS || (uint32_t)fs[0] == (uint32_t)HUGETLBFS);
}

/* A file that another process writes while the program has it mapped was most often written
 * shortly before, too. */
static bool is_fresh(const struct filestat *st)
{
    enum { HOUR = 3600 };
    uint64_t now[2] = {0};
    sys2(__NR_clock_gettime, 0, (long)now);
    return st->modified[0] + HOUR > now[0];
}

/* A mapping of a file that was just made. */
struct made {
    gaddr start;
    uint64_t bytes;
    int fd;
    bool shared;
    struct filestat st;
};

/* /dev/zero and its kind. */
static void made_of_device(const struct made *m, struct record_map *r)
{
    enum { ZERO = 0x105 };
    r->flags |= MAP_ANONYMOUS;
    r->object = m->shared ? ++mapped.objects : 0;
    r->size = m->bytes;
    r->offset = 0;
    if (m->st.rdev != ZERO) /* which is all zeros */
        contents(m->start, m->bytes);
    add((struct mapping){
        .start = m->start, .end = m->start + m->bytes, .object = r->object, .writable = m->shared});
}

static uint32_t keep_made(const struct made *m, struct record_map *r)
{
    return mapped_keep(m->fd, "", m->st.dev, m->st.ino, r->offset, m->bytes, &r->size);
}

/* Already there: the replay has it, except what it never had mapped. */
static void made_again(const struct made *m, struct record_map *r)
{
    r->size = (uint64_t)m->st.size;
    if (m->shared &&
        m->bytes <= COPY_LIMIT) /* writing a private one would part it from the others */
        contents(m->start, m->bytes);
    else if (is_stale(r->object))
        r->file = keep_made(m, r);
}

/* `one`: others may see what is written, so it is of an object. */
static void made_first(const struct made *m, bool one, struct record_map *r)
{
    r->file = keep_made(m, r);
    r->object = one ? ++mapped.objects : 0;
    if (r->object && r->object < OBJECTS) /* of a large file, only what is mapped is kept */
        mapped.stale[r->object] = (uint64_t)m->st.size > WHOLE_BYTES;
    if (r->file == MAP_FILE_NONE) {
        r->size = (uint64_t)m->st.size;
        contents(m->start, m->bytes);
    }
}

/* Notes it, and who may write to it or see what others write. */
static void note_made(const struct made *m, const long a[6], const struct record_map *r)
{
    const bool fresh = is_fresh(&m->st), writes = m->shared && may_write(m->fd);
    const bool shows = !m->shared && fresh && m->bytes <= SHOWS_LIMIT && !(a[3] & MAP_DENYWRITE_);
    add((struct mapping){.start = m->start,
                         .end = m->start + m->bytes,
                         .dev = m->st.dev,
                         .ino = m->st.ino,
                         .offset = r->offset,
                         .object = r->object,
                         .private = !m->shared,
                         .writable = writes,
                         .size = r->file == MAP_FILE_NONE ? 0 : r->size,
                         .fresh = fresh,
                         .shows = shows,
                         .stores = !m->shared && (a[2] & PROT_WRITE),
                         .modified = filestat_modified_ns(&m->st)});
    if (writes)
        mapped_own_writes(m->st.dev, m->st.ino);
    mapped_watch_writers(m->st.dev, m->st.ino);
    if (m->shared || shows)
        mapped_anybody_may_map(writes || fresh || is_of_memory(m->fd));
    if ((m->shared || shows) && (mapped.forked || mapped.sharing || (mapped.spawned && fresh))) {
        mapped.sharing = true;
        if (m->shared && m->bytes <= COPY_LIMIT) /* a child may have changed it since it was kept */
            contents(m->start, m->bytes);
    }
}

static bool after_mmap(struct thread *t, const long a[6], long result, struct record_map *r)
{
    (void)t;
    struct made m = {.start = (gaddr)result,
                     .bytes = PAGE_UP((uint64_t)a[1]),
                     .fd = (int)a[4],
                     .shared = (a[3] & MAP_TYPE_) != MAP_PRIVATE};
    cut(m.start, m.start + m.bytes);
    if (a[3] & MAP_ANONYMOUS)
        return after_anonymous(m.start, m.bytes, a, r);
    if (!filestat_get(m.fd, &m.st))
        return false;
    /* A private mapping, too, shows what is written through a shared one, page by page until it is
     * written itself. So where that may happen both are of one object. */
    const bool one =
        m.shared || mapped_object_of(m.st.dev, m.st.ino) || mapped_may_write_file(a[4]);
    if (m.shared && may_write(m.fd))
        mapped_make_object(m.st.dev, m.st.ino, m.fd);
    describe(r, m.start, m.bytes, a);
    r->offset = (uint64_t)a[5];
    if (filestat_type(&m.st) != FILESTAT_REGULAR) {
        made_of_device(&m, r);
        return true;
    }
    r->object = one ? mapped_object_of(m.st.dev, m.st.ino) : 0;
    if (r->object)
        made_again(&m, r);
    else
        made_first(&m, one, r);
    if (r->object && r->object < OBJECTS)
        mapped.size[r->object] = r->size;
    note_made(&m, a, r);
    return true;
}

/* Bytes that nobody has mapped until now may have been written since the object was made. Their
 * pages are still untouched here, so they show what the file holds. */
static void object_grown(const struct mapping *n)
{
    uint8_t page[PAGE_BYTES];
    uint64_t size = n->object < OBJECTS ? mapped.size[n->object] : 0;
    for (uint64_t at = n->offset; at < size && at < n->offset + (n->end - n->start);
         at += PAGE_BYTES) {
        uint64_t bytes = size - at < PAGE_BYTES ? size - at : PAGE_BYTES;
        if (engine_read(page, n->start + (at - n->offset), bytes))
            mapped_log_object_piece(n->object, at, page, bytes);
    }
}

/* Only the mapped part of a large file was kept: more of it is kept now. */
static bool after_mremap(const long a[6], long result, struct record_map *r)
{
    const long as_mmap[6] = {0, 0, 0, MAP_PRIVATE};
    char path[4096];
    struct mapping n =
        move((gaddr)a[0], PAGE_UP((uint64_t)a[1]), (gaddr)result, PAGE_UP((uint64_t)a[2]));
    if (!n.end || !n.ino || n.dev == ~0ull)
        return false;
    uint64_t bytes = n.end - n.start;
    if (n.object && bytes <= COPY_LIMIT) {
        object_grown(&n);
        return false;
    }
    if (n.object && !is_stale(n.object))
        return false;
    describe(r, n.start, bytes, as_mmap);
    r->offset = n.offset;
    r->object = n.object;
    r->flags = n.private ? MAP_PRIVATE : MAP_SHARED;
    if (maps_path(n.start, path, sizeof path))
        r->file = mapped_keep(-1, path, n.dev, n.ino, n.offset, bytes, &r->size);
    if (r->file == MAP_FILE_NONE && n.object) { /* a memfd, most likely */
        log_ring()->warnings |= WARN_UNSEEN_WRITE;
        return false;
    }
    if (r->file == MAP_FILE_NONE)
        contents(n.start, bytes);
    return true;
}

static bool after_shmat(const long a[6], long result, struct record_map *r)
{
    enum { IPC_STAT_ = 2, RDONLY = 010000 };
    uint64_t ds[14] = {0}; /* struct shmid64_ds: the size follows the 48 bytes of permissions */
    long as_mmap[6] = {0, 0, PROT_READ | (a[2] & RDONLY ? 0 : PROT_WRITE), MAP_SHARED};
    if (sys3(__NR_shmctl, a[0], IPC_STAT_, (long)ds))
        return false;
    gaddr start = (gaddr)result;
    uint64_t bytes = PAGE_UP(ds[6]), key = ~(uint64_t)a[0];
    uint32_t object = mapped_object_of(~0ull, key);
    cut(start, start + bytes);
    describe(r, start, bytes, as_mmap);
    r->object = object ? object : ++mapped.objects;
    r->size = bytes;
    add((struct mapping){.start = start,
                         .end = start + bytes,
                         .dev = ~0ull,
                         .ino = key,
                         .object = r->object,
                         .writable = !(a[2] & RDONLY),
                         .size = r->size});
    contents(start, bytes);
    mapped.sharing |= mapped.forked;
    mapped_anybody_may_map(true);
    return true;
}

/* shmdt does not say how much; the whole object's mapping that begins there goes. */
static bool after_shmdt(const long a[6], struct record_map *r)
{
    for (size_t i = 0; i < mapped.count; i++) {
        struct mapping n = mapped.list[i];
        if (n.start != (gaddr)a[0] || n.dev != ~0ull)
            continue;
        *r = (struct record_map){.start = n.start, .bytes = n.end - n.start, .file = MAP_FILE_NONE};
        cut(n.start, n.end);
        return true;
    }
    return false;
}

/* A vfork child's descriptors are its own. */
static bool has_files(const struct thread *t)
{
    return !threads_is_side(t);
}

bool mapped_after(struct thread *t, long nr, const long a[6], long result, struct record_map *map)
{
    enum { DONTNEED = 4, FREE = 8, DONTNEED_LOCKED = 24 };
    if (SYS_FAILED(result))
        return false;
    if (!has_files(t) && call_info(nr)->replay != REPLAY_MEMORY)
        return false;
    const struct call_kind k = kinds_of(nr);
    switch (k.does) {
    case DOES_MAPS:
        return after_mmap(t, a, result, map);
    case DOES_ATTACHES:
        return after_shmat(a, result, map);
    case DOES_DETACHES:
        return after_shmdt(a, map);
    case DOES_UNMAPS:
        cut((gaddr)a[0], (gaddr)a[0] + PAGE_UP((uint64_t)a[1]));
        return false;
    case DOES_REMAPS:
        return after_mremap(a, result, map);
    case DOES_OPENS:
    case DOES_OPENS_ANYHOW:
        mapped_opened((int)result, kinds_opens_to_write(k, a));
        return false;
    case DOES_FETCHES:
    case DOES_MAKES_FILE:
        mapped_opened((int)result, true);
        return false;
    case DOES_DUPLICATES:
    case DOES_CONTROLS:
        if (kinds_duplicates(k, a))
            mapped_opened((int)result, mapped_may_write_file(a[0]));
        return false;
    case DOES_ADVISES:
        if (a[2] == DONTNEED || a[2] == FREE || a[2] == DONTNEED_LOCKED) {
            later.emptied = (gaddr)a[0];
            later.emptied_end = (gaddr)a[0] + PAGE_UP((uint64_t)a[1]);
        }
        return false;
    case DOES_IMPORTS:
        outputs_received(nr, a, result, mapped_inherited);
        return false;
    case DOES_RESIZES_NAMED:
        mapped_path_size_seen((const char *)a[0]);
        return false;
    case DOES_WRITES:
    case DOES_WRITES_AT:
    case DOES_WRITES_HOW:
    case DOES_RESIZES:
    case DOES_ALLOCATES:
    case DOES_COPIES:
    case DOES_COPIES_AT:
        mapped_file_written(k, a, result);
        return false;
    case DOES_WRITES_BACK:
        mapped_written_back();
        return false;
    case DOES_WRITES_MEMORY:
        mapped_own_ranges_written(a, result);
        return false;
    default:
        return false;
    }
}
