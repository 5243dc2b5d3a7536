/* did.c - what threads did in a gap. SPDX-License-Identifier: MIT */
#include "relogger/did.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/record_gap.h"
#include "trace/access.h"
#include "trace/classes.h"

struct thread_did {
    struct frame *before; /* the frame when the gap began; NULL: it had not begun */
    uint64_t wrote;
    bool returned; /* from a signal's handler */
};

struct did {
    struct trace *trace;
    struct thread_did *thread;
    uint64_t *classes;     /* by block, plus KNOWN */
    struct frames end;     /* when the gap ends */
    uint32_t running;      /* then */
    struct frame *now;     /* its frame */
    struct frame *resumed; /* that of the thread which ran next, before it did */
    struct gap_frame *list;
    size_t room;
    bool any_end;
};

static const uint64_t KNOWN = 1ull << 63;

/* Calls preserve them. */
enum {
    PRESERVED = 1 << RBX | 1 << RBP | 1 << RSP | 1 << R12 | 1 << R13 | 1 << R14 | 1 << R15,
};

struct did *did_new(struct trace *trace)
{
    struct did *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->trace = trace;
    d->thread = calloc(trace_threads(trace) + 1u, sizeof *d->thread);
    d->classes = calloc(code_count(trace_code(trace)) + 1u, sizeof *d->classes);
    if (d->thread && d->classes)
        return d;
    did_free(d);
    return NULL;
}

static void forget(struct did *d)
{
    for (uint32_t i = 0; d->thread && i < trace_threads(d->trace); i++) {
        frame_unref(d->thread[i].before);
        d->thread[i] = (struct thread_did){0};
    }
    frame_unref(d->now);
    d->now = NULL;
    if (d->any_end)
        frames_deinit(&d->end);
    d->any_end = false;
}

void did_free(struct did *d)
{
    if (!d)
        return;
    forget(d);
    frame_unref(d->resumed);
    free(d->thread);
    free(d->classes);
    free(d->list);
    free(d);
}

/* ---- registers ---- */

void did_note(struct did *d, const struct pass *p)
{
    const struct flow_note *n = p->at.note;
    struct thread_did *t = &d->thread[p->at.thread];
    if (n->kind == FLOW_SIGNAL)
        t->wrote |= CLASSES_ALL;
    if (n->kind == FLOW_CALL && access_is_sigreturn((const struct flow_call *)n))
        t->returned = true;
    if (n->kind == FLOW_DID)
        t->wrote |= ((const struct flow_did *)n)->wrote;
    if (n->kind != FLOW_THREAD)
        return;
    frame_unref(d->resumed);
    d->resumed = p->frames.thread[p->at.thread].top;
    if (d->resumed)
        frame_ref(d->resumed);
}

/* Is it in a call of the lazy resolver? */
static bool is_resolving(struct frame *f)
{
    enum { NO = 1, YES };
    if (!f->mark)
        f->mark = f->resolver || (f->parent && is_resolving(f->parent)) ? YES : NO;
    return f->mark == YES;
}

void did_insns(struct did *d, uint32_t thread, const struct code_block *b, uint32_t from,
               uint32_t to, struct frame *frame)
{
    uint64_t *whole = &d->classes[b->number];
    if (b->gap || is_resolving(frame))
        return;
    if (!*whole)
        *whole = KNOWN | classes_defined(b, 0, b->insns);
    d->thread[thread].wrote |=
        (from || to < b->insns ? classes_defined(b, from, to) : *whole) & ~KNOWN;
}

/* ---- begin and end ---- */

void did_begins(struct did *d, const struct pass *p, uint32_t thread, struct frame *frame,
                uint32_t next)
{
    forget(d);
    for (uint32_t i = 0; i < trace_threads(d->trace); i++) {
        struct frame *f = i == thread ? frame : i == next ? d->resumed : p->frames.thread[i].top;
        d->thread[i].before = f ? frame_ref(f) : NULL;
    }
}

int did_ends(struct did *d, const struct pass *p, uint32_t thread, struct frame *frame)
{
    struct err err;
    d->running = thread;
    d->now = frame_ref(frame);
    if (frames_copy(&d->end, &p->frames, &err))
        return -1;
    d->any_end = true;
    return 0;
}

static uint32_t depth_of(const struct frame *f)
{
    uint32_t n = 0;
    for (; f; f = f->parent)
        n++;
    return n;
}

/* Frames that were left, and that were made: those above the last one that is in both. */
static int compare(struct did *d, const struct frame *before, const struct frame *now,
                   struct leave_did *out)
{
    const struct frame *a = before, *b = now;
    uint32_t had = depth_of(a), has = depth_of(b);
    while (a != b) {
        const uint32_t n = had, m = has;
        if (n >= m) {
            a = a->parent;
            had--;
            out->left++;
        }
        if (m >= n) {
            b = b->parent;
            has--;
            out->frames++;
        }
    }
    if (array_reserve(&d->list, &d->room, out->frames + 1u))
        return -1;
    for (uint32_t i = out->frames; i-- > 0; now = now->parent)
        d->list[i] = (struct gap_frame){.slot = now->slot,
                                        .entry = now->entry,
                                        .call_pc = now->call_pc,
                                        .kind = now->kind,
                                        .resolver = now->resolver};
    out->frame = d->list;
    return 0;
}

int did_tell(void *arg, uint32_t number, uint64_t pc, uint64_t same, struct leave_did *out,
             struct err *err)
{
    struct did *d = arg;
    enum frames_effect effect;
    const uint32_t thread = trace_thread_find(d->trace, number);
    *out = (struct leave_did){.wrote = CLASSES_ALL};
    if (!trace_threads(d->trace) || trace_thread(d->trace, thread) != number)
        return 0; /* it executes nothing that is traced */
    const struct thread_did *t = &d->thread[thread];
    const struct frame *now =
        thread == d->running ? d->now : frames_enter(&d->end, thread, NULL, pc, &effect);
    if (!now || compare(d, t->before, now, out))
        return err_set(err, "no memory");
    if (t->before)
        out->wrote = t->wrote & ~(same & (t->returned ? CLASSES_ALL : (uint64_t)PRESERVED));
    return 0;
}
