/* post.c - the mailbox, inside the process that is looked into. SPDX-License-Identifier: MIT */
#include "debug/target/post.h"

#include "debug/target/fence.h"
#include "debug/target/probes.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/core/tools.h"
#include "engine/os/fpstate.h"
#include "engine/os/signals.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

static const struct post_program *program;

void post_serve(const struct post_program *p)
{
    program = p;
}

uint64_t post_events(void)
{
    return program->events();
}

struct mailbox *post_box(void)
{
    return (struct mailbox *)engine.mailbox;
}

static bool lost; /* there is no supervisor any more */

static void wait_turn(void)
{
    const struct mailbox *box = post_box();
    const int64_t look[2] = {0, 200000000};
    for (int spins = 0; __atomic_load_n(&box->turn, __ATOMIC_ACQUIRE) != TURN_TARGET; spins++) {
        if (spins < 200)
            __builtin_ia32_pause();
        else
            sys4(__NR_futex, (long)&box->turn, FUTEX_WAIT, TURN_HOST,
                 program->lost ? (long)look : 0);
        if (spins > 200 && program->lost && program->lost()) {
            lost = true;
            return;
        }
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
    r->pid = t->process->pid;
    if (t == self)
        fpstate_save(t, fpstate_features());
    r->xsave_bytes =
        (uint32_t)(fpstate_bytes() < sizeof r->xsave ? fpstate_bytes() : sizeof r->xsave);
    memcpy(r->xsave, t->xsave, r->xsave_bytes);
    box->arg[0] = 1;
}

static void set_registers(struct thread *self, struct mailbox *box)
{
    struct thread *t = box->arg[0] ? post_thread(box->arg[0]) : self;
    const struct mailbox_registers *r = (const struct mailbox_registers *)box->data;
    box->arg[0] = 0;
    if (!t || !program->is_writable())
        return;
    if (program->set) {
        box->arg[0] = program->set(self, t, r);
        return;
    }
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
        const struct instrument *tool = program->tool(self, name);
        if (!tool)
            tool = rt_streq(name, "probes") ? probes_tool() : tools_find(name);
        good = tool && instrument_add(tool);
    }
    if (!good)
        instrument_install(NULL);
    box->arg[0] = good;
}

static _Noreturn void quit(void)
{
    for (;;)
        sys1(__NR_exit_group, 0);
}

/* Does one command and asks for the next. */
static void do_command(struct thread *t, struct mailbox *box)
{
    const uint64_t n = box->arg[1] < MAILBOX_DATA_BYTES ? box->arg[1] : MAILBOX_DATA_BYTES;
    enum post_answer answer = POST_DONE;
    switch (box->op) {
    case DO_READ:
        box->arg[0] = n - engine_copy(box->data, (const void *)box->arg[0], n);
        break;
    case DO_WRITE:
        if (program->write)
            box->arg[0] = program->write(t, box->arg[0], box->data, n);
        else if (program->is_writable() && engine_write(box->arg[0], box->data, n))
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
    case DO_THREADS:
        give_threads(box);
        break;
    case DO_TOOL:
        set_tool(t, box);
        break;
    case DO_PROBES:
        box->arg[0] = probes_set(box);
        break;
    case DO_QUIT:
        quit();
    default:
        answer = program->command(t, box);
    }
    if (answer == POST_UNKNOWN)
        quit();
    if (answer == POST_DONE)
        post_ask(TELL_DONE);
}

/* Returns when the program is to run on. */
static void obey(struct thread *t)
{
    struct mailbox *box = post_box();
    while (!lost && box->op != DO_RUN)
        do_command(t, box);
    if (lost)
        *(struct mailbox_run *)box->data = (struct mailbox_run){0};
    program->run(t, (const struct mailbox_run *)box->data);
}

void post_stop(struct thread *t, struct mailbox_stop *why)
{
    if (lost)
        return;
    probes_flush();
    program->stopping();
    memcpy(post_box()->data, why, sizeof *why);
    post_ask(TELL_STOP);
    obey(t);
}

void post_stop_for(struct thread *t, enum stop_kind reason, struct mailbox_stop *why)
{
    post_stop_at(t, reason, STAGE_BEFORE, why);
}

void post_stop_at(struct thread *t, enum stop_kind reason, enum mailbox_stage stage,
                  struct mailbox_stop *why)
{
    why->what.reason = reason;
    why->hit = *stops_hit();
    why->what.ticks = stops_ticks();
    why->what.at = (struct mailbox_moment){.events = post_events(),
                                           .count = thread_count(t),
                                           .pc = t->cpu.rip,
                                           .thread = t->number,
                                           .stage = stage};
    post_stop(t, why);
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
