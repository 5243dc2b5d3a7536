/* closure_record.c - a whole trace executed, and what each instruction changed.
 *
 * SPDX-License-Identifier: MIT
 *
 * What no instruction computes comes from a replay of the same recording, which is run to the
 * instruction behind: results of system calls, time stamps, signals' frames, registers of new
 * threads. Each time all pages in use and the thread's registers are compared with the replay's. So
 * what is written down are the original values, and a system call that writes more than the trace
 * says is found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"
#include "replayer/replay.h"
#include "tests/slice/closure.h"

enum { RANGES = 600, COMPLAINTS = 10 };

struct range {
    gaddr addr;
    uint64_t bytes;
};

struct recorder {
    struct closure_record *out;
    struct trace_index *s;
    struct replay *replay;
    struct flat *reg; /* by thread, now */
    bool *known;      /* by thread: it has begun */
    gaddr *expect;    /* by thread: where it must go on; 0: not known */
    bool waits;       /* a node's effect is still to come from the replay: */
    uint32_t thread;
    struct range range[RANGES]; /* ... what it writes */
    size_t ranges, settled;     /* settled: events that have their values */
    bool open;
};

static void complain(struct recorder *p, const struct forward_at *n, const char *what)
{
    if (p->out->wrong++ >= COMPLAINTS)
        return;
    printf("before node %llu (0x%llx %s): %s\n", (unsigned long long)n->insn,
           (unsigned long long)n->in->pc, insn_name(n->in), what);
}

/* ---- the log ---- */

static uint8_t *put(struct recorder *p, enum closure_kind kind, uint64_t addr, uint64_t count)
{
    struct closure_record *o = p->out;
    size_t need = sizeof(struct closure_entry) + ((count + 7) & ~7ull);
    if (o->used + need > o->room) {
        o->room = 2 * (o->used + need) + (1 << 20);
        o->log = realloc(o->log, o->room);
        if (!o->log)
            abort();
    }
    struct closure_entry *e = (struct closure_entry *)(o->log + o->used);
    *e = (struct closure_entry){kind, (uint32_t)count, addr};
    o->used += need;
    return e->bytes;
}

static void put_memory(struct recorder *p, enum closure_kind kind, gaddr addr, uint64_t bytes)
{
    memcpy(put(p, kind, addr, bytes), (const void *)addr, bytes);
}

/* ---- pages ---- */

static void touch(struct recorder *p, gaddr addr, uint64_t bytes)
{
    for (gaddr a = PAGE_DOWN(addr); bytes && a < addr + bytes; a += CLOSURE_PAGE) {
        if (closure_page(a))
            continue;
        closure_make_page(a);
        replay_read(p->replay, a, (void *)a, CLOSURE_PAGE); /* or it is new: zeros */
        put_memory(p, CLOSURE_NEW_PAGE, a, CLOSURE_PAGE);
    }
}

/* The part of a range that is in the page of its begin. */
static uint64_t within(gaddr addr, uint64_t bytes)
{
    uint64_t room = CLOSURE_PAGE - addr % CLOSURE_PAGE;
    return bytes < room ? bytes : room;
}

/* Takes over what is different there; returns how much. */
static unsigned put_differences(struct recorder *p, enum closure_kind kind, gaddr addr,
                                const uint8_t *there, uint64_t bytes)
{
    uint8_t *mine = (uint8_t *)addr;
    unsigned differ = 0;
    for (uint64_t i = 0, k; i < bytes; i = k) {
        for (k = i + 1; there[i] != mine[i] && k < bytes && there[k] != mine[k]; k++)
            ;
        if (there[i] == mine[i])
            continue;
        memcpy(mine + i, there + i, k - i);
        put_memory(p, kind, addr + i, k - i);
        differ += (unsigned)(k - i);
    }
    return differ;
}

/* From the replay, as far as pages are in use. */
static void refresh(struct recorder *p, gaddr addr, uint64_t bytes)
{
    static uint8_t there[CLOSURE_PAGE];
    for (size_t i = 0; bytes / CLOSURE_PAGE > 1024 && closure_page_number(i); i++) { /* huge */
        gaddr a = closure_page_number(i)->addr;
        if (a >= addr && a + CLOSURE_PAGE <= addr + bytes)
            refresh(p, a, CLOSURE_PAGE);
    }
    if (bytes / CLOSURE_PAGE > 1024)
        return;
    for (uint64_t n; bytes; addr += n, bytes -= n) {
        n = within(addr, bytes);
        if (closure_page(addr) && replay_read(p->replay, addr, there, n) == n)
            put_differences(p, CLOSURE_MEMORY, addr, there, n);
    }
}

/* A thread that ends leaves a zero where it was told to (CLONE_CHILD_CLEARTID): no node does that.
 */
static bool is_end_of_thread(const struct recorder *p, gaddr addr, const uint8_t *there)
{
    uint32_t now;
    memcpy(&now, there + (addr % CLOSURE_PAGE & ~3u), 4);
    return p->out->threads > 1 && !now;
}

static void compare_page(struct recorder *p, const struct forward_at *n, gaddr a)
{
    static uint8_t there[CLOSURE_PAGE];
    char text[120];
    if (replay_read(p->replay, a, there, CLOSURE_PAGE) != CLOSURE_PAGE)
        return;
    unsigned i = 0;
    while (i < CLOSURE_PAGE && there[i] == ((const uint8_t *)a)[i])
        i++;
    if (i == CLOSURE_PAGE)
        return;
    bool ended = is_end_of_thread(p, a + i, there);
    unsigned differ = put_differences(p, CLOSURE_GIVEN, a, there, CLOSURE_PAGE);
    if (ended && differ <= 4)
        return;
    snprintf(text, sizeof text, "%u bytes from 0x%llx on have changed", differ,
             (unsigned long long)a + i);
    complain(p, n, text);
}

/* ---- registers ---- */

static int registers(struct recorder *p, uint32_t thread, struct flat *out, struct err *err)
{
    static struct program_registers r;
    if (replay_registers(p->replay, trace_thread(p->s->trace, thread), &r, err))
        return -1;
    closure_from_replay(&r, out);
    return 0;
}

/* What the interrupted code had: general registers and flags in a signal's frame. */
static void registers_in(struct recorder *p, gaddr frame, struct flat *io)
{
    struct machine m;
    struct flat there;
    memset(&m, 0, sizeof m);
    for (size_t i = 0; i < sizeof forward_context; i++)
        replay_read(p->replay, frame + FORWARD_CONTEXT + 8 * i, &m.gpr[forward_context[i]], 8);
    replay_read(p->replay, frame + FORWARD_CONTEXT_FLAGS, &m.flags, 8);
    defusestate_from(&m, &there);
    for (size_t i = 0; i < sizeof forward_context; i++)
        memcpy(io->v + loc_gpr(forward_context[i]), there.v + loc_gpr(forward_context[i]), 8);
    memcpy(io->v + LOC_CF, there.v + LOC_CF, LOC_DF - LOC_CF + 1);
}

static void put_changes(struct recorder *p, const struct flat *old, const struct flat *new)
{
    for (unsigned i = 0, k; i < LOC_COUNT; i = k) {
        k = i + 1;
        if (i % 8 == 0 && i + 8 <= LOC_COUNT && !memcmp(old->v + i, new->v + i, 8))
            k = i + 8;
        else if (old->v[i] != new->v[i]) {
            while (k < LOC_COUNT && old->v[k] != new->v[k])
                k++;
            memcpy(put(p, CLOSURE_REGISTER, i, k - i), new->v + i, k - i);
        }
    }
    if (old->fsbase != new->fsbase)
        put(p, CLOSURE_FS_BASE, new->fsbase, 0);
}

/* ---- as the replay has it ---- */

static int run_to(struct recorder *p, const struct forward_at *n, struct err *err)
{
    static struct program_registers r;
    struct position to = {
        .thread = trace_thread(p->s->trace, n->thread), .count = n->count, .pc = n->in->pc};
    struct replay_stop stop;
    char text[POSITION_TEXT];
    p->out->syncs++;
    if (replay_registers(p->replay, 0, &r, err))
        return -1;
    if (r.thread == to.thread && r.count == to.count && r.rip == to.pc)
        return 0;
    const bool waits =
        !replay_registers(p->replay, to.thread, &r, err) && r.count == to.count && r.rip == to.pc;
    if (replay_run(p->replay, &to, &stop, err))
        return -1;
    if (stop.why == STOP_POSITION)
        return 0;
    p->out->unlucky = waits;
    position_format(&to, text);
    return err_set(err, "the replay does not reach %s", text);
}

static const struct closure_event *event_behind(const struct recorder *p, size_t i, uint32_t thread)
{
    for (; i < p->out->events; i++)
        if (p->out->event[i].thread == thread)
            return &p->out->event[i];
    return NULL;
}

static int settle_node(struct recorder *p, struct err *err)
{
    struct flat now = p->reg[p->thread];
    const struct closure_event *e = event_behind(p, p->settled, p->thread);
    if (!e && registers(p, p->thread, &now, err))
        return -1;
    if (e && e->bytes)
        registers_in(p, e->frame, &now);
    put_changes(p, &p->reg[p->thread], &now);
    p->reg[p->thread] = now;
    for (size_t i = 0; i < p->ranges; i++)
        refresh(p, p->range[i].addr, p->range[i].bytes);
    p->waits = false;
    return 0;
}

static int settle_event(struct recorder *p, struct err *err)
{
    struct closure_event *e = &p->out->event[p->settled++];
    const struct closure_event *behind = event_behind(p, p->settled, e->thread);
    if (registers(p, e->thread, &e->after, err))
        return -1;
    if (behind && behind->bytes)
        registers_in(p, behind->frame, &e->after);
    p->reg[e->thread] = e->after;
    if (!e->bytes)
        return 0;
    e->memory = calloc(1, e->bytes);
    touch(p, e->frame, e->bytes);
    replay_read(p->replay, e->frame, e->memory, e->bytes);
    memcpy((void *)e->frame, e->memory, e->bytes);
    return 0;
}

static int sync(struct recorder *p, const struct forward_at *n, struct err *err)
{
    struct flat there;
    char text[120], name[40];
    if (run_to(p, n, err) || (p->waits && settle_node(p, err)))
        return -1;
    while (p->settled < p->out->events)
        if (settle_event(p, err))
            return -1;
    for (size_t i = 0; closure_page_number(i); i++)
        compare_page(p, n, closure_page_number(i)->addr);
    if (registers(p, n->thread, &there, err))
        return -1;
    if (!p->known[n->thread]) {
        p->known[n->thread] = true;
        p->out->first[n->thread] = p->reg[n->thread] = there;
    }
    for (unsigned i = 0; i < LOC_COUNT; i++)
        if (there.v[i] != p->reg[n->thread].v[i]) {
            loc_name((struct loc_span){.first = i, .count = 1}, name, sizeof name);
            snprintf(text, sizeof text, "%s has become %02x, was %02x", name, there.v[i],
                     p->reg[n->thread].v[i]);
            complain(p, n, text);
        }
    if (p->open)
        put_changes(p, &p->reg[n->thread], &there);
    p->reg[n->thread] = there;
    return 0;
}

/* ---- nodes ---- */

static void wait_for(struct recorder *p, gaddr addr, uint64_t bytes)
{
    if (p->ranges < RANGES)
        p->range[p->ranges++] = (struct range){addr, bytes};
}

static void wait_for_notes(struct recorder *p, const struct flow_range *r,
                           const struct flow_note *note)
{
    for (; r + 1 <= closure_ranges_end(note); r++)
        if (r->how != FLOW_READ)
            wait_for(p, r->addr, r->bytes);
}

static void do_external(struct recorder *p, const struct forward_at *n)
{
    gaddr addr;
    uint64_t bytes;
    p->out->external++;
    p->waits = true;
    p->thread = n->thread;
    p->ranges = 0;
    p->expect[n->thread] = 0;
    if (n->call)
        wait_for_notes(p, n->call->range, &n->call->note);
    if (n->odd)
        wait_for_notes(p, n->odd->range, &n->odd->note);
    for (unsigned k = 0; k < n->b->insn[n->i].accesses; k++) {
        const struct plan_access *a = &n->b->access[n->b->insn[n->i].access_at + k];
        if (a->mem.write && forward_extent(n, k, &addr, &bytes))
            wait_for(p, addr, state_is(n->in) ? CLOSURE_PAGE : bytes);
    }
}

static bool declared(const struct defuse *du, unsigned loc)
{
    for (unsigned k = 0; k < du->defs; k++)
        if (loc - du->def[k].first < du->def[k].count)
            return true;
    return loc == LOC_MXCSR_STATUS || loc == LOC_X87_STATUS;
}

static void check_defs(struct recorder *p, const struct forward_at *n, const struct flat *old)
{
    const struct flat *new = &p->reg[n->thread];
    char text[120], name[40];
    for (unsigned i = 0; i < LOC_COUNT; i++) {
        if (old->v[i] == new->v[i] || declared(n->du, i))
            continue;
        loc_name((struct loc_span){.first = i, .count = 1}, name, sizeof name);
        snprintf(text, sizeof text, "it changes %s and is not said to", name);
        complain(p, n, text);
        return;
    }
}

static void touch_all(struct recorder *p, const struct forward_at *n, gaddr *through)
{
    gaddr addr;
    uint64_t bytes;
    *through = 0;
    touch(p, n->in->pc, n->in->len + (unsigned)CLOSURE_TAIL);
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (forward_extent(n, k, &addr, &bytes)) {
            touch(p, addr, bytes);
            if (n->b->access[n->b->insn[n->i].access_at + k].mem.read)
                *through = addr;
        }
    if (n->odd)
        for (const struct flow_range *r = n->odd->range; r + 1 <= closure_ranges_end(&n->odd->note);
             r++)
            touch(p, r->addr, r->bytes);
}

static void put_writes(struct recorder *p, const struct forward_at *n)
{
    gaddr addr;
    uint64_t bytes;
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.write && forward_extent(n, k, &addr, &bytes) && bytes)
            put_memory(p, CLOSURE_MEMORY, addr, bytes);
    if (n->odd)
        for (const struct flow_range *r = n->odd->range; r + 1 <= closure_ranges_end(&n->odd->note);
             r++)
            if (r->how != FLOW_READ)
                put_memory(p, CLOSURE_MEMORY, r->addr, r->bytes);
}

static int do_plain(struct recorder *p, const struct forward_at *n, struct err *err)
{
    struct flat old = p->reg[n->thread];
    struct fault fault;
    struct copy copy;
    gaddr through, next;
    touch_all(p, n, &through);
    p->out->executed++;
    uint8_t *kept = closure_copy_take(n, &old, &copy);
    if (closure_execute(n->in, &p->reg[n->thread], through, &next, &fault))
        return err_set(err, "node %llu, 0x%llx %s: signal %d at 0x%llx, address 0x%llx",
                       (unsigned long long)n->insn, (unsigned long long)n->in->pc, insn_name(n->in),
                       fault.signo, (unsigned long long)fault.rip, (unsigned long long)fault.addr);
    check_defs(p, n, &old);
    p->out->copies += kept != NULL;
    if (kept && !closure_copy_holds(&copy, kept, &p->reg[n->thread]))
        complain(p, n, "it counts as a copy and is none");
    free(kept);
    put_changes(p, &old, &p->reg[n->thread]);
    put_writes(p, n);
    if (n->in->kind != INSN_PLAIN)
        put(p, CLOSURE_NEXT, next, 0);
    p->expect[n->thread] = next;
    return 0;
}

static int do_insn(void *arg, const struct forward_at *n, struct err *err)
{
    struct recorder *p = arg;
    if ((p->waits || p->settled < p->out->events || !p->known[n->thread]) && sync(p, n, err))
        return -1;
    if (p->open)
        put(p, CLOSURE_END, 0, 0);
    p->open = true;
    p->out->at[n->insn] = p->out->used;
    if (p->expect[n->thread] && p->expect[n->thread] != n->in->pc)
        return err_set(err, "node %llu is at 0x%llx, not at 0x%llx", (unsigned long long)n->insn,
                       (unsigned long long)n->in->pc, (unsigned long long)p->expect[n->thread]);
    if (!n->du || closure_is_external(n->in) || closure_is_tangled(n)) {
        do_external(p, n);
        return 0;
    }
    return do_plain(p, n, err);
}

static void add_event(struct recorder *p, uint32_t thread, gaddr frame, uint64_t bytes)
{
    struct closure_record *o = p->out;
    o->event = realloc(o->event, sizeof *o->event * (o->events + 1));
    if (!o->event)
        abort();
    o->event[o->events++] =
        (struct closure_event){.thread = thread, .frame = frame, .bytes = bytes};
    p->expect[thread] = 0;
}

static int signalled(void *arg, uint32_t thread, const struct flow_signal *s, struct err *err)
{
    (void)err;
    add_event(arg, thread, s->frame, s->end - s->frame);
    return 0;
}

static int returned(void *arg, uint32_t thread, const struct flow_call *c,
                    const struct scan_signal *by, struct err *err)
{
    (void)c;
    (void)by;
    (void)err;
    add_event(arg, thread, 0, 0);
    return 0;
}

int closure_record(struct trace_index *s, struct pinball *pinball, struct closure_record *out,
                   struct err *err)
{
    static const struct forward_options how = {.keep_saves = true, .stack_pointer = true};
    const struct replay_options ro = {.engine = "exact=1"};
    struct recorder p = {.out = out, .s = s};
    const struct forward_visitor v = {
        .arg = &p, .insn = do_insn, .signal = signalled, .sigreturn = returned};
    *out =
        (struct closure_record){.nodes = trace_insns(s->trace), .threads = trace_threads(s->trace)};
    out->at = calloc(out->nodes + 1, sizeof *out->at);
    out->first = calloc(out->threads + 1, sizeof *out->first);
    p.reg = calloc(out->threads + 1, sizeof *p.reg);
    p.known = calloc(out->threads + 1, sizeof *p.known);
    p.expect = calloc(out->threads + 1, sizeof *p.expect);
    p.replay = replay_new(pinball, &ro, err);
    int bad = -1;
    if (!out->at || !out->first || !p.reg || !p.known || !p.expect)
        err_set(err, "no memory");
    else if (p.replay && forward_pass(s, &how, &v, err) == 0) {
        put(&p, CLOSURE_END, 0, 0);
        bad = 0;
    }
    replay_free(p.replay);
    free(p.reg);
    free(p.known);
    free(p.expect);
    return bad;
}

void closure_record_deinit(struct closure_record *r)
{
    for (size_t i = 0; i < r->events; i++)
        free(r->event[i].memory);
    free(r->event);
    free(r->log);
    free(r->at);
    free(r->first);
}
