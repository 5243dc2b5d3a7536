/* log_ring.c - the ring as a sink of the log, and the recorder behind it.
 * SPDX-License-Identifier: MIT */
#include "logger/target/log.h"

#include "engine/core/engine.h"
#include "engine/os/threads.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { RANDOM = 1, DONTFORK = 10, SEEK_END_ = 2 };

static struct {
    struct ring *ring;
    struct sink_writer *writer; /* the log's */
    struct ring_segment *state;
    uint32_t index;
} here;

/* The recorder stops when the program does, for the shell's sake. If somebody let only the program
 * go on, the recorder has to be woken; or it was stopped by somebody else. */
static void wake_recorder(void)
{
    enum { CONTINUE = 18 };
    const struct thread *t = thread_self();
    if (threads_is_side(t))
        return; /* the recorder would not know that it is from the program */
    sys2(__NR_kill, here.ring->recorder, CONTINUE);
}

static void ring_bell(void)
{
    __atomic_add_fetch(&here.ring->bell, 1, __ATOMIC_RELEASE);
    sys3(__NR_futex, (long)&here.ring->bell, FUTEX_WAKE, 1);
    if (__atomic_load_n(&here.ring->paused, __ATOMIC_ACQUIRE))
        wake_recorder();
}

/* It is our parent; a process that only shares our memory cannot tell. */
static bool recorder_lives(void)
{
    const struct thread *t = thread_self();
    return threads_is_side(t) || sys0(__NR_getppid) == here.ring->recorder;
}

/* Waits for the recorder's next answer. False: it is gone. */
static bool wait_answer(uint32_t seen)
{
    const int64_t timeout[2] = {0, 200000000};
    if (__atomic_load_n(&here.ring->answer, __ATOMIC_ACQUIRE) != seen)
        return true;
    sys4(__NR_futex, (long)&here.ring->answer, FUTEX_WAIT, seen, (long)timeout);
    if (__atomic_load_n(&here.ring->answer, __ATOMIC_ACQUIRE) != seen)
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
    here.ring->last.ticks = ticks;
}

void log_last(const struct thread *t)
{
    struct ring_last *last = &here.ring->last;
    if (here.writer->over)
        return;
    last->thread = t->number;
    last->count = thread_count(t);
    last->pc = t->cpu.rip;
}

void log_idle(bool all)
{
    (void)all; /* each call is a change */
    __atomic_fetch_add(&here.ring->idle, 1, __ATOMIC_RELEASE);
}

static void go_on(uint32_t i)
{
    struct sink_writer *w = here.writer;
    here.index = i;
    here.state = &here.ring->segment[i];
    w->window = (uint8_t *)here.ring + RING_HEAD_BYTES + i * here.ring->segment_bytes;
    w->bytes = here.ring->segment_bytes;
    w->used = here.state->committed;
    w->committed = &here.state->committed;
    w->records = &here.state->records;
}

static void recorder_gone(void)
{
    rt_say("the recorder is gone; the program goes on without being recorded");
    sink_end(here.writer);
}

void log_look_after(void)
{
    if (!here.writer->over && !recorder_lives())
        recorder_gone();
}

static void use_segment(uint32_t i, uint64_t sequence)
{
    here.ring->segment[i].committed = 0;
    here.ring->segment[i].records = 0;
    here.ring->segment[i].sequence = sequence;
    go_on(i);
    __atomic_store_n(&here.state->state, SEGMENT_FILLING, __ATOMIC_RELEASE);
}

/* ---- the sink ---- */

static void begin(struct sink_writer *w)
{
    here.writer = w;
    for (uint32_t i = 0; i < RING_SEGMENTS; i++)
        if (here.ring->segment[i].state == SEGMENT_FILLING) { /* as the program before us left it */
            go_on(i);
            return;
        }
    use_segment(0, 0);
}

static bool next(struct sink_writer *w)
{
    uint64_t sequence = here.state->sequence + 1;
    uint32_t i = (here.index + 1) % RING_SEGMENTS;
    note_ticks();
    here.ring->records += here.state->records;
    __atomic_store_n(&here.state->state, SEGMENT_FULL, __ATOMIC_RELEASE);
    ring_bell();
    while (!w->over) {
        uint32_t seen = __atomic_load_n(&here.ring->answer, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&here.ring->segment[i].state, __ATOMIC_ACQUIRE) == SEGMENT_FREE) {
            use_segment(i, sequence);
            return true;
        }
        if (__atomic_load_n(&here.ring->stop, __ATOMIC_ACQUIRE))
            break; /* the disk is full, and now the ring, too */
        if (!wait_answer(seen))
            recorder_gone();
    }
    return false;
}

static void end(struct sink_writer *w)
{
    (void)w;
    note_ticks();
    __atomic_store_n(&here.ring->target_done, 1, __ATOMIC_RELEASE);
    ring_bell();
}

const struct sink *log_ring_open(int fd)
{
    static const struct sink sink = {.begin = begin, .next = next, .end = end};
    long bytes = sys3(__NR_lseek, fd, 0, SEEK_END_);
    void *at = range_alloc((uint64_t)bytes);
    long r =
        sys6(__NR_mmap, (long)at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (SYS_FAILED(r))
        rt_die("record: the log cannot be mapped (error %ld)", -r);
    sys1(__NR_close, fd);
    sys3(__NR_madvise, r, bytes, DONTFORK);
    sys3(__NR_madvise, r, bytes, RANDOM); /* there is nothing to read ahead */
    here.ring = at;
    rt_check(here.ring->magic == RING_MAGIC);
    here.ring->last = (struct ring_last){0};
    return &sink;
}

int log_again(void)
{
    char path[64];
    if (!recorder_lives() || __atomic_load_n(&here.ring->stop, __ATOMIC_ACQUIRE))
        return -1;
    rt_format(path, sizeof path, "/proc/%d/fd/%d", here.ring->recorder, here.ring->fd);
    return (int)sys4(__NR_openat, -100, (long)path, 2 /* read and write, over the exec */, 0);
}

uint64_t log_records(void)
{
    return here.state ? here.ring->records + here.state->records : 0;
}

bool log_recorder_lives(void)
{
    return recorder_lives();
}

struct ring *log_ring(void)
{
    return here.ring;
}

/* Waits for the recorder to do it. False: it is gone. */
static bool request(uint32_t what)
{
    struct ring *g = here.ring;
    __atomic_store_n(&g->keep.state, what, __ATOMIC_RELEASE);
    ring_bell();
    for (;;) {
        uint32_t seen = __atomic_load_n(&g->answer, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&g->keep.state, __ATOMIC_ACQUIRE) == KEEP_DONE)
            return true; /* if the disk is full, without a file: the log goes on as long as it has
                            room */
        if (!wait_answer(seen))
            return false;
    }
}

void log_ask(uint32_t what)
{
    here.ring->keep.file = MAP_FILE_NONE;
    here.ring->keep.size = 0;
    if (!here.writer->over && !request(what))
        recorder_gone();
}

bool log_ask_outside(uint32_t what)
{
    here.ring->keep.size = 0;
    return request(what);
}

/* Until a number of the recorder's is more than this. */
static bool await(const uint32_t *number, uint32_t than)
{
    for (;;) {
        uint32_t seen = __atomic_load_n(&here.ring->answer, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(number, __ATOMIC_ACQUIRE) > than)
            return true;
        if (__atomic_load_n(&here.ring->stop, __ATOMIC_ACQUIRE))
            return false;
        if (!wait_answer(seen))
            return false;
    }
}

bool log_await_part(uint32_t part)
{
    return await(&here.ring->region.ready, part);
}

bool log_await_memory(void)
{
    return await(&here.ring->memory.state, MEMORY_BEGUN);
}
