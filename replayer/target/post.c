/* post.c - the mailbox, and what goes out through it. SPDX-License-Identifier: MIT */
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/core/tools.h"
#include "engine/os/fpstate.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/fence.h"
#include "replayer/target/player.h"

static uint64_t run_flags;

struct mailbox *post_box(void)
{
    return (struct mailbox *)engine.mailbox;
}

static void wait_turn(void)
{
    const struct mailbox *box = post_box();
    for (int spins = 0; __atomic_load_n(&box->turn, __ATOMIC_ACQUIRE) != TURN_TARGET; spins++) {
        if (spins < 200)
            __builtin_ia32_pause();
        else
            sys4(__NR_futex, (long)&box->turn, FUTEX_WAIT, TURN_HOST, 0);
    }
}

void post_ask(enum mailbox_ask op)
{
    struct mailbox *box = post_box();
    box->op = op;
    __atomic_store_n(&box->turn, TURN_HOST, __ATOMIC_RELEASE);
    sys3(__NR_futex, (long)&box->turn, FUTEX_WAKE, 1);
    wait_turn();
}

/* A copy of this process, which waits for commands in a mailbox of its own. True in the copy. Its
 * parent is ours, the supervisor. */
static bool copy(struct mailbox *box)
{
    const uint64_t number = box->arg[0] % MAILBOXES;
    long pid = sys6(__NR_clone, CONFINE_COPY_FLAGS, 0, 0, 0, 0, 0);
    if (pid) {
        box->arg[0] = (uint64_t)pid;
        return false;
    }
    if (SYS_FAILED(sys6(__NR_mmap, (long)box, sizeof *box, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, box->box_fd, (long)(number * sizeof *box))))
        sys1(__NR_exit_group, 1);
    space_part();
    post_ask(TELL_DONE); /* now the other one may run on */
    return true;
}

/* ---- commands, while stopped ---- */

struct thread *post_thread(uint64_t number)
{
    struct thread *t = engine.threads;
    while (t && t->number != number)
        t = t->next;
    return t;
}

static void give_registers(struct thread *self, struct mailbox *box)
{
    struct thread *t = box->arg[0] ? post_thread(box->arg[0]) : self;
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

/* Of a diversion. */
static void set_registers(struct thread *self, struct mailbox *box)
{
    struct thread *t = box->arg[0] ? post_thread(box->arg[0]) : self;
    const struct mailbox_registers *r = (const struct mailbox_registers *)box->data;
    box->arg[0] = 0;
    if (!t || !divert_is_on())
        return;
    memcpy(t->cpu.gpr, r->gpr, sizeof r->gpr);
    t->cpu.rip = r->rip;
    t->cpu.rflags = (t->cpu.rflags & ~FLAGS_SETTABLE) | (r->rflags & FLAGS_SETTABLE);
    if (r->xsave_bytes == fpstate_bytes() && r->xsave_bytes <= sizeof r->xsave)
        memcpy(t->xsave, r->xsave, r->xsave_bytes);
    if (t == self)
        fpstate_load(t, fpstate_features());
    box->arg[0] = 1;
}

static void give_threads(struct mailbox *box)
{
    struct mailbox_thread *list = (struct mailbox_thread *)box->data;
    uint64_t n = 0;
    for (struct thread *t = engine.threads; t && n < MAILBOX_DATA_BYTES / sizeof *list;
         t = t->next, n++) {
        list[n].number = t->number;
        list[n].tid = t->tid;
        memcpy(list[n].name, t->name, sizeof t->name);
    }
    box->arg[0] = n;
    box->arg[1] = engine.threads_made;
}

static void set_tool(struct thread *self, struct mailbox *box)
{
    box->data[TOOLS_NAMES - 1] = 0;
    const char *rest = box->arg[0] ? (const char *)box->data : "";
    bool good = true;
    if (instrument && instrument->finish)
        instrument->finish();
    instrument_install(NULL);
    while (*rest && good) {
        char name[TOOLS_NAMES];
        rest = tools_name(rest, name);
        const struct instrument *tool = rt_streq(name, "flow") ? flow_tool(self) : tools_find(name);
        good = tool && instrument_add(tool);
    }
    if (!good)
        instrument_install(NULL);
    box->arg[0] = good;
}

static void run_on(struct thread *self, const struct mailbox *box)
{
    const struct mailbox_run *run = (const struct mailbox_run *)box->data;
    run_flags = run->flags;
    journal_run(run->flags, run->told_events);
    stops_run(self, run);
    if (!divert_is_on())
        return;
    struct thread *t = run->run_thread ? post_thread(run->run_thread) : self;
    if (t && t != self)
        play_become(self, t);
    divert_go_on(t ? t : self);
    engine_run(t ? t : self);
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
        if (divert_is_on() && engine_write(box->arg[0], box->data, n))
            box->arg[0] = n; /* below the stack, too: arguments of a function to be called */
        else
            box->arg[0] = n - engine_copy((void *)box->arg[0], box->data, n);
        break;
    case DO_STOPS:
        box->arg[0] = stops_set(box);
        break;
    case DO_REGISTERS:
        give_registers(t, box);
        break;
    case DO_SET:
        set_registers(t, box);
        break;
    case DO_FENCE:
        box->arg[0] = fence_raise_edges((const struct mailbox_fence *)box->data);
        break;
    case DO_TRAIL:
        box->arg[0] = stops_trail((struct mailbox_moment *)box->data);
        break;
    case DO_DIVERT:
        divert();
        break;
    case DO_THREADS:
        give_threads(box);
        break;
    case DO_MAPS:
        box->arg[0] = (uint64_t)space_list((int)box->arg[0], (struct mailbox_map *)box->data, 1024);
        break;
    case DO_STATE:
        if (box->arg[0])
            state_tell_threads(t);
        else
            state_tell_space();
        break;
    case DO_TOOL:
        set_tool(t, box);
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
    run_on(t, box);
}

void post_stop(struct thread *t, struct mailbox_stop *why)
{
    journal_flush();
    memcpy(post_box()->data, why, sizeof *why);
    post_ask(TELL_STOP);
    obey(t);
}

void post_stop_for(struct thread *t, enum mailbox_reason reason, struct mailbox_stop *why)
{
    why->what.reason = reason;
    why->hit = *stops_hit();
    why->what.ticks = stops_ticks();
    why->what.at = (struct mailbox_moment){.events = cursor_number(),
                                           .count = thread_count(t),
                                           .pc = t->cpu.rip,
                                           .thread = t->number,
                                           .stage = STAGE_BEFORE};
    post_stop(t, why);
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
    struct mailbox_stop s = {.end = 0};
    va_list ap;
    va_start(ap, fmt);
    put_text(&s, fmt, ap);
    va_end(ap);
    for (;;)
        post_stop_for(t, STOP_DIVERGED, &s);
}

void post_failed(const char *fmt, ...)
{
    struct mailbox_stop s = {.end = 0};
    va_list ap;
    va_start(ap, fmt);
    put_text(&s, fmt, ap);
    va_end(ap);
    for (;;)
        post_stop_for(engine.threads, STOP_FAILED, &s);
}
