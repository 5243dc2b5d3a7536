/* tell.c - processes and threads of a program in the middle of its run, as records.
 *
 * SPDX-License-Identifier: MIT
 */
#include "debug/target/tell.h"

#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/fpstate.h"
#include "engine/os/kernel.h"
#include "engine/os/maps.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"

static uint8_t flags_of(const struct thread *t, const struct thread *self)
{
    return (uint8_t)((t == self ? STATE_RUNS : 0) | (t->calling ? STATE_CALLING : 0) |
                     (t->no_tsc ? STATE_NO_TSC : 0) | (t->has_wait_mask ? STATE_WAITS : 0) |
                     (t->trap ? STATE_TRAPS : 0) | (t->trap_armed ? STATE_ARMED : 0) |
                     (t->ticked ? STATE_TICKED : 0) | (t->reads_execute ? STATE_READS_EXECUTE : 0));
}

static void tell_thread(const struct tell *tell, struct thread *t)
{
    if (t == tell->self) {
        t->fs_base = engine_segments(t).fs;
        fpstate_save(t, fpstate_features());
    }
    const uint64_t vector = (fpstate_bytes() + 7) & ~7ull;
    struct record_state *s = sink_begin(tell->out, RECORD_STATE, sizeof *s + vector);
    if (!s)
        return;
    s->r.flags = flags_of(t, tell->self);
    s->at = (struct record_at){.count = thread_count(t), .pc = t->cpu.rip, .hash = session_hash(t)};
    memcpy(s->gpr, t->cpu.gpr, sizeof s->gpr);
    s->rflags = t->cpu.rflags;
    s->fs_base = t->fs_base;
    s->gs_base = t->gs_base;
    s->mask = t->mask;
    s->wait_mask = t->wait_mask;
    s->altstack = t->altstack.sp;
    s->altstack_flags = t->altstack.flags;
    s->altstack_bytes = t->altstack.size;
    s->clear_tid = t->clear_tid;
    s->start_tid = t->start_tid;
    s->robust_list = t->robust_list;
    s->tid = session->replaying || t->begun ? t->tid : 0;
    s->thread = t->number;
    s->child = t->child ? t->child->number : 0;
    memcpy(s->name, t->name, sizeof s->name);
    s->vector_bytes = fpstate_bytes();
    memcpy(s + 1, t->xsave, fpstate_bytes());
    sink_commit(tell->out);
}

static uint32_t threads_of(const struct process *p)
{
    uint32_t n = 0;
    for (const struct thread *t = engine.threads; t; t = t->next)
        n += t->process == p;
    return n;
}

static void tell_actions(struct record_process *r, const struct process *p)
{
    for (int i = 1; i <= SIG_MAX; i++)
        r->action[i] = (struct record_action){p->action[i].handler, p->action[i].flags,
                                              p->action[i].restorer, p->action[i].mask};
}

/* The live thread with the least number above `above`; NULL: none. */
static struct thread *next_thread(uint32_t above)
{
    struct thread *found = NULL;
    for (struct thread *t = engine.threads; t; t = t->next)
        if (t->number > above && (!found || t->number < found->number))
            found = t;
    return found;
}

/* The process of a thread, with all its threads. */
static void tell_process(const struct tell *tell, const struct thread *first, uint32_t *left)
{
    const struct process *p = first->process;
    const bool side = threads_is_side(first);
    const uint32_t threads = threads_of(p);
    struct record_process *r = sink_begin(tell->out, RECORD_PROCESS, sizeof *r);
    if (!r)
        return;
    r->threads = threads;
    *left -= threads;
    r->r.flags = (uint8_t)((side ? PROCESS_SIDE : 0) | (first->detached ? PROCESS_DETACHED : 0) |
                           (*left ? 0 : PROCESS_LAST));
    r->vdso = maps_vdso_start();
    r->features = fpstate_features();
    r->ticks = engine.total_ticks;
    r->made = engine.threads_made;
    r->pid = p->pid;
    r->pad = 0;
    tell_actions(r, p);
    tell->process(r, side);
    sink_commit(tell->out);
    for (struct thread *t = next_thread(0); t; t = next_thread(t->number))
        if (t->process == p)
            tell_thread(tell, t);
}

/* The one with most rights first: side processes were copied from it. */
void tell_threads(const struct tell *tell)
{
    uint32_t left = engine.thread_count;
    const struct thread *first = engine.threads;
    while (first && threads_is_side(first))
        first = first->next;
    if (first)
        tell_process(tell, first, &left);
    for (const struct thread *t = engine.threads; t; t = t->next)
        if (threads_is_side(t))
            tell_process(tell, t, &left);
}
