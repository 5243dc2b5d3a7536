/* recorder.c - record a program's execution as a pinball. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "logger/recorder.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/host/launch.h"
#include "logger/group.h"
#include "logger/pages.h"
#include "logger/part.h"
#include "logger/recorder_int.h"
#include "logger/sharers.h"
#include "pinball/format.h"
#include "pinball/record.h"
#include "pinball/records.h"
#include "pinball/ring.h"
#include "pinball/text.h"
#include "pinball/writer.h"

enum { RING_MOST = 8 << 20, RING_LEAST = 512 << 10, NOT_FOUND = 127, CANNOT_RUN = 126 };

/* ---- the ring ---- */

static uint32_t terminal_of(int fd)
{
    unsigned device = 0;
    return fd < 0 || ioctl(fd, TIOCGDEV, &device) ? 0 : device;
}

/* So that the program's log can say which files that it opens are these. */
static void note_outputs(struct ring_outputs *o)
{
    struct stat st;
    int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    o->terminal = terminal_of(terminal);
    if (terminal >= 0)
        close(terminal);
    for (int i = 0; i < 2; i++) {
        if (fstat(i + 1, &st))
            continue;
        o->file[i].dev = st.st_dev;
        o->file[i].ino = st.st_ino;
        o->file[i].terminal = terminal_of(i + 1);
    }
}

/* Its space must be there for good: a full disk must not hit the program. */
static int ring_make(struct recorder *r, struct err *err)
{
    r->ring_fd = openat(writer_dir(r->writer), "ring", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (r->ring_fd < 0)
        return err_set_code(err, errno, "%s/ring: %m", r->dir);
    int why = ENOSPC;
    for (r->ring_bytes = r->what->trial ? RING_LEAST : RING_MOST; r->ring_bytes >= RING_LEAST;
         r->ring_bytes /= 2)
        if ((why = posix_fallocate(r->ring_fd, 0, (off_t)(RING_HEAD_BYTES + r->ring_bytes))) == 0)
            break;
    if (why)
        return err_set_code(err, why, "%s/ring: %s", r->dir, strerror(why));
    r->ring_bytes += RING_HEAD_BYTES;
    if (ftruncate(r->ring_fd, (off_t)r->ring_bytes) || flock(r->ring_fd, LOCK_EX | LOCK_NB))
        return err_set_code(err, errno, "%s/ring: %m", r->dir);
    void *p = mmap(NULL, r->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->ring_fd, 0);
    if (p == MAP_FAILED)
        return err_set(err, "%s/ring: mmap: %m", r->dir);
    madvise(p, r->ring_bytes, MADV_RANDOM); /* there is nothing to read ahead */
    r->ring = p;
    r->ring->version = PINBALL_VERSION;
    r->ring->segment_bytes = (r->ring_bytes - RING_HEAD_BYTES) / RING_SEGMENTS & ~(size_t)4095;
    r->ring->recorder = getpid();
    r->ring->fd = r->ring_fd;
    r->ring->box_fd = r->what->box_fd;
    note_outputs(&r->ring->outputs);
    if (r->what->region)
        r->ring->region = *r->what->region;
    if (r->what->region && r->what->region->begun) { /* with the program */
        r->part.begun = true;
        r->ring->memory.state = MEMORY_WRITTEN;
    }
    r->ring->region.ready = 1;
    r->ring->magic = RING_MAGIC;
    group_bell(&r->ring->bell);
    return 0;
}

void recorder_answer(struct recorder *r)
{
    __atomic_add_fetch(&r->ring->answer, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &r->ring->answer, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The disk is full, or worse: what is written stays, the program goes on without us. What the ring
 * holds stays there until the end. */
void recorder_stop(struct recorder *r, const struct err *why)
{
    if (r->full)
        return;
    r->full = true;
    r->out->disk = *why;
    r->ring->stop_status = why->code;
    __atomic_store_n(&r->ring->stop, END_FULL, __ATOMIC_RELEASE);
    recorder_answer(r);
}

static uint64_t segment_at(const struct recorder *r, uint64_t i)
{
    return RING_HEAD_BYTES + i % RING_SEGMENTS * r->ring->segment_bytes;
}

/* The program may have been killed at any time, and the recorder does not trust it. */
static int write_segment(struct recorder *r, const struct ring_segment *s, struct err *err)
{
    const uint8_t *at = (const uint8_t *)r->ring + segment_at(r, r->next);
    uint64_t count;
    uint64_t committed = __atomic_load_n(&s->committed, __ATOMIC_ACQUIRE);
    const uint64_t room = r->ring->segment_bytes;
    uint64_t bytes = records_check(at, committed < room ? committed : room, &count);
    if (!bytes)
        return 0;
    if (part_holds(r))
        return part_hold(r, at, bytes, count, err);
    if (writer_events(r->writer, at, bytes, count, err))
        return -1;
    summary_add(&r->out->summary, at, bytes);
    return r->what->region ? part_state(r, at, bytes, err) : 0;
}

/* Writes full segments in order; at the end also the one that is being filled. */
int recorder_drain(struct recorder *r, bool last, struct err *err)
{
    for (;;) {
        struct ring_segment *s = &r->ring->segment[r->next % RING_SEGMENTS];
        uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
        bool wanted = state == SEGMENT_FULL || (last && state == SEGMENT_FILLING);
        if (!wanted || s->sequence != r->next || (!last && part_holds_most(r)))
            return 0;
        if (write_segment(r, s, err))
            return -1;
        r->next++;
        __atomic_store_n(&s->state, SEGMENT_FREE, __ATOMIC_RELEASE);
        recorder_answer(r);
    }
}

/* ---- what else the program asks for ---- */

int recorder_open_wanted(struct recorder *r)
{
    struct stat st;
    char link[64];
    const uint64_t dev = r->ring->keep.dev, ino = r->ring->keep.ino;
    int fd = -1;
    if (r->ring->keep.fd >= 0) {
        snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)r->pid, (int)r->ring->keep.fd);
        return open(link, O_RDONLY | O_CLOEXEC);
    }
    r->ring->keep.path[sizeof r->ring->keep.path - 1] = 0;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)r->pid);
    for (int i = 0; i < 2; i++) {
        fd = open(i ? link : r->ring->keep.path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino)
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

static void keep(struct recorder *r)
{
    struct err err;
    uint32_t number = MAP_FILE_NONE;
    uint64_t size = 0;
    int fd = r->full ? -1 : recorder_open_wanted(r);
    if (fd >= 0 && writer_keep(r->writer, fd, r->ring->keep.offset, r->ring->keep.bytes, &number,
                               &size, &err)) {
        number = MAP_FILE_NONE;                            /* what it holds goes into the log */
        if (recorder_no_room(err.code) && err.code != EIO) /* which may be that file's */
            recorder_stop(r, &err);
    }
    if (fd >= 0)
        close(fd);
    r->ring->keep.file = number;
    r->ring->keep.size = size;
    __atomic_store_n(&r->ring->keep.state, KEEP_DONE, __ATOMIC_RELEASE);
    recorder_answer(r);
    if (!r->full && !part_begins(r) && !r->what->trial && writer_keep_flush(r->writer, &err))
        recorder_stop(r, &err);
}

static void serve_read(struct recorder *r)
{
    char link[64];
    uint64_t bytes = r->ring->keep.bytes;
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)r->pid, (int)r->ring->keep.fd);
    int fd = open(link, O_RDONLY | O_CLOEXEC);
    if (bytes > sizeof r->ring->keep.path)
        bytes = sizeof r->ring->keep.path;
    ssize_t n = fd < 0 ? -1 : pread(fd, r->ring->keep.path, bytes, (off_t)r->ring->keep.offset);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        r->ring->warnings |= WARN_UNSEEN_WRITE;
    r->ring->keep.size = n > 0 ? (uint64_t)n : 0;
    __atomic_store_n(&r->ring->keep.state, KEEP_DONE, __ATOMIC_RELEASE);
    recorder_answer(r);
}

static void serve_pages(struct recorder *r)
{
    struct ring_pages found[RING_PAGES];
    const uint64_t from = r->ring->keep.offset, to = from + r->ring->keep.bytes;
    size_t n = pages_written(r->pid, from, to, &r->pages_next, found, RING_PAGES);
    memcpy(r->ring->keep.pages, found, n * sizeof found[0]);
    r->ring->keep.size = n;
    __atomic_store_n(&r->ring->keep.state, KEEP_DONE, __ATOMIC_RELEASE);
    recorder_answer(r);
}

static void serve_shared(struct recorder *r)
{
    r->ring->keep.size = sharers_find(r->pid, r->ring);
    __atomic_store_n(&r->ring->keep.state, KEEP_DONE, __ATOMIC_RELEASE);
    recorder_answer(r);
}

static void add_cpu(struct text *text)
{
    unsigned a, b, c, d, brand[12] = {0};
    char words[200] = "";
    size_t n = 0;
    static const struct {
        unsigned leaf, sub;
    } leaf[] = {{1, 0}, {7, 0}, {7, 1}, {0xd, 1}, {0x80000001, 0}};
    for (size_t i = 0; i < sizeof leaf / sizeof leaf[0]; i++) {
        a = b = c = d = 0;
        __get_cpuid_count(leaf[i].leaf, leaf[i].sub, &a, &b, &c, &d);
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%x:%x:%x:%x", i ? " " : "", a, b, c,
                              d);
    }
    text_add(text, "cpuid", words);
    if (__get_cpuid(0x80000002, &brand[0], &brand[1], &brand[2], &brand[3])) {
        __get_cpuid(0x80000003, &brand[4], &brand[5], &brand[6], &brand[7]);
        __get_cpuid(0x80000004, &brand[8], &brand[9], &brand[10], &brand[11]);
    }
    char model[sizeof brand + 1] = "";
    memcpy(model, brand, sizeof brand);
    for (size_t len = strlen(model); len && model[len - 1] == ' ';)
        model[--len] = 0;
    text_addf(text, "machine", "x86_64 %s", model[0] ? model : "unknown");
}

static int write_head(struct recorder *r, struct err *err)
{
    struct text text = {0};
    struct utsname u;
    char *cwd = getcwd(NULL, 0);
    text_add(&text, "program", r->what->path);
    for (char *const *a = r->what->argv; *a; a++)
        text_add(&text, "arg", *a);
    if (cwd)
        text_add(&text, "cwd", cwd);
    free(cwd);
    add_cpu(&text);
    if (uname(&u) == 0)
        text_addf(&text, "kernel", "%s %s", u.sysname, u.release);
    text_add(&text, "drdebug", r->what->version);
    if (r->what->schedule)
        text_addf(&text, "schedule", "%s, seed %llu", r->what->schedule,
                  (unsigned long long)r->what->seed);
    if (r->what->region)
        part_head(r, &text);
    int result = writer_head(r->writer, text.data, text.bytes, err);
    text_deinit(&text);
    return result;
}

static void serve(struct recorder *r)
{
    if (__atomic_load_n(&r->ring->keep.state, __ATOMIC_ACQUIRE) == KEEP_ASKED)
        keep(r);
    if (__atomic_load_n(&r->ring->keep.state, __ATOMIC_ACQUIRE) == KEEP_PAGES)
        serve_pages(r);
    if (__atomic_load_n(&r->ring->keep.state, __ATOMIC_ACQUIRE) == KEEP_READ)
        serve_read(r);
    if (__atomic_load_n(&r->ring->keep.state, __ATOMIC_ACQUIRE) == KEEP_SHARED)
        serve_shared(r);
    if (__atomic_load_n(&r->ring->keep.state, __ATOMIC_ACQUIRE) == KEEP_MEMORY)
        part_serve_memory(r);
    if (__atomic_load_n(&r->ring->keep.state, __ATOMIC_ACQUIRE) == KEEP_PLACES)
        part_serve_places(r);
    if (__atomic_load_n(&r->ring->keep.state, __ATOMIC_ACQUIRE) == KEEP_LOADED)
        part_serve_loaded(r);
    struct err err;
    if (!r->full && recorder_drain(r, false, &err))
        recorder_stop(r, &err);
}

/* ---- the program's life ---- */

/* In the child; returns only if it cannot become the program. */
static void become_program(struct recorder *r, int report)
{
    char options[512], schedule[64] = "";
    struct launch l = {r->what->path, r->what->argv, options};
    struct err err;
    if (r->what->schedule)
        snprintf(schedule, sizeof schedule, ",%s=%llu", r->what->schedule,
                 (unsigned long long)r->what->seed);
    snprintf(options, sizeof options, "record=%d%s%s%s%s", r->ring_fd,
             r->what->box_fd ? ",live=1" : "", schedule,
             r->what->options && *r->what->options ? "," : "",
             r->what->options ? r->what->options : "");
    fcntl(r->ring_fd, F_SETFD, 0);
    if (r->what->trial) /* where it is permitted, runs have the same addresses */
        personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
    launch_exec(&l, &err);
    err.code = errno;
    if (write(report, &err, sizeof err) < 0)
        _exit(CANNOT_RUN);
    _exit(CANNOT_RUN);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int start_program(struct recorder *r, struct err *err)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC))
        return err_set(err, "pipe: %m");
    fflush(NULL);
    r->pid = fork();
    if (r->pid == 0) {
        group_give_back();
        become_program(r, report[1]);
    }
    r->started = now_ns();
    group_begin(r->pid);
    if (r->pid > 0 && r->what->started)
        r->what->started(r->what->arg, r->pid);
    close(report[1]);
    struct err failed;
    siginfo_t info = {0};
    ssize_t n = -1;
    while (r->pid > 0 && (n = read(report[0], &failed, sizeof failed)) < 0 && errno == EINTR)
        if (waitid(P_PID, (id_t)r->pid, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == r->pid)
            group_stop(r->pid, info.si_status, &r->ring->paused); /* before it begins */
    close(report[0]);
    if (r->pid < 0)
        return err_set(err, "fork: %m");
    if (n == (ssize_t)sizeof failed) {
        waitpid(r->pid, NULL, 0);
        *err = failed;
        err->code = failed.code == ENOENT ? NOT_FOUND : CANNOT_RUN;
        return -1;
    }
    return 0;
}

/* ---- the wait ---- */

static void write_end(struct recorder *r);

/* A pinball for the next part, where the ring is from now on. */
static struct writer *next_writer(struct recorder *r, struct err *err)
{
    struct recorder next = *r;
    next.index++;
    next.dir = r->what->dir[next.index];
    next.writer = writer_new(next.dir, err);
    if (!next.writer)
        return NULL;
    if (!write_head(&next, err)) {
        if (linkat(writer_dir(r->writer), "ring", writer_dir(next.writer), "ring", 0) == 0 ||
            renameat(writer_dir(r->writer), "ring", writer_dir(next.writer), "ring") == 0)
            return next.writer;
        err_set_code(err, errno, "%s/ring: %m", next.dir);
    }
    writer_undo(next.writer);
    writer_free(next.writer);
    return NULL;
}

static void begin_next(struct recorder *r, struct writer *writer)
{
    writer_free(r->writer);
    r->writer = writer;
    r->index++;
    r->dir = r->what->dir[r->index];
    r->out++;
    r->out->made = true;
    r->next = r->pages_next = 0;
    part_reset(r);
    r->ring->memory = (struct ring_memory){0};
    r->ring->records = 0;
    r->ring->last = (struct ring_last){0};
    r->ring->warnings = 0;
    r->ring->target_done = 0;
    __atomic_store_n(&r->ring->region.ready, r->index + 1, __ATOMIC_RELEASE);
    recorder_answer(r);
}

/* The part is over: its recording can be used while the program goes on, if it does. */
static void close_part(struct recorder *r)
{
    struct err err;
    if (r->closed || part_holds(r) ||
        __atomic_load_n(&r->ring->region.ended, __ATOMIC_ACQUIRE) <= r->index ||
        !__atomic_load_n(&r->ring->target_done, __ATOMIC_ACQUIRE))
        return;
    const bool more = !r->full && r->index + 1 < r->what->region->parts;
    struct writer *next = more ? next_writer(r, &err) : NULL;
    write_end(r);
    if (next) {
        begin_next(r, next);
        return;
    }
    if (more)
        recorder_stop(r, &err);
    r->closed = true;
    if (r->what->stops)
        kill(r->pid, SIGKILL);
}

/* The debugger is gone without a word. */
static void look_for_loss(struct recorder *r)
{
    if (!r->what->box_fd || r->ring->lost || getppid() == r->what->debugger)
        return;
    __atomic_store_n(&r->ring->lost, 1, __ATOMIC_RELEASE);
    if (r->what->ends_with_debugger)
        kill(r->pid, SIGKILL);
}

/* A moment may pass until a signal that is on its way arrives. */
static void look_for_hang(struct recorder *r)
{
    enum { LONG_ENOUGH = 500000000 };
    const uint32_t idle = __atomic_load_n(&r->ring->idle, __ATOMIC_ACQUIRE);
    const uint64_t now = now_ns();
    if (idle != r->idle)
        r->idle_at = now;
    r->idle = idle;
    if (r->hung || idle % 2 == 0 || now - r->idle_at < LONG_ENOUGH)
        return;
    r->hung = true;
    if (r->what->hangs)
        r->what->hangs();
    if (r->what->trial) {
        r->out->stuck = true;
        kill(r->pid, SIGKILL);
    }
}

static uint64_t cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A trial that does not come to an end: it computes, or waits for nobody. */
static void look_for_limit(struct recorder *r)
{
    enum { WAITS_LONGER = 10 };
    const uint64_t most = r->what->trial ? r->what->trial->cpu_ns : 0;
    if (!most || r->out->too_long)
        return;
    if (cpu_ns(r->pid) < most && now_ns() - r->started < WAITS_LONGER * most)
        return;
    r->out->too_long = true;
    kill(r->pid, SIGKILL);
}

static void wait_program(struct recorder *r)
{
    for (;;) {
        uint32_t seen = __atomic_load_n(&r->ring->bell, __ATOMIC_ACQUIRE);
        int status;
        group_pass_on(r->pid); /* before a stop: what ends it would take signals away */
        struct rusage used;
        pid_t changed = wait4(r->pid, &status, WNOHANG | WUNTRACED, &used);
        if (changed == r->pid && WIFSTOPPED(status)) {
            group_stop(r->pid, WSTOPSIG(status), &r->ring->paused);
        } else if (changed == r->pid) {
            r->wait_status = status;
            r->out->used_ns =
                (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000u +
                (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
            part_end_sentry(r);
            return;
        }
        if (!r->closed)
            serve(r);
        close_part(r);
        look_for_hang(r);
        look_for_loss(r);
        look_for_limit(r);
        const uint64_t quiet = part_fire(r, now_ns() - r->started);
        const uint64_t wait = part_step(r) ? 0 : quiet;
        const struct timespec most = {(time_t)(wait / 1000000000), (long)(wait % 1000000000)};
        syscall(SYS_futex, &r->ring->bell, FUTEX_WAIT, seen, &most, NULL, 0);
    }
}

/* ---- the end ---- */

/* Segments that hold nothing give their room back. The program is gone. */
static void give_room(const struct recorder *r)
{
    for (uint64_t i = 0; i < RING_SEGMENTS; i++)
        if (r->ring->segment[i].state == SEGMENT_FREE)
            fallocate(r->ring_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      (off_t)segment_at(r, i), (off_t)r->ring->segment_bytes);
}

/* Once more, in the room that the ring does not need any more. Files come first: without them the
 * events are worth nothing, while events that find no room stay in the ring. True: all is written.
 */
static bool write_rest(struct recorder *r)
{
    struct err err;
    give_room(r);
    bool kept = !writer_keep_flush(r->writer, &err);
    uint64_t before;
    int bad;
    do {
        before = r->next;
        bad = recorder_drain(r, true, &err);
        give_room(r);
    } while (bad && r->next > before);
    if (!bad && kept && r->out->summary.ended) { /* after all */
        r->full = false;
        r->out->disk.msg[0] = 0;
    }
    return !bad;
}

/* If even that fails, nothing is lost: `ring` stays, and the pinball's next reader finds it. */
static void write_end(struct recorder *r)
{
    struct summary *s = &r->out->summary;
    struct text text = {0};
    struct err err;
    int status = r->wait_status;
    part_finish(r);
    if (!r->full && (recorder_drain(r, true, &err) || writer_keep_flush(r->writer, &err)))
        recorder_stop(r, &err);
    r->out->warnings = r->ring->warnings;
    r->out->begun = r->ring->region.begun > r->index;
    r->out->ended = r->ring->region.ended > r->index;
    r->out->begin_lost = r->full && part_lacks_begin(r);
    if (r->full && (r->out->begin_lost || !write_rest(r)))
        return;
    if (!s->ended || r->full) {
        s->reason = r->full ? END_FULL : END_KILLED;
        s->status = r->full ? r->out->disk.code : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    const struct ring_last last = r->ring->last;
    summary_last(s, &last);
    s->isa = r->ring->isa;
    summary_text(s, &text);
    if (writer_end(r->writer, text.data, text.bytes, &err) && !r->full)
        r->out->disk = err;
    text_deinit(&text);
}

bool recorder_no_room(int error)
{
    return error == ENOSPC || error == EFBIG || error == EDQUOT || error == EIO;
}

static int record(struct recorder *r, struct err *err)
{
    r->writer = writer_new(r->dir, err);
    if (!r->writer)
        return -1;
    if (r->what->trial)
        writer_share(r->writer, r->what->trial->shelf);
    if (ring_make(r, err) || write_head(r, err) || start_program(r, err)) {
        writer_undo(r->writer);
        return -1;
    }
    wait_program(r);
    if (r->closed)
        return 0;
    serve(r);
    const struct recording_trial *trial = r->what->trial;
    if (trial && !trial->keeps(trial->arg, r->wait_status)) {
        r->out->dropped = true;
        writer_undo(r->writer);
        return 0;
    }
    write_end(r);
    return 0;
}

char *recorder_part_name(const char *dir, unsigned part)
{
    static const char suffix[] = ".pinball";
    const size_t n = strlen(dir), end = sizeof suffix - 1;
    const size_t stem = n > end && !strcmp(dir + n - end, suffix) ? n - end : n;
    char *name;
    if (asprintf(&name, "%.*s.%u%s", (int)stem, dir, part, suffix) < 0)
        abort();
    return name;
}

size_t recorder_parts(const struct recording *what)
{
    return what->region ? what->region->parts : 1;
}

int recorder_run(const struct recording *what, struct recorded *out, struct err *err)
{
    struct recorder r = {.what = what, .dir = what->dir[0], .out = out, .ring_fd = -1};
    memset(out, 0, recorder_parts(what) * sizeof *out);
    out->made = true;
    group_take();
    group_key(what->region && part_uses_key(what->region) ? SIGUSR1 : 0);
    int result = record(&r, err);
    out->wait_status = r.wait_status;
    if (result == 0 && what->again)
        group_pause();
    else
        group_leave(result == 0);
    part_deinit(&r);
    if (r.ring)
        munmap(r.ring, r.ring_bytes);
    if (r.ring_fd >= 0)
        close(r.ring_fd);
    writer_free(r.writer);
    return result;
}
