/* mapped_files.c - descriptors that write to files that are mapped. SPDX-License-Identifier: MIT */
#include "engine/core/engine.h"
#include "engine/os/procfs.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/filestat.h"
#include "logger/target/log.h"
#include "logger/target/mapped_int.h"
#include "logger/target/outputs.h"
#include "logger/target/snapshot.h"

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
bool mapped_may_write_file(long fd)
{
    struct filestat st;
    return fd < FDS ? bit(mapped.writable, fd)
                    : filestat_get((int)fd, &st) && filestat_type(&st) == FILESTAT_REGULAR;
}

static bool writes_to_mapped(int fd)
{
    struct filestat st;
    return fd < FDS ? bit(mapped.watched, fd)
                    : filestat_get(fd, &st) && mapped_is_mapped(st.dev, st.ino);
}

void mapped_opened(int fd, bool may_write)
{
    struct filestat st;
    bool regular = may_write && filestat_get(fd, &st) && filestat_type(&st) == FILESTAT_REGULAR;
    if (regular) {
        mapped_size_seen(&st, fd); /* O_TRUNC */
        mapped_own_writes(st.dev, st.ino);
    }
    set_bit(mapped.writable, fd, regular);
    set_bit(mapped.watched, fd, regular && mapped_is_mapped(st.dev, st.ino));
}

void mapped_inherited(int fd)
{
    outputs_inherited(fd);
    mapped_opened(fd, true);
}

void mapped_watch_writers(uint64_t dev, uint64_t ino)
{
    struct filestat st;
    for (int fd = 0; fd < FDS; fd++)
        if ((bit(mapped.writable, fd) || fd < 3) && filestat_get(fd, &st) && st.dev == dev &&
            st.ino == ino)
            set_bit(mapped.watched, fd, true);
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

void mapped_log_object_piece(uint32_t object, uint64_t offset, const void *data, uint64_t bytes)
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
        mapped_log_object_piece(object, from, g->keep.path, n);
        from += n;
    }
}

void mapped_make_object(uint64_t dev, uint64_t ino, int fd)
{
    uint32_t object = mapped_object_of(dev, ino);
    for (size_t i = 0; i < mapped.count && !log_over(); i++) {
        struct mapping *n = &mapped.list[i];
        if (!is_private_of(n, dev, ino))
            continue;
        if (!object) {
            object = ++mapped.objects;
            if (object < OBJECTS) {
                mapped.size[object] = n->size;
                mapped.stale[object] = n->changed || n->size > WHOLE_BYTES;
            }
        }
        become_object(n, object);
        if (n->changed) /* it is made of the file as it was kept */
            log_object(object, fd, n->offset, n->offset + (n->end - n->start));
        n->changed = false;
    }
}

/* Is more or less of it there, in one of these mappings, than when it was mapped? */
static bool is_resized(const struct filestat *st)
{
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping *n = &mapped.list[i];
        uint64_t size = (uint64_t)st->size, least = size < n->size ? size : n->size;
        if (is_private_of(n, st->dev, st->ino) && size != n->size &&
            least < n->offset + (n->end - n->start))
            return true;
    }
    return false;
}

/* ---- behind a file's end, in its last page ----
 *
 * Programs may store there. The kernel clears it, or a part of it, when the file grows, and file
 * systems on disks do when the page is written to the disk. Others keep it: a replay is told. */

enum { PIECE = 512 };

/* A shared mapping of the object that has [from, to). */
static const struct mapping *shows_object(uint32_t object, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping *n = &mapped.list[i];
        if (n->object == object && !n->private && n->offset <= from &&
            to <= n->offset + (n->end - n->start))
            return n;
    }
    return NULL;
}

/* Reads up to a piece of it. How much that was; 0: nothing can be read. */
static uint64_t read_shown(const struct mapping *n, uint64_t from, uint64_t to, uint8_t *bytes)
{
    uint64_t left = to - from < PIECE ? to - from : PIECE;
    return engine_read(bytes, n->start + (from - n->offset), left) ? left : 0;
}

static bool all_zero(const struct mapping *n, uint64_t from, uint64_t to)
{
    uint8_t bytes[PIECE];
    for (; from < to; from += PIECE) {
        uint64_t have = read_shown(n, from, to, bytes);
        if (!have)
            return false;
        for (uint64_t i = 0; i < have; i++)
            if (bytes[i])
                return false;
    }
    return true;
}

static void log_shown(const struct mapping *n, uint64_t from, uint64_t to)
{
    uint8_t bytes[PIECE];
    for (uint64_t have; from < to; from += PIECE)
        if ((have = read_shown(n, from, to, bytes)))
            mapped_log_object_piece(n->object, from, bytes, have);
}

/* The file ended at mapped.size[object] and now ends at `size`. */
static void log_size(uint32_t object, uint64_t size)
{
    const uint64_t old = mapped.size[object], end = PAGE_UP(old);
    const uint64_t clear = size < end ? size : end; /* from here to the page's end */
    const struct mapping *n = size >= old && old < end ? shows_object(object, old, end) : NULL;
    const bool clears = n && all_zero(n, clear, end);
    if (size != old || clears)
        mapped_log_size(object, size, clears ? SIZE_CLEARS : 0);
    if (n)
        log_shown(n, old, clears ? clear : end);
}

void mapped_written_back(void)
{
    for (uint32_t object = 1; object <= mapped.objects && object < OBJECTS; object++)
        log_size(object, mapped.size[object]);
}

void mapped_size_seen(const struct filestat *st, int fd)
{
    if (is_resized(st))
        mapped_make_object(st->dev, st->ino, fd);
    uint32_t object = mapped_object_of(st->dev, st->ino);
    if (!object || object >= OBJECTS || mapped.size[object] == (uint64_t)st->size)
        return;
    log_size(object, (uint64_t)st->size);
}

void mapped_path_size_seen(const char *path)
{
    enum { CLOEXEC_ = 02000000 };
    struct filestat st;
    if (sys4(__NR_newfstatat, -100, (long)path, (long)&st, 0) || !mapped_is_mapped(st.dev, st.ino))
        return;
    long fd = sys4(__NR_openat, -100, (long)path, CLOEXEC_, 0);
    mapped_size_seen(&st, (int)fd);
    mapped_own_writes(st.dev, st.ino);
    if (fd >= 0)
        sys1(__NR_close, fd);
}

static bool is_all_mapped(uint32_t object, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping *n = &mapped.list[i];
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
    mapped_size_seen(&st, fd);
    mapped_own_writes(st.dev, st.ino);
    uint32_t object = mapped_object_of(st.dev, st.ino);
    if (object && object < OBJECTS && !is_all_mapped(object, from, to))
        mapped.stale[object] = true;
    for (size_t i = 0; i < mapped.count; i++) {
        struct mapping *n = &mapped.list[i];
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
    uint32_t object = mapped_object_of(st.dev, st.ino);
    if (object && object < OBJECTS && mapped.size[object] < from)
        from = mapped.size[object];
    log_changed(fd, from, size);
}

void mapped_file_written(struct call_kind k, const long a[6], long result)
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

void mapped_own_ranges_written(const long a[6], long result)
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
