/* mapped.c - files and shared memory that the target has mapped. SPDX-License-Identifier: MIT */
#include "logger/target/mapped.h"

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
#include "logger/target/outputs.h"
#include "logger/target/snapshot.h"

enum { FDS = 1024, MAP_TYPE_ = 0xf };
enum { OBJECTS = 4096, SHADOWS = 64, SHADOW_LIMIT = 4 << 20 };
enum { LOOK_CYCLES = 200 << 20 }; /* 0.1 s */
enum { COPY_LIMIT = 16 << 20 };   /* of shared memory that is mapped a second time */
enum { WHOLE_BYTES = 64 << 20 };  /* files up to this are kept whole: pinball/writer.h */

/* Mappings of files and shared memory; sorted by nothing, there are few. */
struct mapping {
    gaddr start, end;
    uint64_t dev, ino, offset;
    uint32_t object; /* shared, or private but of the same file: its number */
    bool private;
    bool writable; /* shared, and a child that inherits it may write it */
    bool changed;  /* private, of no object, and its file is no longer as it was kept */
    uint64_t size; /* likewise: of its file, when it was mapped; 0: it was not kept */
};

static struct {
    struct mapping *list;
    size_t count, room;
    uint32_t objects;
    uint64_t size[OBJECTS]; /* of each, when last seen */
    bool stale[OBJECTS];    /* a replay may not have what lies outside its mappings */
    bool forked;            /* there were child processes */
    bool sharing;           /* ... or others, and there is memory to share with them */
    bool named;             /* there is memory that any process can find and map */
    bool others;            /* another process really has some and may write it: it was said */
    uint64_t asked, pause;  /* when the recorder was last asked about that, and until it is again */
    int at_once;            /* times that it was asked without a pause */
    size_t shadows;
    struct shadow {
        gaddr start, end;
        uint8_t *copy; /* as it was when last looked at; zeros where that was not possible */
    } shadow[SHADOWS];
    uint64_t writable[FDS / 64]; /* descriptors of regular files that may be written */
    uint64_t watched[FDS / 64];  /* ... which are mapped, too */
} m;

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
    if (m.count == m.room) {
        size_t room = m.room ? 2 * m.room : 1024;
        struct mapping *list = range_alloc(room * sizeof *list);
        memcpy(list, m.list, m.count * sizeof *list);
        if (m.room)
            range_free(m.list, m.room * sizeof *list);
        m.list = list;
        m.room = room;
    }
    m.list[m.count++] = n;
}

static void drop_shadows(gaddr start, gaddr end)
{
    for (size_t i = 0; i < m.shadows;) {
        struct shadow *s = &m.shadow[i];
        if (s->end <= start || s->start >= end) {
            i++;
            continue;
        }
        range_free(s->copy, s->end - s->start);
        *s = m.shadow[--m.shadows];
    }
}

static void cut(gaddr start, gaddr end)
{
    drop_shadows(start, end);
    for (size_t i = 0; i < m.count; i++) {
        struct mapping old = m.list[i];
        if (old.end <= start || old.start >= end)
            continue;
        m.list[i--] = m.list[--m.count];
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
    for (size_t i = 0; i < m.count; i++)
        if (m.list[i].start <= last_page && m.list[i].end > last_page)
            last = m.list[i];
    if (new_bytes < old_bytes) {
        cut(from + new_bytes, from + old_bytes);
        old_bytes = new_bytes;
    }
    if (to != from)
        cut(to, to + new_bytes);
    for (size_t i = 0; i < m.count && to != from; i++) {
        struct mapping n = m.list[i];
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
    for (size_t i = 0; later.emptied_end && i < m.count; i++)
        log_emptied(&m.list[i]);
    later.bytes = 0;
    later.emptied = later.emptied_end = 0;
}

static bool is_stale(uint32_t object)
{
    return object >= OBJECTS || m.stale[object];
}

static uint32_t object_of(uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < m.count; i++)
        if (m.list[i].object && m.list[i].dev == dev && m.list[i].ino == ino)
            return m.list[i].object;
    return 0;
}

static bool is_mapped(uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < m.count; i++)
        if (m.list[i].dev == dev && m.list[i].ino == ino && m.list[i].ino)
            return true;
    return false;
}

void mapped_note(gaddr start, uint64_t bytes, uint64_t dev, uint64_t ino, uint64_t offset,
                 uint64_t size)
{
    add((struct mapping){start, start + bytes, dev, ino, offset, 0, true, false, false, size});
}

/* ---- mappings that were there before ---- */

void mapped_begin(void)
{
    drop_shadows(0, ~0ull);
    m.count = 0;
    m.objects = 0;
    memset(m.size, 0, sizeof m.size);
    memset(m.stale, 0, sizeof m.stale);
    memset(m.writable, 0, sizeof m.writable);
    memset(m.watched, 0, sizeof m.watched);
}

static void anybody_may_map(bool likely);
static struct shadow *shadow_of(const struct mapping *n);

static void log_size(uint32_t object, uint64_t size)
{
    m.size[object] = size;
    struct record_size *s = log_begin(RECORD_SIZE, sizeof *s);
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
    n->object = n->ino ? object_of(n->dev, n->ino) : 0;
}

void mapped_shared_before(const struct maplist_entry *l)
{
    struct mapping n;
    struct filestat st;
    identify(l, &n);
    if (!n.object)
        n.object = ++m.objects;
    rt_check(n.object < OBJECTS);
    const bool is_file = sys4(__NR_newfstatat, -100, (long)l->path, (long)&st, 0) == 0 &&
                         st.dev == l->dev && st.ino == l->ino;
    const uint64_t size = is_file ? (uint64_t)st.size : l->offset + (l->end - l->start);
    if (size > m.size[n.object])
        log_size(n.object, size);
    m.stale[n.object] = true; /* what is not mapped now */
    n.size = m.size[n.object];
    add(n);
    anybody_may_map(n.writable);
    m.sharing |= m.forked;
    if (m.forked) /* what a child writes before the twin has it must be found later */
        shadow_of(&n);
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
    map->size = n.size = m.size[n.object];
    if (n.private)
        add(n);
    return true;
}

/* ---- descriptors that write to mapped files ---- */

static void set_bit(uint64_t *set, int fd, bool on)
{
    if (fd >= 0 && fd < FDS)
        set[fd / 64] = (set[fd / 64] & ~(1ull << (fd % 64))) | (uint64_t)on << (fd % 64);
}

static bool bit(const uint64_t *set, long fd)
{
    return fd >= 0 && fd < FDS && (set[fd / 64] >> (fd % 64) & 1);
}

/* Numbers that the sets have no room for are looked at each time. */
static bool may_write_file(long fd)
{
    struct filestat st;
    return fd < FDS ? bit(m.writable, fd)
                    : filestat_get((int)fd, &st) && filestat_type(&st) == FILESTAT_REGULAR;
}

static bool writes_to_mapped(int fd)
{
    struct filestat st;
    return fd < FDS ? bit(m.watched, fd) : filestat_get(fd, &st) && is_mapped(st.dev, st.ino);
}

static void size_seen(const struct filestat *st);

static void opened(int fd, bool may_write)
{
    struct filestat st;
    bool regular = may_write && filestat_get(fd, &st) && filestat_type(&st) == FILESTAT_REGULAR;
    if (regular)
        size_seen(&st); /* O_TRUNC */
    set_bit(m.writable, fd, regular);
    set_bit(m.watched, fd, regular && is_mapped(st.dev, st.ino));
}

void mapped_inherited(int fd)
{
    outputs_inherited(fd);
    opened(fd, true);
}

/* A vfork child's descriptors are its own. */
static bool has_files(const struct thread *t)
{
    return !threads_is_side(t);
}

static void watch_writers(uint64_t dev, uint64_t ino)
{
    struct filestat st;
    for (int fd = 0; fd < FDS; fd++)
        if ((bit(m.writable, fd) || fd < 3) && filestat_get(fd, &st) && st.dev == dev &&
            st.ino == ino)
            set_bit(m.watched, fd, true);
}

static bool is_private_of(const struct mapping *n, uint64_t dev, uint64_t ino)
{
    return n->private && !n->object && n->size && n->dev == dev && n->ino == ino;
}

static void become_object(struct mapping *n, uint32_t object)
{
    struct record_map *r = log_begin(RECORD_MAP, sizeof *r);
    r->r.flags = PARTLY_OBJECT;
    r->start = n->start;
    r->bytes = n->end - n->start;
    r->prot = r->flags = 0;
    r->file = MAP_FILE_NONE;
    r->object = object;
    r->offset = n->offset;
    r->size = n->size;
    log_commit();
    snapshot_own_pages(n->start, n->end);
    n->object = object;
}

/* Private mappings of the file were not thought to show anything but what was kept of it. Now that
 * it is written through a shared one, or has another size, they show an object. */
static void make_object(uint64_t dev, uint64_t ino)
{
    uint32_t object = object_of(dev, ino);
    for (size_t i = 0; i < m.count && !log_over(); i++) {
        struct mapping *n = &m.list[i];
        if (!is_private_of(n, dev, ino))
            continue;
        if (!object) {
            object = ++m.objects;
            if (object < OBJECTS) {
                m.size[object] = n->size;
                m.stale[object] = n->changed || n->size > WHOLE_BYTES;
            }
        }
        become_object(n, object);
    }
}

/* Is more or less of it there, in one of these mappings, than when it was mapped? */
static bool is_resized(const struct filestat *st)
{
    for (size_t i = 0; i < m.count; i++) {
        const struct mapping *n = &m.list[i];
        uint64_t size = (uint64_t)st->size, least = size < n->size ? size : n->size;
        if (is_private_of(n, st->dev, st->ino) && size != n->size &&
            least < n->offset + (n->end - n->start))
            return true;
    }
    return false;
}

/* The file may have another size now; what is mapped of it comes and goes with that. */
static void size_seen(const struct filestat *st)
{
    if (is_resized(st))
        make_object(st->dev, st->ino);
    uint32_t object = object_of(st->dev, st->ino);
    if (!object || object >= OBJECTS || m.size[object] == (uint64_t)st->size)
        return;
    m.size[object] = (uint64_t)st->size;
    struct record_size *s = log_begin(RECORD_SIZE, sizeof *s);
    s->object = object;
    s->pad = 0;
    s->size = (uint64_t)st->size;
    log_commit();
}

static void path_size_seen(const char *path)
{
    struct filestat st;
    if (sys4(__NR_newfstatat, -100, (long)path, (long)&st, 0) == 0)
        size_seen(&st);
}

static void log_object_piece(uint32_t object, uint64_t offset, const void *data, uint64_t bytes)
{
    uint64_t room = (bytes + 7) & ~7ull;
    struct record_object *o = log_begin(RECORD_OBJECT, sizeof *o + room);
    o->object = object;
    o->pad = 0;
    o->offset = offset;
    o->bytes = bytes;
    memset((uint8_t *)(o + 1) + room - 8, 0, 8);
    memcpy(o + 1, data, bytes);
    log_commit();
}

/* The file's bytes, as the recorder finds them: in memory a private page may hide them. */
static void log_object(uint32_t object, int fd, uint64_t from, uint64_t to)
{
    struct ring *g = log_ring();
    while (from < to && !log_over()) {
        g->keep.fd = fd;
        g->keep.offset = from;
        g->keep.bytes = to - from < sizeof g->keep.path ? to - from : sizeof g->keep.path;
        log_ask(KEEP_READ);
        uint64_t n = g->keep.size;
        if (!n || n > sizeof g->keep.path)
            return; /* the file ends here, or cannot be read */
        log_object_piece(object, from, g->keep.path, n);
        from += n;
    }
}

static bool is_all_mapped(uint32_t object, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < m.count; i++) {
        const struct mapping *n = &m.list[i];
        if (n->object == object && n->offset <= from && to <= n->offset + (n->end - n->start))
            return true;
    }
    return from >= to;
}

/* Bytes [from, to) of the file changed: what of it is in memory is logged. */
static void log_changed(int fd, uint64_t from, uint64_t to)
{
    struct filestat st;
    if (!filestat_get(fd, &st))
        return;
    size_seen(&st);
    uint32_t object = object_of(st.dev, st.ino);
    if (object && object < OBJECTS && !is_all_mapped(object, from, to))
        m.stale[object] = true;
    for (size_t i = 0; i < m.count; i++) {
        struct mapping *n = &m.list[i];
        uint64_t bytes = n->end - n->start;
        if (n->dev == st.dev && n->ino == st.ino)
            n->changed = !n->object;
        if (n->dev != st.dev || n->ino != st.ino || to <= n->offset || from >= n->offset + bytes)
            continue;
        uint64_t first = from > n->offset ? from - n->offset : 0;
        uint64_t last = to - n->offset < bytes ? to - n->offset : bytes;
        if (n->object)
            log_object(n->object, fd, n->offset + first, n->offset + last);
        else
            log_data(n->start + first, last - first, 0);
    }
}

/* /proc/self/mem: the file offset is the address. */
static bool is_own_memory(int fd)
{
    char link[32], path[64], own[64];
    if (!procfs_memory_open)
        return false;
    rt_format(link, sizeof link, "/proc/self/fd/%d", fd);
    rt_format(own, sizeof own, "/proc/%d/mem", (int)sys0(__NR_getpid));
    long n = sys3(__NR_readlink, (long)link, (long)path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return rt_streq(path, own);
}

/* Files of terabytes may be mapped: only what the call has changed is looked at. */
static void file_allocated(int fd, const long a[6])
{
    enum { PUNCH_HOLE = 2, COLLAPSE_RANGE = 8, ZERO_RANGE = 16, INSERT_RANGE = 32 };
    uint64_t from = (uint64_t)a[2], to = from + (uint64_t)a[3];
    if (a[1] & (COLLAPSE_RANGE | INSERT_RANGE))
        to = ~0ull >> 1;
    else if (!(a[1] & (PUNCH_HOLE | ZERO_RANGE)))
        to = from; /* room, and perhaps a new size */
    log_changed(fd, from, to);
}

static bool appends(struct call_kind k, const long a[6], int fd)
{
    enum { GETFL = 3, APPEND = 02000, CALL_APPENDS = 0x10, CALL_DOES_NOT = 0x20 };
    if (k.does == DOES_WRITES_HOW && (a[5] & (CALL_APPENDS | CALL_DOES_NOT)))
        return a[5] & CALL_APPENDS;
    long flags = sys2(__NR_fcntl, fd, GETFL);
    return flags >= 0 && (flags & APPEND);
}

/* All that is new at the end: another thread may have appended, too. */
static void file_appended(int fd, uint64_t bytes)
{
    struct filestat st;
    if (!filestat_get(fd, &st))
        return;
    uint64_t size = (uint64_t)st.size, from = size > bytes ? size - bytes : 0;
    uint32_t object = object_of(st.dev, st.ino);
    if (object && object < OBJECTS && m.size[object] < from)
        from = m.size[object];
    log_changed(fd, from, size);
}

static void file_written(struct call_kind k, const long a[6], long result)
{
    enum { CURRENT = 1 };
    int fd = (int)a[k.arg];
    bool memory = is_own_memory(fd);
    if (result < 0 || (!memory && !writes_to_mapped(fd)))
        return;
    uint64_t at, bytes = (uint64_t)result;
    if (k.does == DOES_RESIZES) {
        log_changed(fd, 0, 0);
        return;
    }
    if (k.does == DOES_ALLOCATES) {
        file_allocated(fd, a);
        return;
    }
    if (!memory && appends(k, a, fd)) {
        file_appended(fd, bytes);
        return;
    }
    if (k.does == DOES_WRITES_AT || (k.does == DOES_WRITES_HOW && a[3] != -1)) {
        at = (uint64_t)a[3];
    } else { /* at the descriptor's own position */
        at = (uint64_t)sys3(__NR_lseek, fd, 0, CURRENT) - bytes;
        if (k.does == DOES_COPIES_AT && a[3] && engine_read(&at, (gaddr)a[3], sizeof at))
            at -= bytes; /* the kernel has moved it on */
    }
    if (memory)
        log_data(at, bytes, 0);
    else
        log_changed(fd, at, at + bytes);
}

/* process_vm_writev to oneself: the remote ranges are here. */
static void own_ranges_written(const long a[6], long result)
{
    uint64_t left = (uint64_t)result;
    for (long i = 0; i < a[4] && left && a[0] == sys0(__NR_getpid); i++) {
        struct {
            gaddr base;
            uint64_t len;
        } v;
        if (!engine_read(&v, (gaddr)a[3] + (uint64_t)i * sizeof v, sizeof v))
            return;
        uint64_t n = v.len < left ? v.len : left;
        log_data(v.base, n, 0);
        left -= n;
    }
}

bool mapped_unseen_output(long nr, const long a[6])
{
    const struct call_kind k = kinds_of(nr);
    return (k.does == DOES_COPIES || k.does == DOES_COPIES_AT) && outputs_of((int)a[k.arg]) != 0;
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
    r->object = ++m.objects;
    r->size = bytes;
    add((struct mapping){start, start + bytes, 0, 0, 0, r->object, false, true, false, 0});
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

/* Shared memory with a name was mapped; `likely`: others do so, too, and the recorder is asked
 * about them soon. A file that is only read mostly is just read. */
static void anybody_may_map(bool likely)
{
    enum { AT_ONCE = 8 };
    if (!m.named)
        m.asked = __builtin_ia32_rdtsc();
    m.pause = m.pause ? m.pause : LOOK_CYCLES;
    m.named = true;
    if (likely && m.at_once++ < AT_ONCE)
        m.asked = 0;
}

static bool after_mmap(struct thread *t, const long a[6], long result, struct record_map *r)
{
    (void)t;
    gaddr start = (gaddr)result;
    uint64_t bytes = PAGE_UP((uint64_t)a[1]);
    struct filestat st;
    cut(start, start + bytes);
    if (a[3] & MAP_ANONYMOUS)
        return after_anonymous(start, bytes, a, r);
    if (!filestat_get((int)a[4], &st))
        return false;
    bool shared = (a[3] & MAP_TYPE_) != MAP_PRIVATE;
    /* A private mapping, too, shows what is written through a shared one, page by page until it is
     * written itself. So where that may happen both are of one object. */
    bool one = shared || object_of(st.dev, st.ino) || may_write_file(a[4]);
    if (shared && may_write((int)a[4]))
        make_object(st.dev, st.ino);
    uint32_t object = one ? object_of(st.dev, st.ino) : 0;
    describe(r, start, bytes, a);
    r->offset = (uint64_t)a[5];
    if (filestat_type(&st) != FILESTAT_REGULAR) { /* /dev/zero and its kind */
        r->flags |= MAP_ANONYMOUS;
        r->object = shared ? ++m.objects : 0;
        r->size = bytes;
        r->offset = 0;
        if (st.rdev != 0x105) /* /dev/zero is all zeros */
            contents(start, bytes);
        add((struct mapping){start, start + bytes, 0, 0, 0, r->object, false, shared, false, 0});
        return true;
    }
    if (object) { /* already there: the replay has it, except what it never had mapped */
        r->size = (uint64_t)st.size;
        if (shared && bytes <= COPY_LIMIT) /* writing a private one would part it from the others */
            contents(start, bytes);
        else if (is_stale(object))
            r->file = mapped_keep((int)a[4], "", st.dev, st.ino, r->offset, bytes, &r->size);
    } else {
        r->file = mapped_keep((int)a[4], "", st.dev, st.ino, r->offset, bytes, &r->size);
        object = one ? ++m.objects : 0;
        if (object && object < OBJECTS) /* of a large file, only what is mapped is kept */
            m.stale[object] = (uint64_t)st.size > WHOLE_BYTES;
        if (r->file == MAP_FILE_NONE) {
            r->size = (uint64_t)st.size;
            contents(start, bytes);
        }
    }
    r->object = object;
    if (object && object < OBJECTS)
        m.size[object] = r->size;
    add((struct mapping){start, start + bytes, st.dev, st.ino, r->offset, object, !shared,
                         shared && may_write((int)a[4]), false,
                         r->file == MAP_FILE_NONE ? 0 : r->size});
    watch_writers(st.dev, st.ino);
    if (shared)
        anybody_may_map(may_write((int)a[4]) || is_of_memory((int)a[4]));
    if (shared && (m.forked || m.sharing)) {
        m.sharing = true;
        if (bytes <= COPY_LIMIT) /* a child may have changed it since the file was kept */
            contents(start, bytes);
    }
    return true;
}

/* Bytes that nobody has mapped until now may have been written since the object was made. Their
 * pages are still untouched here, so they show what the file holds. */
static void object_grown(const struct mapping *n)
{
    uint8_t page[PAGE_BYTES];
    uint64_t size = n->object < OBJECTS ? m.size[n->object] : 0;
    for (uint64_t at = n->offset; at < size && at < n->offset + (n->end - n->start);
         at += PAGE_BYTES) {
        uint64_t bytes = size - at < PAGE_BYTES ? size - at : PAGE_BYTES;
        if (engine_read(page, n->start + (at - n->offset), bytes))
            log_object_piece(n->object, at, page, bytes);
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
    uint32_t object = object_of(~0ull, key);
    cut(start, start + bytes);
    describe(r, start, bytes, as_mmap);
    r->object = object ? object : ++m.objects;
    r->size = bytes;
    add((struct mapping){start, start + bytes, ~0ull, key, 0, r->object, false, !(a[2] & RDONLY),
                         false, r->size});
    contents(start, bytes);
    m.sharing |= m.forked;
    anybody_may_map(true);
    return true;
}

/* shmdt does not say how much; the whole object's mapping that begins there goes. */
static bool after_shmdt(const long a[6], struct record_map *r)
{
    for (size_t i = 0; i < m.count; i++) {
        struct mapping n = m.list[i];
        if (n.start != (gaddr)a[0] || n.dev != ~0ull)
            continue;
        *r = (struct record_map){.start = n.start, .bytes = n.end - n.start, .file = MAP_FILE_NONE};
        cut(n.start, n.end);
        return true;
    }
    return false;
}

/* ---- memory shared with child processes ---- */

/* A child has the shared memory that was mapped before it was forked, and may map the same file on
 * its own later, as any process may that finds it by name. It may write at any time. The runtime
 * looks for what it wrote after each system call of ours, since well-made processes wait for each
 * other by system calls; a program that spins on such memory instead diverges, and the recorder
 * warns of that if there is somebody else who can write.
 */
static struct shadow *shadow_of(const struct mapping *n)
{
    for (size_t i = 0; i < m.shadows; i++)
        if (m.shadow[i].start == n->start && m.shadow[i].end == n->end)
            return &m.shadow[i];
    uint64_t bytes = n->end - n->start;
    if (m.shadows == SHADOWS || bytes > SHADOW_LIMIT)
        return NULL;
    struct shadow *s = &m.shadow[m.shadows++];
    *s = (struct shadow){n->start, n->end, range_alloc(bytes)};
    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) /* some may be guards that nobody reads */
        engine_copy(s->copy + at, (const void *)(n->start + at), PAGE_BYTES);
    return s;
}

static void others_write(void)
{
    m.others = true;
    log_ring()->warnings |= WARN_SHARED_MEMORY;
}

void mapped_forks(long nr, const struct thread *t)
{
    enum { CLONE_VM_ = 0x100 };
    const enum call_does does = kinds_of(nr).does;
    uint64_t flags = does == DOES_CLONES ? t->cpu.gpr[RDI] : 0;
    if (does == DOES_CLONES_BY && !engine_read(&flags, t->cpu.gpr[RDI], 8))
        return;
    if (flags & CLONE_VM_)
        return;
    m.forked = true;
    for (size_t i = 0; i < m.count; i++) {
        const struct mapping n = m.list[i];
        if (!n.object || n.private)
            continue;
        m.sharing = true;
        if (n.writable)
            others_write();
        shadow_of(&n);
    }
}

/* Another process that is no child has some of it. Copies are made here before the present contents
 * are logged, and later writes are found by comparing with them: nothing is lost in between. */
static void share_with_others(void)
{
    others_write();
    for (size_t i = 0; i < m.count && !m.sharing; i++) {
        const struct mapping n = m.list[i];
        if (n.object && !n.private && shadow_of(&n))
            log_data(n.start, n.end - n.start, DATA_AFTER);
    }
    m.sharing = true;
}

/* Whether another process has one of these mappings and may write it: only the recorder can look.
 * That takes a millisecond or more, so it is asked less and less often. */
static void look_for_others(void)
{
    uint64_t now = __builtin_ia32_rdtsc();
    if (m.others || (m.asked && now - m.asked < m.pause))
        return;
    m.pause = m.asked ? 2 * m.pause : LOOK_CYCLES;
    m.asked = now;
    log_ask(KEEP_SHARED);
    if (!log_over() && log_ring()->keep.size)
        share_with_others();
}

/* Once more at the end, so that record warns of a process that came after the last look. */
void mapped_ends(void)
{
    if (!m.named || m.others)
        return;
    log_ask(KEEP_SHARED);
    if (!log_over() && log_ring()->keep.size)
        others_write();
}

/* Logs the words that changed in a page. */
static void compare_page(gaddr page, uint8_t *copy)
{
    uint64_t now[PAGE_BYTES / 8], *old = (uint64_t *)copy;
    if (!engine_read(now, page, sizeof now) || !memcmp(now, old, sizeof now))
        return;
    for (size_t i = 0, from; i < PAGE_BYTES / 8; i++) {
        for (from = i; i < PAGE_BYTES / 8 && now[i] != old[i]; i++)
            old[i] = now[i];
        if (i > from)
            log_data(page + from * 8, (i - from) * 8, DATA_AFTER);
    }
}

void mapped_shared(void)
{
    if (!m.sharing && !m.named)
        return;
    for (size_t i = 0; i < m.count && m.sharing; i++) {
        const struct mapping n = m.list[i];
        struct shadow *s = n.object && !n.private ? shadow_of(&n) : NULL;
        for (gaddr a = n.start; s && a < n.end; a += PAGE_BYTES)
            compare_page(a, s->copy + (a - n.start));
    }
    look_for_others();
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
        opened((int)result, kinds_opens_to_write(k, a));
        return false;
    case DOES_FETCHES:
    case DOES_MAKES_FILE:
        opened((int)result, true);
        return false;
    case DOES_DUPLICATES:
    case DOES_CONTROLS:
        if (kinds_duplicates(k, a))
            opened((int)result, may_write_file(a[0]));
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
        path_size_seen((const char *)a[0]);
        return false;
    case DOES_WRITES:
    case DOES_WRITES_AT:
    case DOES_WRITES_HOW:
    case DOES_RESIZES:
    case DOES_ALLOCATES:
    case DOES_COPIES:
    case DOES_COPIES_AT:
        file_written(k, a, result);
        return false;
    case DOES_WRITES_MEMORY:
        own_ranges_written(a, result);
        return false;
    default:
        return false;
    }
}
