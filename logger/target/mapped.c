/* mapped.c - files and shared memory that the target has mapped. SPDX-License-Identifier: MIT */
#include "logger/target/mapped.h"

#include "engine/core/engine.h"
#include "engine/os/effects.h"
#include "engine/os/procfs.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/log.h"

enum { EMPTY_PATH = 0x1000, REGULAR = 0100000, TYPE = 0170000, FDS = 1024, MAP_TYPE_ = 0xf };
enum { OBJECTS = 4096, SHADOWS = 64, SHADOW_LIMIT = 4 << 20 };
enum { COPY_LIMIT = 16 << 20 }; /* of shared memory that is mapped a second time */

struct filestat {
    uint64_t dev, ino, nlink;
    uint32_t mode, uid, gid, pad;
    uint64_t rdev;
    int64_t size;
    uint64_t rest[11];
};

/* Mappings of files and shared memory; sorted by nothing, there are few. */
struct mapping {
    gaddr start, end;
    uint64_t dev, ino, offset;
    uint32_t object; /* shared, or private but of the same file: its number */
    bool private;
};

static struct {
    struct mapping *list;
    size_t count, room;
    uint32_t objects;
    uint64_t size[OBJECTS]; /* of each, when last seen */
    bool sharing;           /* ... with child processes */
    size_t shadows;
    struct shadow {
        gaddr start, end;
        uint8_t *copy; /* as it was when last looked at */
    } shadow[SHADOWS];
    uint64_t writable[FDS / 64]; /* descriptors of regular files that may be written */
    uint64_t watched[FDS / 64];  /* ... which are mapped, too */
} m;

/* What a mapping holds is logged once the mapping itself is. */
static struct {
    gaddr start;
    uint64_t bytes;
} later;

static void contents(gaddr start, uint64_t bytes)
{
    later.start = start;
    later.bytes = bytes;
}

void mapped_contents(void)
{
    if (later.bytes)
        log_data(later.start, later.bytes, DATA_AFTER);
    later.bytes = 0;
}

static bool get_stat(int fd, struct filestat *st)
{
    return sys4(__NR_newfstatat, fd, (long)"", (long)st, EMPTY_PATH) == 0;
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

static void cut(gaddr start, gaddr end)
{
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

static void move(gaddr from, uint64_t old_bytes, gaddr to, uint64_t new_bytes)
{
    for (size_t i = 0; i < m.count; i++) {
        struct mapping n = m.list[i];
        if (from < n.start || from >= n.end)
            continue;
        n.offset += from - n.start;
        n.start = to;
        n.end = to + new_bytes;
        cut(from, from + old_bytes);
        cut(to, to + new_bytes);
        add(n);
        return;
    }
    cut(to, to + new_bytes);
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

void mapped_note(gaddr start, uint64_t bytes, uint64_t dev, uint64_t ino, uint64_t offset)
{
    add((struct mapping){start, start + bytes, dev, ino, offset, 0, true});
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

static void size_seen(const struct filestat *st);

static void opened(int fd, bool may_write)
{
    struct filestat st;
    bool regular = may_write && get_stat(fd, &st) && (st.mode & TYPE) == REGULAR;
    if (regular)
        size_seen(&st); /* O_TRUNC */
    set_bit(m.writable, fd, regular);
    set_bit(m.watched, fd, regular && is_mapped(st.dev, st.ino));
}

static void watch_writers(uint64_t dev, uint64_t ino)
{
    struct filestat st;
    for (int fd = 0; fd < FDS; fd++)
        if ((bit(m.writable, fd) || fd < 3) && get_stat(fd, &st) && st.dev == dev && st.ino == ino)
            set_bit(m.watched, fd, true);
}

/* The file may have another size now; what is mapped of it comes and goes with that. */
static void size_seen(const struct filestat *st)
{
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

/* The file's bytes, as the recorder finds them: in memory a private page may hide them. */
static void log_object(uint32_t object, int fd, uint64_t from, uint64_t to)
{
    struct ring *g = log_ring();
    while (from < to && !log_over()) {
        g->keep.fd = fd;
        g->keep.offset = from;
        g->keep.bytes = to - from < sizeof g->keep.path ? to - from : sizeof g->keep.path;
        log_ask(KEEP_READ);
        uint64_t n = g->keep.size, room = (n + 7) & ~7ull;
        if (!n || n > sizeof g->keep.path)
            return; /* the file ends here, or cannot be read */
        struct record_object *o = log_begin(RECORD_OBJECT, sizeof *o + room);
        o->object = object;
        o->pad = 0;
        o->offset = from;
        o->bytes = n;
        memset((uint8_t *)(o + 1) + room - 8, 0, 8);
        memcpy(o + 1, g->keep.path, n);
        log_commit();
        from += n;
    }
}

/* Bytes [from, to) of the file changed: what of it is in memory is logged. */
static void log_changed(int fd, uint64_t from, uint64_t to)
{
    struct filestat st;
    if (!get_stat(fd, &st))
        return;
    size_seen(&st);
    for (size_t i = 0; i < m.count; i++) {
        const struct mapping *n = &m.list[i];
        uint64_t bytes = n->end - n->start;
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

static void file_written(long nr, const long a[6], long result)
{
    enum { CURRENT = 1 };
    int fd = (int)(nr == __NR_copy_file_range || nr == __NR_splice ? a[2] : a[0]);
    bool memory = is_own_memory(fd);
    if (result < 0 || (!memory && !bit(m.watched, fd)))
        return;
    uint64_t at, bytes = (uint64_t)result;
    switch (nr) {
    case __NR_pwrite64:
    case __NR_pwritev:
    case __NR_pwritev2:
        at = (uint64_t)a[3];
        break;
    case __NR_ftruncate:
        log_changed(fd, 0, 0);
        return;
    case __NR_fallocate:
        log_changed(fd, 0, ~0ull >> 1);
        return;
    default:
        at = (uint64_t)sys3(__NR_lseek, fd, 0, CURRENT) - bytes;
        if ((nr == __NR_copy_file_range || nr == __NR_splice) && a[3])
            at = 0, bytes = ~0ull >> 1;
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

static struct filestat outputs[2];

void mapped_outputs(void)
{
    for (int i = 0; i < 2; i++)
        if (!get_stat(i + 1, &outputs[i]))
            outputs[i].ino = 0;
}

bool mapped_unseen_output(long nr, const long a[6])
{
    struct filestat st;
    if (nr != __NR_sendfile && nr != __NR_splice && nr != __NR_copy_file_range && nr != __NR_tee)
        return false;
    long fd = nr == __NR_sendfile ? a[0] : nr == __NR_tee ? a[1] : a[2];
    if (!get_stat((int)fd, &st))
        return false;
    for (int i = 0; i < 2; i++)
        if (outputs[i].ino && outputs[i].ino == st.ino && outputs[i].dev == st.dev)
            return true;
    return false;
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
    add((struct mapping){start, start + bytes, 0, 0, 0, r->object, false});
    return true;
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
    if (!get_stat((int)a[4], &st))
        return false;
    bool shared = (a[3] & MAP_TYPE_) != MAP_PRIVATE;
    /* A private mapping, too, shows what is written through a shared one, page by page until it is
     * written itself. So where that may happen both are of one object. */
    bool one = shared || object_of(st.dev, st.ino) || bit(m.writable, a[4]);
    uint32_t object = one ? object_of(st.dev, st.ino) : 0;
    describe(r, start, bytes, a);
    r->offset = (uint64_t)a[5];
    if ((st.mode & TYPE) != REGULAR) { /* /dev/zero and its kind */
        r->flags |= MAP_ANONYMOUS;
        r->object = shared ? ++m.objects : 0;
        r->size = bytes;
        r->offset = 0;
        if (st.rdev != 0x105) /* /dev/zero is all zeros */
            contents(start, bytes);
        add((struct mapping){start, start + bytes, 0, 0, 0, r->object, false});
        return true;
    }
    if (object) { /* already there: the replay has it, except what it never had mapped */
        if (shared && bytes <= COPY_LIMIT) /* writing a private one would part it from the others */
            contents(start, bytes);
        r->size = (uint64_t)st.size;
    } else {
        r->file = mapped_keep((int)a[4], "", st.dev, st.ino, r->offset, bytes, &r->size);
        object = one ? ++m.objects : 0;
        if (r->file == MAP_FILE_NONE) {
            r->size = (uint64_t)st.size;
            contents(start, bytes);
        }
    }
    r->object = object;
    if (object && object < OBJECTS)
        m.size[object] = r->size;
    add((struct mapping){start, start + bytes, st.dev, st.ino, r->offset, object, !shared});
    watch_writers(st.dev, st.ino);
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
    add((struct mapping){start, start + bytes, ~0ull, key, 0, r->object, false});
    contents(start, bytes);
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

/* A child that was forked after shared memory was mapped may write it at any time. What it wrote is
 * looked for after each system call of ours, by which processes that know what they do wait for
 * each other; a program that spins on such memory instead diverges, and the recorder warns of that.
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
    if (engine_copy(s->copy, (const void *)n->start, bytes))
        s->copy = NULL; /* cannot be read: nobody depends on it */
    return s;
}

void mapped_forks(long nr, const struct thread *t)
{
    enum { CLONE_VM_ = 0x100 };
    uint64_t flags = nr == __NR_clone ? t->cpu.gpr[RDI] : 0;
    if (nr == __NR_clone3 && !engine_read(&flags, t->cpu.gpr[RDI], 8))
        return;
    for (size_t i = 0; i < m.count && !(flags & CLONE_VM_); i++) {
        const struct mapping n = m.list[i];
        if (!n.object || n.private)
            continue;
        m.sharing = true;
        log_ring()->warnings |= WARN_SHARED_MEMORY;
        shadow_of(&n);
    }
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
    if (!m.sharing)
        return;
    for (size_t i = 0; i < m.count; i++) {
        const struct mapping n = m.list[i];
        struct shadow *s = n.object && !n.private ? shadow_of(&n) : NULL;
        for (gaddr a = n.start; s && s->copy && a < n.end; a += PAGE_BYTES)
            compare_page(a, s->copy + (a - n.start));
    }
}

bool mapped_after(struct thread *t, long nr, const long a[6], long result, struct record_map *map)
{
    enum { ACCMODE = 3, DUPFD = 0, DUPFD_CLOEXEC = 1030 };
    if (SYS_FAILED(result))
        return false;
    if (t->process == t->own_process && call_info(nr)->replay != REPLAY_MEMORY)
        return false; /* a vfork child's descriptors are its own */
    switch (nr) {
    case __NR_mmap:
        return after_mmap(t, a, result, map);
    case __NR_shmat:
        return after_shmat(a, result, map);
    case __NR_shmdt:
        return after_shmdt(a, map);
    case __NR_munmap:
        cut((gaddr)a[0], (gaddr)a[0] + PAGE_UP((uint64_t)a[1]));
        return false;
    case __NR_mremap:
        move((gaddr)a[0], PAGE_UP((uint64_t)a[1]), (gaddr)result, PAGE_UP((uint64_t)a[2]));
        return false;
    case __NR_open:
        opened((int)result, a[1] & ACCMODE);
        return false;
    case __NR_openat:
        opened((int)result, a[2] & ACCMODE);
        return false;
    case __NR_openat2:
    case __NR_creat:
    case __NR_memfd_create:
        opened((int)result, true);
        return false;
    case __NR_dup:
    case __NR_dup2:
    case __NR_dup3:
        opened((int)result, bit(m.writable, a[0]));
        return false;
    case __NR_fcntl:
        if (a[1] == DUPFD || a[1] == DUPFD_CLOEXEC)
            opened((int)result, bit(m.writable, a[0]));
        return false;
    case __NR_truncate:
        path_size_seen((const char *)a[0]);
        return false;
    case __NR_write:
    case __NR_writev:
    case __NR_pwrite64:
    case __NR_pwritev:
    case __NR_pwritev2:
    case __NR_ftruncate:
    case __NR_fallocate:
    case __NR_sendfile:
    case __NR_splice:
    case __NR_copy_file_range:
        file_written(nr, a, result);
        return false;
    case __NR_process_vm_writev:
        own_ranges_written(a, result);
        return false;
    default:
        return false;
    }
}
