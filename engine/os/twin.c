/* twin.c - a copy of the program that the program cannot see.
 *
 * SPDX-License-Identifier: MIT
 *
 * 1. clone(CLONE_PARENT) makes a sibling of the program. CLONE_FILES and an unsharing close take no
 *    reference to any open file: a pipe that the program closes is closed, and locks are released.
 * 2. Until the twin is ready the program stands still: shared memory is copied and given up before
 *    the program or its children can change it, or count who has it attached.
 * 3. What the program keeps from its forks (MADV_DONTFORK, MADV_WIPEONFORK) is copied all the same:
 *    the advice is taken back for the moment. Only smaps tells where it is, so that is read only if
 *    the program ever gave such an advice.
 */
#include "engine/os/twin.h"

#include "engine/rt/maplist.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum {
    PARENT = 0x8000, /* CLONE_* */
    FILES = 0x400,
    UNTRACED = 0x800000,
    CHILD = 17, /* SIGCHLD */
    KILL = 9,
};

/* prctl */
enum { SET_PDEATHSIG = 1, SET_DUMPABLE = 4, SET_NAME = 15 };

enum {
    ADVICE_DONTFORK = 10,
    ADVICE_DOFORK,
    ADVICE_WIPEONFORK = 18,
    ADVICE_KEEPONFORK,
    ADVICE_POPULATE_READ = 22 /* Linux 5.14 */
};

static uint32_t *ready; /* a futex in memory that both see, until the twin is ready */
static bool advised;

void twin_advised(void)
{
    advised = true;
}

/* ---- memory that forks do not get ---- */

enum { KEPT_BACK = 256 };

static struct {
    size_t count;
    struct kept_back {
        gaddr start, end;
        long advice; /* to be given again */
    } at[KEPT_BACK];
} kept_back;

static bool has_flag(const char *line, const char *flag)
{
    for (; *line && *line != '\n'; line++)
        if (line[0] == ' ' && line[1] == flag[0] && line[2] == flag[1] && line[3] == ' ')
            return true;
    return false;
}

static void advise(const struct kept_back *k, bool take_back)
{
    const long advice = !take_back                     ? k->advice
                        : k->advice == ADVICE_DONTFORK ? ADVICE_DOFORK
                                                       : ADVICE_KEEPONFORK;
    sys3(__NR_madvise, (long)k->start, (long)(k->end - k->start), advice);
}

/* A line of smaps: "START-END ..." begins a mapping, "VmFlags:" ends it. */
static void look_at_line(const char *line, gaddr *start, gaddr *end)
{
    uint64_t from, to;
    const char *dash = rt_hex(line, &from);
    if (dash > line && *dash == '-') {
        rt_hex(dash + 1, &to);
        *start = from;
        *end = to;
        return;
    }
    const bool not_copied = rt_prefix(line, "VmFlags:") && has_flag(line, "dc");
    const bool emptied = rt_prefix(line, "VmFlags:") && has_flag(line, "wf");
    if ((!not_copied && !emptied) || range_overlaps(*start, *end) || kept_back.count == KEPT_BACK)
        return;
    kept_back.at[kept_back.count++] =
        (struct kept_back){*start, *end, not_copied ? ADVICE_DONTFORK : ADVICE_WIPEONFORK};
}

static void find_kept_back(void)
{
    enum { ROOM = 32 << 10 };
    char *text = range_alloc(ROOM);
    size_t have = 0;
    gaddr start = 0, end = 0;
    long fd = sys4(__NR_openat, -100, (long)"/proc/self/smaps", 02000000, 0);
    for (long n = 1; !SYS_FAILED(fd) && n > 0;) {
        n = sys3(__NR_read, fd, (long)(text + have), (long)(ROOM - 1 - have));
        have += n > 0 ? (size_t)n : 0;
        text[have] = 0;
        size_t line = 0;
        for (size_t i = 0; i < have; i++)
            if (text[i] == '\n') {
                look_at_line(text + line, &start, &end);
                line = i + 1;
            }
        if (!line)
            break;
        memmove(text, text + line, have - line);
        have -= line;
    }
    if (!SYS_FAILED(fd))
        sys1(__NR_close, fd);
    range_free(text, ROOM);
}

/* ---- shared memory ---- */

enum { OBJECTS = 1024, LIST_ROOM = 1 << 20, PIECE_PAGES = 1024 };

static struct object {
    uint64_t dev, ino;
    long fd; /* of its copy */
} objects[OBJECTS];
static size_t object_count;

/* The copy of what a mapping shows: one for each file, one for each that is of no file. */
static long copy_of(const struct maplist_entry *l)
{
    for (size_t i = 0; l->ino && i < object_count; i++)
        if (objects[i].dev == l->dev && objects[i].ino == l->ino)
            return objects[i].fd;
    if (object_count == OBJECTS)
        return -1;
    const long fd = sys2(__NR_memfd_create, (long)"twin", 1);
    if (SYS_FAILED(fd))
        return -1;
    objects[object_count++] = (struct object){l->dev, l->ino, fd};
    return fd;
}

/* Is it in memory only, so that pages which are not there hold nothing? Looking at one would make
 * it. */
static bool is_memory(const char *path)
{
    return rt_prefix(path, "/memfd:") || rt_prefix(path, "/SYSV") || rt_prefix(path, "/dev/zero") ||
           rt_prefix(path, "/dev/shm/");
}

static void copy_pages(long fd, uint64_t offset, gaddr from, uint64_t pages, const uint8_t *there)
{
    for (uint64_t i = 0, n; i < pages; i += n) {
        const bool wanted = there[i] & 1;
        for (n = 1; i + n < pages && (there[i + n] & 1) == wanted; n++)
            ;
        for (uint64_t done = 0; wanted && done < n * PAGE_BYTES;) {
            const long w =
                sys4(__NR_pwrite64, fd, (long)(from + i * PAGE_BYTES + done),
                     (long)(n * PAGE_BYTES - done), (long)(offset + i * PAGE_BYTES + done));
            if (w <= 0)
                break; /* behind the file's end, or not readable */
            done += (uint64_t)w;
        }
    }
}

static void touch(gaddr start, uint64_t bytes)
{
    if (!sys3(__NR_madvise, (long)start, (long)bytes, ADVICE_POPULATE_READ))
        return;
    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES)
        *(const volatile uint8_t *)(start + at);
}

/* Pages that there are become present, so that a reader of pagemap knows them from holes. */
static void show_pages(gaddr start, uint64_t bytes, uint8_t *there)
{
    for (uint64_t at = 0; at < bytes; at += PIECE_PAGES * PAGE_BYTES) {
        uint64_t pages = (bytes - at) / PAGE_BYTES;
        pages = pages < PIECE_PAGES ? pages : PIECE_PAGES;
        if (sys3(__NR_mincore, (long)(start + at), (long)(pages * PAGE_BYTES), (long)there) != 0)
            continue;
        for (uint64_t i = 0, n; i < pages; i += n) {
            for (n = 1; i + n < pages && there[i + n] == there[i]; n++)
                ;
            if (there[i] & 1)
                touch(start + at + i * PAGE_BYTES, n * PAGE_BYTES);
        }
    }
}

static void own_mapping(const struct maplist_entry *l)
{
    static uint8_t there[PIECE_PAGES];
    const uint64_t bytes = l->end - l->start, need = l->offset + bytes;
    const long fd = copy_of(l);
    if (fd < 0)
        return;
    const long size = sys3(__NR_lseek, fd, 0, 2);
    if (size < 0 || (uint64_t)size < need)
        sys2(__NR_ftruncate, fd, (long)need);
    for (uint64_t at = 0; at < bytes; at += PIECE_PAGES * PAGE_BYTES) {
        uint64_t pages = (bytes - at) / PAGE_BYTES;
        pages = pages < PIECE_PAGES ? pages : PIECE_PAGES;
        if (!is_memory(l->path) ||
            sys3(__NR_mincore, (long)(l->start + at), (long)(pages * PAGE_BYTES), (long)there) != 0)
            memset(there, 1, pages);
        copy_pages(fd, l->offset + at, l->start + at, pages, there);
    }
    sys6(__NR_mmap, (long)l->start, (long)bytes, l->prot, MAP_SHARED | MAP_FIXED, fd,
         (long)l->offset);
    show_pages(l->start, bytes, there);
}

void twin_own_shared(void)
{
    char *text = range_alloc(LIST_ROOM);
    struct maplist list;
    struct maplist_entry e;
    if (maplist_open(&list, 0, text, LIST_ROOM))
        return;
    while (maplist_next(&list, &e))
        if (e.shared && (e.prot & PROT_READ) && !(e.start >> 47) && !range_overlaps(e.start, e.end))
            own_mapping(&e);
    maplist_close(&list);
    range_free(text, LIST_ROOM);
    for (size_t i = 0; i < object_count; i++)
        sys1(__NR_close, objects[i].fd);
    object_count = 0;
}

/* ---- making it ---- */

static void close_all(int keep_fd)
{
    const long unshares = 2;
    if (SYS_FAILED(sys3(__NR_close_range, keep_fd + 1, ~0u, unshares))) { /* before Linux 5.9 */
        sys1(__NR_unshare, FILES);
        for (int fd = keep_fd + 1; fd < 65536; fd++)
            sys1(__NR_close, fd);
    }
    for (int fd = 0; fd < keep_fd; fd++)
        sys1(__NR_close, fd);
}

static void settle(long parent, int keep_fd)
{
    sys2(__NR_prctl, SET_PDEATHSIG, KILL);
    if (sys0(__NR_getppid) != parent)
        sys1(__NR_exit_group, 1);
    sys2(__NR_setpgid, 0, 0);
    close_all(keep_fd);
    sys1(__NR_chdir, (long)"/");
    sys2(__NR_prctl, SET_DUMPABLE, 1); /* its parent reads it */
    sys2(__NR_prctl, SET_NAME, (long)"drdebug-twin");
}

/* An empty page for it; the program and a twin that is ready share none. */
static bool map_flag(int type)
{
    if (!ready)
        ready = range_alloc(PAGE_BYTES);
    return !SYS_FAILED(sys6(__NR_mmap, (long)ready, PAGE_BYTES, PROT_READ | PROT_WRITE,
                            type | MAP_FIXED | MAP_ANONYMOUS, -1, 0));
}

long twin_make(int keep_fd)
{
    const uint64_t all = ~0ull;
    const long parent = sys0(__NR_getppid);
    uint64_t mask;
    if (!map_flag(MAP_SHARED))
        return -ENOMEM;
    kept_back.count = 0;
    if (advised)
        find_kept_back();
    for (size_t i = 0; i < kept_back.count; i++)
        advise(&kept_back.at[i], true);
    sys4(__NR_rt_sigprocmask, 2 /* set */, (long)&all, (long)&mask, 8);
    const long pid = sys6(__NR_clone, PARENT | FILES | UNTRACED | CHILD, 0, 0, 0, 0, 0);
    if (pid == 0) {
        settle(parent, keep_fd);
        return 0;
    }
    sys4(__NR_rt_sigprocmask, 2, (long)&mask, 0, 8);
    for (size_t i = 0; i < kept_back.count; i++)
        advise(&kept_back.at[i], false);
    return pid;
}

/* ---- waiting ---- */

void twin_ready(void)
{
    __atomic_store_n(ready, 1, __ATOMIC_RELEASE);
    sys3(__NR_futex, (long)ready, FUTEX_WAKE, 1);
    map_flag(MAP_PRIVATE);
}

/* It is nobody's child here, so /proc tells whether it lives: the state follows its name. */
static bool lives(long pid)
{
    char path[40], text[128];
    rt_format(path, sizeof path, "/proc/%ld/stat", pid);
    const long fd = sys4(__NR_openat, -100, (long)path, 02000000, 0);
    const long n = SYS_FAILED(fd) ? 0 : sys3(__NR_read, fd, (long)text, sizeof text - 1);
    if (!SYS_FAILED(fd))
        sys1(__NR_close, fd);
    for (long i = n - 1; i > 1; i--)
        if (text[i - 2] == ')' && text[i - 1] == ' ')
            return text[i] != 'Z' && text[i] != 'X';
    return false;
}

static bool is_ready(void)
{
    return __atomic_load_n(ready, __ATOMIC_ACQUIRE);
}

bool twin_await(long pid)
{
    const int64_t look[2] = {0, 100000000};
    bool alive = true;
    while (!is_ready() && alive)
        alive =
            sys4(__NR_futex, (long)ready, FUTEX_WAIT, 0, (long)look) != -ETIMEDOUT || lives(pid);
    const bool came = is_ready();
    map_flag(MAP_PRIVATE);
    return came;
}

_Noreturn void twin_wait(void)
{
    for (;;)
        sys0(__NR_pause);
}
