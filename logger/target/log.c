/* log.c - the event log, as the recorded program itself writes it. SPDX-License-Identifier: MIT */
#include "logger/target/log.h"

#include "engine/core/engine.h"
#include "engine/os/threads.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { DATA_PIECE = 32 << 10, RANDOM = 1, DONTFORK = 10, SEEK_END_ = 2 };

static struct {
    struct ring *ring;
    uint64_t ring_bytes;
    uint8_t *segment;
    uint64_t used;
    struct ring_segment *state;
    uint32_t index;
    bool over;
    uint32_t open; /* bytes of the record begun */
} log;
static uint8_t nowhere[RECORD_MAX_BYTES];

/* The recorder stops when the program does, for the shell's sake. If somebody let only the program
 * go on, the recorder has to be woken; or it was stopped by somebody else. */
static void wake_recorder(void)
{
    enum { CONTINUE = 18 };
    const struct thread *t = thread_self();
    if (threads_is_side(t))
        return; /* the recorder would not know that it is from the program */
    sys2(__NR_kill, log.ring->recorder, CONTINUE);
}

static void ring_bell(void)
{
    __atomic_add_fetch(&log.ring->bell, 1, __ATOMIC_RELEASE);
    sys3(__NR_futex, (long)&log.ring->bell, FUTEX_WAKE, 1);
    if (__atomic_load_n(&log.ring->paused, __ATOMIC_ACQUIRE))
        wake_recorder();
}

/* It is our parent; a process that only shares our memory cannot tell. */
static bool recorder_lives(void)
{
    const struct thread *t = thread_self();
    return threads_is_side(t) || sys0(__NR_getppid) == log.ring->recorder;
}

/* Waits for the recorder's next answer. False: it is gone. */
static bool wait_answer(uint32_t seen)
{
    const int64_t timeout[2] = {0, 200000000};
    if (__atomic_load_n(&log.ring->answer, __ATOMIC_ACQUIRE) != seen)
        return true;
    sys4(__NR_futex, (long)&log.ring->answer, FUTEX_WAIT, seen, (long)timeout);
    if (__atomic_load_n(&log.ring->answer, __ATOMIC_ACQUIRE) != seen)
        return true;
    if (!recorder_lives())
        return false;
    wake_recorder();
    return true;
}

static void note_ticks(void)
{
    uint64_t ticks = engine.total_ticks;
    for (const struct thread *t = engine.threads; t; t = t->next)
        ticks += thread_count(t);
    log.ring->last.ticks = ticks;
}

void log_last(const struct thread *t)
{
    struct ring_last *last = &log.ring->last;
    if (log.over)
        return;
    last->thread = t->number;
    last->count = thread_count(t);
    last->pc = t->cpu.rip;
}

static void end_here(void)
{
    if (!log.over) {
        note_ticks();
        log.over = true;
        __atomic_store_n(&log.ring->target_done, 1, __ATOMIC_RELEASE);
        ring_bell();
    }
}

static void go_on(uint32_t i)
{
    log.index = i;
    log.state = &log.ring->segment[i];
    log.segment = (uint8_t *)log.ring + RING_HEAD_BYTES + i * log.ring->segment_bytes;
    log.used = log.state->committed;
}

static void recorder_gone(void)
{
    rt_say("the recorder is gone; the program goes on without being recorded");
    end_here();
}

void log_look_after(void)
{
    if (!log.over && !recorder_lives())
        recorder_gone();
}

static void use_segment(uint32_t i, uint64_t sequence)
{
    go_on(i);
    log.used = 0;
    log.state->committed = 0;
    log.state->records = 0;
    log.state->sequence = sequence;
    __atomic_store_n(&log.state->state, SEGMENT_FILLING, __ATOMIC_RELEASE);
}

static void next_segment(void)
{
    uint64_t sequence = log.state->sequence + 1;
    uint32_t i = (log.index + 1) % RING_SEGMENTS;
    note_ticks();
    __atomic_store_n(&log.state->state, SEGMENT_FULL, __ATOMIC_RELEASE);
    ring_bell();
    for (;;) {
        uint32_t seen = __atomic_load_n(&log.ring->answer, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&log.ring->segment[i].state, __ATOMIC_ACQUIRE) == SEGMENT_FREE) {
            use_segment(i, sequence);
            return;
        }
        if (__atomic_load_n(&log.ring->stop, __ATOMIC_ACQUIRE))
            break; /* the disk is full, and now the ring, too */
        if (!wait_answer(seen)) {
            recorder_gone();
            return;
        }
    }
    end_here();
}

void log_open(int fd)
{
    long bytes = sys3(__NR_lseek, fd, 0, SEEK_END_);
    void *at = range_alloc((uint64_t)bytes);
    long r =
        sys6(__NR_mmap, (long)at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (SYS_FAILED(r))
        rt_die("record: the log cannot be mapped (error %ld)", -r);
    sys1(__NR_close, fd);
    sys3(__NR_madvise, r, bytes, DONTFORK);
    sys3(__NR_madvise, r, bytes, RANDOM); /* there is nothing to read ahead */
    log.ring = at;
    log.ring_bytes = (uint64_t)bytes;
    rt_check(log.ring->magic == RING_MAGIC);
    log.ring->last = (struct ring_last){0};
    for (uint32_t i = 0; i < RING_SEGMENTS; i++)
        if (log.ring->segment[i].state == SEGMENT_FILLING) { /* as the program before us left it */
            go_on(i);
            return;
        }
    use_segment(0, 0);
}

void log_leave(void)
{
    log.over = true; /* and the ring is not even mapped */
}

int log_again(void)
{
    char path[64];
    if (log.over)
        return -1;
    rt_format(path, sizeof path, "/proc/%d/fd/%d", log.ring->recorder, log.ring->fd);
    return (int)sys4(__NR_openat, -100, (long)path, 2 /* read and write, over the exec */, 0);
}

bool log_over(void)
{
    return log.over;
}

struct ring *log_ring(void)
{
    return log.ring;
}

void *log_begin(enum record_kind kind, uint64_t bytes)
{
    rt_check(bytes <= RECORD_MAX_BYTES && bytes % 8 == 0);
    if (!log.over && log.used + bytes > log.ring->segment_bytes)
        next_segment();
    struct record *r = (struct record *)(log.over ? nowhere : log.segment + log.used);
    *r = (struct record){.kind = (uint8_t)kind, .bytes = (uint32_t)bytes};
    log.open = (uint32_t)bytes;
    return r;
}

void log_commit(void)
{
    if (log.over)
        return;
    log.used += log.open;
    log.state->records++;
    __atomic_store_n(&log.state->committed, log.used, __ATOMIC_RELEASE);
}

void log_shorten(uint64_t bytes)
{
    struct record *r = (struct record *)(log.over ? nowhere : log.segment + log.used);
    r->bytes = log.open = (uint32_t)bytes;
}

void log_data(gaddr addr, uint64_t bytes, uint8_t flags)
{
    while (bytes && !log.over) {
        uint64_t n = bytes < DATA_PIECE ? bytes : DATA_PIECE;
        struct record_data *d = log_begin(RECORD_DATA, sizeof *d + ((n + 7) & ~7ull));
        uint64_t got = n - engine_copy(d + 1, (const void *)addr, n), room = (got + 7) & ~7ull;
        if (!got)
            return; /* not committed */
        d->r.flags = flags;
        d->addr = addr;
        d->bytes = got;
        memset((uint8_t *)(d + 1) + got, 0, room - got);
        log_shorten(sizeof *d + room);
        log_commit();
        if (got < n)
            return;
        addr += n;
        bytes -= n;
    }
}

void log_ask(uint32_t what)
{
    struct ring *g = log.ring;
    g->keep.file = MAP_FILE_NONE;
    g->keep.size = 0;
    if (log.over)
        return;
    __atomic_store_n(&g->keep.state, what, __ATOMIC_RELEASE);
    ring_bell();
    for (;;) {
        uint32_t seen = __atomic_load_n(&g->answer, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&g->keep.state, __ATOMIC_ACQUIRE) == KEEP_DONE)
            break; /* if the disk is full, without a file: the log goes on as long as it has room */
        if (!wait_answer(seen)) {
            recorder_gone();
            break;
        }
    }
}
