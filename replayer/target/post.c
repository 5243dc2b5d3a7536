/* post.c - the mailbox, and what goes out through it. SPDX-License-Identifier: MIT */
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/core/tools.h"
#include "engine/os/fpstate.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/player.h"

enum { OUTPUT_BYTES = 64 << 10 };

static struct {
    int fd;
    uint64_t bytes;
    uint8_t text[OUTPUT_BYTES];
} out;
static uint64_t run_flags;

struct mailbox *post_box(void)
{
    return (struct mailbox *)engine.mailbox;
}

/* Ends when its parent does: the supervisor, or for a copy the process it was made from. */
static void wait_turn(void)
{
    const struct mailbox *box = post_box();
    const int64_t second[2] = {1, 0};
    const long parent = sys0(__NR_getppid);
    for (int spins = 0; __atomic_load_n(&box->turn, __ATOMIC_ACQUIRE) != TURN_TARGET; spins++) {
        if (spins < 200)
            __builtin_ia32_pause();
        else if (sys4(__NR_futex, (long)&box->turn, FUTEX_WAIT, TURN_HOST, (long)second) ==
                     -ETIMEDOUT &&
                 sys0(__NR_getppid) != parent)
            sys1(__NR_exit_group, 1);
    }
}

/* A copy of this process, which waits for commands in a mailbox of its own. True in the copy. */
static bool copy(struct mailbox *box)
{
    const uint64_t number = box->arg[0] % MAILBOXES;
    long pid = sys0(__NR_fork);
    if (pid) {
        box->arg[0] = (uint64_t)pid;
        return false;
    }
    sys6(__NR_mmap, (long)box, sizeof *box, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
         box->box_fd, (long)(number * sizeof *box));
    space_part();
    wait_turn();
    return true;
}

void post_ask(enum mailbox_ask op)
{
    struct mailbox *box = post_box();
    box->op = op;
    __atomic_store_n(&box->turn, TURN_HOST, __ATOMIC_RELEASE);
    sys3(__NR_futex, (long)&box->turn, FUTEX_WAKE, 1);
    wait_turn();
}

/* ---- output ---- */

void post_flush(void)
{
    struct mailbox *box = post_box();
    if (!out.bytes)
        return;
    memcpy(box->data, out.text, out.bytes);
    box->arg[0] = (uint64_t)out.fd;
    box->arg[1] = out.bytes;
    out.bytes = 0;
    post_ask(TELL_OUTPUT);
}

void post_output(int fd, gaddr from, uint64_t bytes)
{
    if (run_flags & RUN_QUIET)
        return;
    if (fd != out.fd)
        post_flush();
    out.fd = fd;
    while (bytes) {
        uint64_t n = OUTPUT_BYTES - out.bytes < bytes ? OUTPUT_BYTES - out.bytes : bytes;
        uint64_t got = n - engine_copy(out.text + out.bytes, (const void *)from, n);
        out.bytes += got;
        if (out.bytes == OUTPUT_BYTES)
            post_flush();
        if (got < n)
            return;
        from += n;
        bytes -= n;
    }
}

/* ---- commands, while stopped ---- */

static struct thread *find(uint64_t number)
{
    struct thread *t = engine.threads;
    while (t && t->number != number)
        t = t->next;
    return t;
}

static void give_registers(struct thread *self, struct mailbox *box)
{
    struct thread *t = box->arg[0] ? find(box->arg[0]) : self;
    struct mailbox_registers *r = (struct mailbox_registers *)box->data;
    box->arg[0] = 0;
    if (!t)
        return;
    memcpy(r->gpr, t->cpu.gpr, sizeof r->gpr);
    r->rip = t->cpu.rip;
    r->rflags = t->cpu.rflags;
    r->fs_base = t == self ? engine_segments(t).fs : t->fs_base;
    r->gs_base = t->gs_base;
    r->count = thread_count(t);
    r->thread = t->number;
    r->tid = t->tid;
    if (t == self)
        fpstate_save(t, fpstate_features());
    r->xsave_bytes =
        (uint32_t)(fpstate_bytes() < sizeof r->xsave ? fpstate_bytes() : sizeof r->xsave);
    memcpy(r->xsave, t->xsave, r->xsave_bytes);
    box->arg[0] = 1;
}

static void give_threads(struct mailbox *box)
{
    uint32_t *list = (uint32_t *)box->data, n = 0;
    for (struct thread *t = engine.threads; t && n < MAILBOX_DATA_BYTES / 4; t = t->next)
        list[n++] = t->number;
    box->arg[0] = n;
}

static void set_tool(struct mailbox *box)
{
    box->data[31] = 0;
    const struct instrument *tool = box->arg[0] ? tools_find((const char *)box->data) : NULL;
    box->arg[0] = tool || !box->arg[0];
    if (instrument && instrument->finish)
        instrument->finish();
    instrument_install(tool);
    instrument_changed(0, 1ull << 47);
}

/* The position to stop at; its thread may not be there yet. */
static struct {
    uint32_t thread;
    uint64_t count;
    gaddr pc;
} wanted;

static void at_position(struct thread *t)
{
    struct mailbox_stop why = {.reason = STOP_POSITION};
    wanted.thread = 0;
    post_stop(t, &why);
}

static const struct instrument stopper = {.position = at_position};

void post_reached(struct thread *t)
{
    if (wanted.thread != t->number || wanted.count != thread_count(t) || wanted.pc != t->cpu.rip)
        return;
    at_position(t);
}

void post_watch(struct thread *t)
{
    if (wanted.thread != t->number)
        return;
    if (!instrument)
        instrument_install(&stopper);
    engine_stop_at(t, wanted.count, wanted.pc);
}

static void run_on(const struct mailbox *box)
{
    run_flags = box->arg[0];
    wanted.thread = (uint32_t)box->arg[1];
    wanted.count = box->arg[2];
    wanted.pc = box->arg[3];
    struct thread *t = wanted.thread ? find(wanted.thread) : NULL;
    if (t)
        post_watch(t);
}

/* Does one command and asks for the next. */
static void do_command(struct thread *t, struct mailbox *box)
{
    uint64_t n = box->arg[1] < MAILBOX_DATA_BYTES ? box->arg[1] : MAILBOX_DATA_BYTES;
    switch (box->op) {
    case DO_READ:
        box->arg[0] = n - engine_copy(box->data, (const void *)box->arg[0], n);
        break;
    case DO_WRITE:
        box->arg[0] = n - engine_copy((void *)box->arg[0], box->data, n);
        break;
    case DO_REGISTERS:
        give_registers(t, box);
        break;
    case DO_THREADS:
        give_threads(box);
        break;
    case DO_MAPS:
        box->arg[0] = (uint64_t)space_list((int)box->arg[0], (struct mailbox_map *)box->data, 1024);
        break;
    case DO_TOOL:
        set_tool(box);
        break;
    case DO_COPY:
        if (copy(box))
            return; /* the copy has its first command already */
        break;
    default:
        for (;;)
            sys1(__NR_exit_group, 0);
    }
    post_ask(TELL_DONE);
}

/* Returns when the program is to run on. */
static void obey(struct thread *t)
{
    struct mailbox *box = post_box();
    while (box->op != DO_RUN)
        do_command(t, box);
    run_on(box);
}

static uint64_t all_ticks(void)
{
    uint64_t n = engine.total_ticks;
    for (struct thread *t = engine.threads; t; t = t->next)
        n += thread_count(t);
    return n;
}

void post_stop(struct thread *t, struct mailbox_stop *why)
{
    post_flush();
    why->thread = t->number;
    why->count = thread_count(t);
    why->pc = t->cpu.rip;
    why->ticks = all_ticks();
    why->records = cursor_number();
    memcpy(post_box()->data, why, sizeof *why);
    post_ask(TELL_STOP);
    obey(t);
}

bool post_verifies(void)
{
    return run_flags & RUN_VERIFY;
}

/* Formats like rt_say, into the stop. */
static void put_text(struct mailbox_stop *s, const char *fmt, va_list ap)
{
    rt_vformat(s->text, sizeof s->text, fmt, ap);
}

void post_diverged(struct thread *t, const char *fmt, ...)
{
    struct mailbox_stop s = {.reason = STOP_DIVERGED};
    va_list ap;
    va_start(ap, fmt);
    put_text(&s, fmt, ap);
    va_end(ap);
    for (;;)
        post_stop(t, &s);
}

void post_failed(const char *fmt, ...)
{
    struct mailbox_stop s = {.reason = STOP_FAILED};
    va_list ap;
    va_start(ap, fmt);
    put_text(&s, fmt, ap);
    va_end(ap);
    for (;;)
        post_stop(engine.threads, &s);
}
