/* flow.c - the tool that traces: what debug/flow.h describes. SPDX-License-Identifier: MIT */
#include "replayer/target/flow.h"

#include "debug/flow.h"

#include "debug/target/gather.h"
#include "debug/target/post.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/core/flow.h"
#include "engine/core/instrument.h"
#include "engine/os/effects.h"
#include "engine/os/fpstate.h"
#include "engine/os/kernel.h"
#include "engine/os/kinds.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/x86/plan.h"
#include "pinball/record_gap.h"
#include "replayer/target/space.h"

static struct {
    struct thread *thread;  /* whose words are written */
    struct thread *calling; /* it is in a system call that is not done */
    gaddr call_pc;
    uint64_t words;  /* handed over */
    uint32_t notes;  /* bytes of them in the box */
    uint64_t cut_at; /* words when the last cut was noted, plus one */
    uint64_t arg[6];
    gaddr frame, heap_end;
    uint64_t fault_count;
    gaddr fault_pc;
    bool full; /* of ranges, for one call */
    uint32_t ranges;
    struct flow_range range[512];
    struct {
        uint32_t thread;
        struct flow_range range;
    } aside[256];
    uint32_t asides;
} flow;

/* What a gap does. Its note, with those of a chunk before it, fits where they go (trace/trace.h).
 */
enum { LEFT_RANGES = 16 << 10 };
static struct {
    struct flow_range *range;
    uint32_t ranges;
    uint8_t *flow;
    struct thread *last; /* whose notes are written */
    bool over;           /* and threads are told */
} left;

static uint8_t *words(void)
{
    return post_box()->flow_words;
}

static uint64_t words_so_far(void)
{
    return flow.words + (uint64_t)(flow.thread->flow - words()) / 8;
}

static void hand_over(void)
{
    struct mailbox *box = post_box();
    uint64_t n = (uint64_t)(flow.thread->flow - words());
    uint64_t keep[2] = {box->arg[0], box->arg[1]};
    box->arg[0] = n;
    box->arg[1] = flow.notes;
    post_ask(TELL_FLOW);
    box->arg[0] = keep[0];
    box->arg[1] = keep[1];
    flow.words += n / 8;
    flow.notes = 0;
    flow.thread->flow = words();
}

static void *note(enum flow_kind kind, uint64_t bytes)
{
    bytes = (bytes + 7) & ~7ull;
    if (flow.notes + bytes > FLOW_NOTES_BYTES)
        hand_over();
    struct flow_note *n = (struct flow_note *)(post_box()->flow_notes + flow.notes);
    flow.notes += (uint32_t)bytes;
    memset(n, 0, bytes);
    *n = (struct flow_note){kind, (uint32_t)bytes, words_so_far(), thread_count(flow.thread)};
    return n;
}

/* ---- blocks ---- */

static void block(uint32_t number, const struct insn *insn, int count)
{
    uint64_t code = 0;
    for (int i = 0; i < count; i++)
        code += insn[i].len;
    struct flow_block *b = note(FLOW_BLOCK, sizeof *b + (uint64_t)count + code);
    b->number = number;
    b->insns = (uint32_t)count;
    b->pc = insn[0].pc;
    uint8_t *lens = (uint8_t *)(b + 1), *at = lens + count;
    for (int i = 0; i < count; i++) {
        lens[i] = insn[i].len;
        memcpy(at, insn[i].bytes, insn[i].len);
        at += insn[i].len;
    }
}

static void cut_at(gaddr pc)
{
    if (flow.cut_at == words_so_far() + 1)
        return;
    struct flow_cut *c = note(FLOW_CUT, sizeof *c);
    c->pc = pc;
    flow.cut_at = words_so_far() + 1;
}

static void cut(struct thread *t)
{
    if (t == flow.thread)
        cut_at(t->cpu.rip);
}

/* What a call has written before it was given up counts for it when it is done. */
static void put_aside(void)
{
    for (uint32_t i = 0; i < flow.ranges; i++)
        if (flow.range[i].how == FLOW_WRITE && flow.asides < ARRAY_LEN(flow.aside)) {
            flow.aside[flow.asides].thread = flow.calling->number;
            flow.aside[flow.asides++].range = flow.range[i];
        }
}

/* A call that was given up, for a signal or for another thread, has not been executed. */
static void give_up_call(void)
{
    if (!flow.calling)
        return;
    cut_at(flow.call_pc);
    put_aside();
    flow.calling = NULL;
}

/* ---- threads ---- */

void flow_switch(struct thread *from, struct thread *to)
{
    if (!instrument || !instrument->flow)
        return;
    give_up_call();
    to->flow = from->flow;
    flow.thread = to;
    struct flow_thread *n = note(FLOW_THREAD, sizeof *n);
    n->thread = to->number;
    n->in_gap = left.over;
    n->pc = to->cpu.rip;
}

void flow_made(const struct thread *parent, const struct thread *child)
{
    if (!instrument || !instrument->flow)
        return;
    struct flow_begin *n = note(FLOW_BEGIN, sizeof *n);
    n->thread = child->number;
    n->parent = parent->number;
}

/* ---- system calls ---- */

/* What is no memory of the program's cannot be read or written. */
static uint64_t clip(gaddr addr, uint64_t bytes)
{
    uint64_t room = addr < FLOW_ADDRESSES ? FLOW_ADDRESSES - addr : 0;
    return bytes < room ? bytes : room;
}

static void add_range(gaddr addr, uint64_t bytes, int how)
{
    bytes = clip(addr, bytes);
    if (!bytes)
        return;
    flow.full |= flow.ranges == ARRAY_LEN(flow.range);
    if (!flow.full)
        flow.range[flow.ranges++] = (struct flow_range){addr, bytes, (uint8_t)how};
}

static void reads(void *arg, gaddr addr, uint64_t bytes)
{
    (void)arg;
    add_range(addr, bytes, FLOW_READ);
}

static void writes(void *arg, gaddr addr, uint64_t bytes)
{
    (void)arg;
    add_range(addr, bytes, FLOW_WRITE);
}

void flow_wrote(gaddr addr, uint64_t bytes)
{
    if (flow.calling)
        add_range(addr, bytes, FLOW_WRITE);
}

/* What calls about memory zero or move. */
static void remapped(long nr, const uint64_t *a, int64_t result)
{
    enum { DONTNEED = 4, FREE = 8, REMOVE = 9 };
    gaddr start, end;
    if (result < 0 && result > -4096)
        return;
    switch (kinds_of(nr).does) {
    case DOES_MAPS:
        add_range((gaddr)result, PAGE_UP(a[1]), FLOW_WRITE);
        break;
    case DOES_BREAKS:
        space_heap(&start, &end);
        if (end > flow.heap_end)
            add_range(flow.heap_end, end - flow.heap_end, FLOW_WRITE);
        break;
    case DOES_REMAPS: {
        uint64_t old = PAGE_UP(a[1]), new = PAGE_UP(a[2]), both = old < new ? old : new;
        if ((gaddr)result != a[0]) {
            add_range(a[0], both, FLOW_READ);
            add_range((gaddr)result, both, FLOW_MOVE);
        }
        if (new > old)
            add_range((gaddr)result + old, new - old, FLOW_WRITE);
        break;
    }
    case DOES_ADVISES:
        if (a[2] == DONTNEED || a[2] == FREE || a[2] == REMOVE)
            add_range(a[0], PAGE_UP(a[1]), FLOW_WRITE);
        break;
    }
}

static void call_begins(struct thread *t)
{
    const uint64_t *g = t->cpu.gpr;
    const uint64_t a[6] = {g[RDI], g[RSI], g[RDX], g[R10], g[R8], g[R9]};
    gaddr start;
    memcpy(flow.arg, a, sizeof a);
    flow.ranges = 0;
    flow.full = false;
    flow.calling = t;
    flow.call_pc = t->cpu.rip;
    flow.frame = g[RSP] - 8;
    space_heap(&start, &flow.heap_end);
    long nr = (int32_t)g[RAX];
    if (call_info(nr))
        effects_read(nr, (const long *)flow.arg, reads, NULL);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < flow.asides; i++)
        if (flow.aside[i].thread == t->number)
            add_range(flow.aside[i].range.addr, flow.aside[i].range.bytes, FLOW_WRITE);
        else
            flow.aside[kept++] = flow.aside[i];
    flow.asides = kept;
}

void flow_again(struct thread *t)
{
    if (instrument && instrument->flow)
        call_begins(t);
}

void flow_called(struct thread *t, long nr, int64_t result, bool again)
{
    if (flow.calling != t)
        return;
    if (again && call_info(nr))
        effects_written(nr, (const long *)flow.arg, result, writes, NULL);
    remapped(nr, flow.arg, result);
    if (flow.full)
        post_failed("system call %ld: more than %lu pieces of memory", nr,
                    (unsigned long)ARRAY_LEN(flow.range));
    flow.calling = NULL;
    struct flow_call *c = note(FLOW_CALL, sizeof *c + sizeof *flow.range * flow.ranges);
    c->nr = nr;
    c->result = result;
    c->next = t->cpu.rip;
    c->frame = flow.frame;
    memcpy(c->arg, flow.arg, sizeof c->arg);
    memcpy(c->range, flow.range, sizeof *flow.range * flow.ranges);
}

static void call(struct thread *t, bool after)
{
    if (!after)
        call_begins(t);
}

/* ---- signals ---- */

void flow_fault(const struct thread *t)
{
    if (!instrument || !instrument->flow)
        return;
    give_up_call();
    flow.fault_pc = t->cpu.rip;
    flow.fault_count = thread_count(t) + 1;
    cut_at(t->cpu.rip);
}

static void signal(struct thread *t, int sig, gaddr handler)
{
    give_up_call();
    struct flow_signal *s = note(FLOW_SIGNAL, sizeof *s);
    struct ksigframe frame;
    s->signal = (uint32_t)sig;
    s->fault = flow.fault_count == thread_count(t) + 1 && flow.fault_pc == t->cpu.rip;
    s->pc = t->cpu.rip;
    s->handler = handler;
    s->frame = t->cpu.gpr[RSP];
    s->end = s->frame + sizeof frame;
    if (!engine_read(&frame, s->frame, sizeof frame))
        return;
    s->fpstate = frame.uc.mc.fpstate;
    s->end = s->fpstate + fpstate_bytes() + (fpstate_features() ? 4 : 0);
    s->sp = frame.uc.mc.rsp;
}

/* ---- gaps ---- */

void flow_gap_begins(struct thread *t)
{
    give_up_call();
    struct flow_gap *g = note(FLOW_GAP, sizeof *g);
    g->pc = t->cpu.rip;
    if (!left.range)
        left.range = range_alloc(LEFT_RANGES * sizeof *left.range);
    left.ranges = 0;
    left.flow = t->flow;
}

/* Too many: those that lie near each other become one. */
static void coarsen(void)
{
    for (uint64_t near = 8; left.ranges > LEFT_RANGES / 2; near *= 4) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < left.ranges; i++) {
            struct flow_range r = left.range[i], *last = n ? &left.range[n - 1] : NULL;
            if (last && r.addr >= last->addr && r.addr <= last->addr + last->bytes + near) {
                const uint64_t end = r.addr + r.bytes, had = last->addr + last->bytes;
                last->bytes = (end > had ? end : had) - last->addr;
            } else {
                left.range[n++] = r;
            }
        }
        left.ranges = n;
        if (near > FLOW_ADDRESSES)
            post_failed("a gap with more than %d pieces of memory", LEFT_RANGES / 2);
    }
}

void flow_gap_wrote(gaddr addr, uint64_t bytes)
{
    bytes = clip(addr, bytes);
    if (!bytes)
        return;
    if (left.ranges == LEFT_RANGES)
        coarsen();
    left.range[left.ranges++] = (struct flow_range){addr, bytes, FLOW_WRITE};
}

static void did(const struct thread *t, const struct record_did *d, uint32_t how)
{
    const uint32_t frames = d ? d->frames : 0;
    struct flow_did *n = note(FLOW_DID, sizeof *n + sizeof *n->frame * frames);
    _Static_assert(sizeof *n->frame == sizeof(struct gap_frame), "the same");
    n->how = how;
    n->pc = t->cpu.rip;
    if (!d)
        return;
    n->left = d->left;
    n->wrote = d->wrote;
    memcpy(n->frame, d + 1, sizeof *n->frame * frames);
}

void flow_gap_ends(struct thread *t, uint64_t insns, const struct record_did *d)
{
    left.over = true;
    t->flow = left.flow;
    struct flow_call *c = note(FLOW_CALL, sizeof *c + sizeof *left.range * left.ranges);
    c->nr = FLOW_LEFT_OUT;
    c->next = t->cpu.rip;
    c->arg[0] = insns;
    c->arg[1] = d ? d->wrote : 0;
    memcpy(c->range, left.range, sizeof *left.range * left.ranges);
    did(t, d, FLOW_OWN);
    left.last = t;
}

void flow_gap_did(struct thread *t, const struct record_did *d)
{
    flow_switch(left.last, t);
    did(t, d, d->began ? FLOW_BEGAN : 0);
    left.last = t;
}

void flow_gap_told(struct thread *t)
{
    t->flow = left.last->flow;
}

void flow_gap_over(void)
{
    left.over = false;
}

/* ---- the tool ---- */

/* gathers, and operands relative to gs */
static unsigned choose(const struct insn *in, bool first)
{
    struct insn_operands ops;
    struct mem_access list[ACCESSES_MOST];
    (void)first;
    if (in->kind == INSN_ILLEGAL)
        return 0;
    insn_operands(in, &ops);
    int n = accesses_of(in, &ops, list);
    for (int i = 0; i < n; i++)
        if (plan_odd(in, &ops, &list[i]))
            return PROBE_MEMORY;
    return 0;
}

static void odd_accesses(struct thread *t, const struct probe *p)
{
    struct flow_range range[GATHER_MOST + ACCESSES_MOST];
    struct insn in;
    struct insn_operands ops;
    struct mem_access list[ACCESSES_MOST];
    uint8_t bytes[INSN_MAX_BYTES];
    if (!engine_read(bytes, p->pc, p->len) || insn_decode(&in, p->pc, bytes, p->len) < 0)
        return;
    insn_operands(&in, &ops);
    int count = accesses_of(&in, &ops, list), n = 0;
    for (int i = 0; i < count && i < p->accesses; i++) {
        const struct access *a = &p->access[i];
        if (list[i].shape == ACCESS_VECTOR) {
            int elements = gather_elements(t, &in, &ops, &ops.op[list[i].op], range + n, a->write);
            if (elements < 0)
                post_failed("%s at 0x%lx: its elements cannot be traced", insn_name(&in), in.pc);
            for (int k = n; k < n + elements; k++)
                range[k].bytes = clip(range[k].addr, range[k].bytes);
            n += elements;
        } else {
            range[n++] = (struct flow_range){a->addr, clip(a->addr, a->bytes),
                                             a->write ? FLOW_WRITE : FLOW_READ};
        }
    }
    struct flow_access *f = note(FLOW_ACCESS, sizeof *f + sizeof *range * (uint64_t)n);
    f->pc = p->pc;
    memcpy(f->range, range, sizeof *range * (uint64_t)n);
}

static void probe(struct thread *t, const struct probe *p)
{
    if (p->what & PROBE_FLOW)
        hand_over();
    if (p->what & PROBE_MEMORY)
        odd_accesses(t, p);
}

static void finish(void)
{
    give_up_call();
    hand_over();
}

static const struct instrument tool = {.select = choose,
                                       .probe = probe,
                                       .position = stops_at_position,
                                       .syscall = call,
                                       .block = block,
                                       .cut = cut,
                                       .signal = signal,
                                       .finish = finish,
                                       .flow = PROBE_FLOW};

const struct instrument *flow_tool(struct thread *self)
{
    if (!flow_begin((gaddr)words(), FLOW_WORDS_BYTES))
        return NULL;
    memset(&flow, 0, sizeof flow);
    flow.thread = self;
    self->flow = words();
    struct flow_thread *n = note(FLOW_THREAD, sizeof *n);
    n->thread = self->number;
    n->pc = self->cpu.rip;
    return &tool;
}
