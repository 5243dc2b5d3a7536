/* relog.c - a recording that replays only what is kept. SPDX-License-Identifier: MIT
 *
 * The trace is walked forwards, once, and the replay goes along: to the begin and the end of each
 * gap. Between them the walk collects what instructions wrote; everything else that changes is the
 * replay's to find (replayer/leave.h).
 *
 * A step is looked at when the next one begins: what an instruction with odd operands accessed is
 * told by a note behind its step, in the next chunk perhaps.
 */
#include "relogger/relog.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/record_gap.h"
#include "relogger/did.h"
#include "replayer/leave.h"
#include "replayer/written.h"
#include "trace/access.h"
#include "trace/pass.h"

/* A store of a block whose address is a slot plus a constant; others are looked at in full. */
struct store {
    int64_t add;
    uint16_t slot, access;
    uint16_t insn, bytes; /* bytes 0: in full */
};

struct stores {
    struct store *list;
    uint16_t count;
    bool known;
};

/* The step before the one that the walk is at. */
struct held {
    const struct code_block *block; /* NULL: none yet */
    uint64_t first, count, switches;
    uint32_t insns, thread;
    bool switched; /* another thread's step is before it */
    uint64_t *value;
    size_t values_room;
    struct flow_range *odd; /* what notes say about it */
    size_t odds, odd_room;
    struct frame *frame;
    uint64_t left_out; /* instructions that it stands for */
};

struct relogging {
    struct trace *trace;
    const struct pieces *kept;
    const struct relog_options *options;
    struct relog_result *result;
    struct leave *leave;
    struct pieces *weighed; /* gaps are weighed and not made; NULL: made */
    struct written *written;
    struct did *did;
    const struct pass *pass; /* at the next step */
    struct stores *stores;   /* by block */
    struct held held;
    uint64_t switches;
    bool seen;   /* the note that says which thread the trace begins with */
    size_t next; /* piece */
    bool begun, in_gap;
    struct leave_gap gap;
    struct kept_statement piece; /* the last one, whose end is not known yet */
    bool has_piece;
};

/* ---- what instructions write ---- */

static int look_at(struct relogging *r, const struct code_block *b, struct err *err)
{
    struct stores *s = &r->stores[b->number];
    s->list = malloc(sizeof *s->list * (b->accesses + 1u));
    if (!s->list)
        return err_set(err, "no memory");
    for (uint16_t k = 0; k < b->accesses; k++) {
        const struct plan_access *a = &b->access[k];
        const bool plain = a->mem.shape == ACCESS_PLAIN && !code_is_repeated(a) && a->mem.bytes;
        if (a->mem.write && !access_is_odd(a))
            s->list[s->count++] = (struct store){.add = a->add,
                                                 .slot = a->slot,
                                                 .access = k,
                                                 .insn = a->insn,
                                                 .bytes = plain ? (uint16_t)a->mem.bytes : 0};
    }
    s->known = true;
    return 0;
}

/* Those of instructions `from` to `to` of the step that is held. */
static int collect(struct relogging *r, uint32_t from, uint32_t to, struct err *err)
{
    const struct held *h = &r->held;
    const struct code_block *b = h->block;
    const struct stores *s = &r->stores[b->number];
    int bad = 0;
    if (!s->known && look_at(r, b, err))
        return -1;
    for (uint16_t i = 0; i < s->count; i++) {
        const struct store *x = &s->list[i];
        uint64_t bytes = x->bytes;
        if (x->insn < from || x->insn >= to)
            continue;
        const gaddr addr = bytes ? (gaddr)x->add + (x->slot == PLAN_NONE ? 0 : h->value[x->slot])
                                 : access_extent(b, &b->access[x->access], h->value, &bytes);
        bad |= written_add(r->written, addr, bytes);
    }
    for (size_t i = 0; i < h->odds; i++)
        bad |= written_add(r->written, h->odd[i].addr, h->odd[i].bytes);
    return bad ? err_set(err, "no memory") : 0;
}

/* ---- places ---- */

static gaddr pc_of(const struct held *h, uint32_t i)
{
    return h->block->insn[i].in.pc;
}

static struct leave_at place(const struct relogging *r, uint32_t i)
{
    const struct held *h = &r->held;
    return (struct leave_at){
        .at = {.thread = trace_thread(r->trace, h->thread), .count = h->count, .pc = pc_of(h, i)},
        .switches = h->switches};
}

/* ---- pieces ---- */

static int tell_piece(struct relogging *r, struct err *err)
{
    if (!r->has_piece)
        return 0;
    r->has_piece = false;
    r->result->statements += !(r->piece.how & KEPT_GOES_ON);
    return leave_keep(r->leave, &r->piece, err);
}

static int piece_begins(struct relogging *r, const struct piece *p, uint32_t i, struct err *err)
{
    if (tell_piece(r, err))
        return -1;
    const bool waited =
        i == 0 && r->held.switched && r->held.block->insn[0].in.kind == INSN_SYSCALL;
    r->piece = (struct kept_statement){.count = r->held.count,
                                       .pc = pc_of(&r->held, i),
                                       .thread = trace_thread(r->trace, r->held.thread),
                                       .depth = p->depth,
                                       .how = (p->goes_on ? KEPT_GOES_ON : 0) |
                                              (waited ? KEPT_IN_CALL : 0)};
    r->has_piece = true;
    return 0;
}

/* ---- gaps ---- */

static int add_bytes(void *arg, uint64_t addr, uint64_t bytes, struct err *err)
{
    (void)addr, (void)err;
    *(uint64_t *)arg += bytes;
    return 0;
}

static int weigh(struct relogging *r, struct err *err)
{
    uint64_t bytes = 0;
    const int bad = written_each(r->written, add_bytes, &bytes, err);
    r->weighed->piece[r->next].behind_run = bytes > r->gap.insns / RELOG_BYTE;
    written_empty(r->written);
    return bad;
}

static int gap_ends(struct relogging *r, uint32_t i, struct err *err)
{
    r->in_gap = false;
    if (r->weighed)
        return weigh(r, err);
    r->gap.to = place(r, i);
    r->gap.written = r->written;
    r->gap.did = did_tell;
    r->gap.arg = r->did;
    r->result->gaps++;
    r->result->out += r->gap.insns;
    if (did_ends(r->did, r->pass, r->held.thread, r->held.frame))
        return err_set(err, "no memory");
    int bad = leave_out(r->leave, &r->gap, err);
    written_empty(r->written);
    return bad;
}

static int gap_begins(struct relogging *r, uint32_t i, struct err *err)
{
    const struct pass *p = r->pass;
    const struct held *h = &r->held;
    r->in_gap = true;
    r->gap.from = place(r, i);
    r->gap.insns = 0;
    if (r->weighed)
        return 0;
    did_begins(r->did, p, h->thread, h->frame, p->at.step ? p->at.step->thread : h->thread);
    return tell_piece(r, err);
}

/* The piece that instruction `insn` is in or before. */
static const struct piece *piece_at(struct relogging *r, uint64_t insn)
{
    while (r->kept->piece[r->next].first + r->kept->piece[r->next].insns <= insn)
        r->next++;
    return &r->kept->piece[r->next];
}

struct ways {
    struct code_way *list;
    size_t count, room;
};

static int take_way(void *arg, enum trace_way kind, gaddr pc, gaddr to, struct err *err)
{
    struct ways *w = arg;
    const struct code_way way = {.kind = (uint64_t)kind, .pc = pc, .to = to};
    return array_push(&w->list, &w->count, &w->room, way) ? err_set(err, "no memory") : 0;
}

static int begin(struct relogging *r, uint32_t i, struct err *err)
{
    struct ways ways = {0};
    r->begun = true;
    if (r->weighed)
        return 0;
    int bad = leave_begin(r->leave, &(struct leave_at){place(r, i).at, r->held.switches}, err) ||
              trace_each_way(r->trace, take_way, &ways, err) ||
              leave_ways(r->leave, ways.list, ways.count, err);
    free(ways.list);
    return bad ? -1 : 0;
}

/* Instruction i of the step is the first of its step, of a piece, or behind one. Returns how many
 * follow of which the same is true, -1. */
static int64_t take_run(struct relogging *r, uint32_t i, struct err *err)
{
    const struct held *h = &r->held;
    const uint64_t insn = h->first + i, left = h->insns - i;
    const struct piece *p = piece_at(r, insn);
    if (p->first > insn) {
        const uint64_t n = p->first - insn < left ? p->first - insn : left;
        const bool here = r->begun && !r->in_gap && r->next && insn == p[-1].first + p[-1].insns;
        if (here && piece_behind_gap(p, r->options->gap) && gap_begins(r, i, err))
            return -1;
        if (!r->in_gap)
            return (int64_t)n;
        r->gap.insns += h->block->gap ? h->left_out : n;
        if (!r->weighed)
            did_insns(r->did, h->thread, h->block, i, i + (uint32_t)n, h->frame);
        return collect(r, i, i + (uint32_t)n, err) ? -1 : (int64_t)n;
    }
    if (!r->begun && begin(r, i, err))
        return -1;
    if (r->in_gap && gap_ends(r, i, err))
        return -1;
    if (insn == p->first && !r->weighed && piece_begins(r, p, i, err))
        return -1;
    const uint64_t rest = p->first + p->insns - insn, n = rest < left ? rest : left;
    r->piece.last_count = h->count;
    r->piece.last_pc = pc_of(h, i + (uint32_t)n - 1);
    return (int64_t)n;
}

static int take_held(struct relogging *r, struct err *err)
{
    const struct held *h = &r->held;
    for (uint32_t i = 0; h->block && i < h->insns;) {
        const int64_t n = take_run(r, i, err);
        if (n < 0)
            return -1;
        i += (uint32_t)n;
    }
    return 0;
}

/* ---- the walk ---- */

static int hold(struct relogging *r, const struct pass_step *s, struct err *err)
{
    struct held *h = &r->held;
    if (array_reserve(&h->value, &h->values_room, (size_t)s->block->slots + 1))
        return err_set(err, "no memory");
    if (s->block->slots)
        memcpy(h->value, s->values, s->block->slots * sizeof *h->value);
    h->switched = h->switches != r->switches;
    h->block = s->block;
    h->first = s->insn;
    h->count = s->count;
    h->switches = r->switches;
    h->insns = s->step->insns;
    h->thread = s->step->thread;
    h->odds = 0;
    h->left_out = 0;
    frame_unref(h->frame);
    h->frame = frame_ref(s->frame);
    return 0;
}

/* What the kernel wrote is the replay's to find; not so what an instruction accessed in odd ways,
 * or what was left out before. */
static int take_note(void *arg, const struct pass *p, struct err *err)
{
    struct relogging *r = arg;
    const struct flow_note *n = p->at.note;
    size_t count;
    did_note(r->did, p);
    if (n->kind == FLOW_THREAD && !((const struct flow_thread *)n)->in_gap) {
        r->switches += r->seen;
        r->seen = true;
    }
    const struct flow_call *out = (const struct flow_call *)n;
    const bool left_out = n->kind == FLOW_CALL && flow_is_left_out(out);
    if (left_out) {
        r->held.left_out = out->arg[0];
        r->switches++;
    }
    const struct flow_range *range =
        n->kind == FLOW_ACCESS || left_out ? trace_ranges(n, &count) : NULL;
    for (size_t i = 0; range && i < count; i++)
        if (range[i].how != FLOW_READ &&
            array_push(&r->held.odd, &r->held.odds, &r->held.odd_room, range[i]))
            return err_set(err, "no memory");
    return 0;
}

static int walk(struct relogging *r, struct err *err)
{
    struct pass p;
    struct pass_step s;
    uint32_t chunk = 0;
    int more;
    if (pass_init(&p, r->trace, err))
        return -1;
    p.note = take_note;
    p.arg = r;
    r->pass = &p;
    while ((more = pass_next(&p, &s, err)) > 0) {
        if (take_held(r, err) || hold(r, &s, err)) {
            more = -1;
            break;
        }
        if (chunk != p.next_chunk && r->options->progress &&
            r->options->progress(r->options->arg, s.insn, trace_insns(r->trace))) {
            more = err_set(err, "interrupted");
            break;
        }
        chunk = p.next_chunk;
    }
    more = more || take_held(r, err) || tell_piece(r, err) ? -1 : 0;
    pass_deinit(&p);
    return more;
}

static void relogging_deinit(struct relogging *r)
{
    for (uint32_t i = 0; r->stores && i < code_count(trace_code(r->trace)); i++)
        free(r->stores[i].list);
    free(r->stores);
    free(r->held.value);
    free(r->held.odd);
    frame_unref(r->held.frame);
    did_free(r->did);
    written_free(r->written);
    leave_free(r->leave);
}

static int begin_relogging(struct relogging *r, struct err *err)
{
    r->stores = calloc(code_count(trace_code(r->trace)) + 1u, sizeof *r->stores);
    r->written = written_new();
    r->did = did_new(r->trace);
    return r->stores && r->written && r->did ? 0 : err_set(err, "no memory");
}

int relog_weigh(struct trace *trace, struct pieces *kept, uint64_t gap, struct err *err)
{
    const struct relog_options options = {.gap = gap};
    struct relogging r = {.trace = trace, .kept = kept, .options = &options, .weighed = kept};
    for (size_t i = 0; i < kept->pieces; i++)
        kept->piece[i].behind_run = 0;
    const int bad = begin_relogging(&r, err) || walk(&r, err);
    relogging_deinit(&r);
    return bad ? -1 : 0;
}

int relog(struct pinball *pinball, struct trace *trace, const struct pieces *kept, const char *dir,
          const struct relog_options *options, struct relog_result *result, struct err *err)
{
    struct relogging r = {.trace = trace, .kept = kept, .options = options, .result = result};
    const struct leave_options l = {.head = options->head,
                                    .from = options->from,
                                    .output = options->output,
                                    .message = options->message,
                                    .arg = options->arg};
    *result = (struct relog_result){.insns = trace_insns(trace), .kept = kept->insns};
    int bad = begin_relogging(&r, err);
    if (!bad)
        bad = (r.leave = leave_new(pinball, dir, &l, err)) ? 0 : -1;
    if (!bad)
        bad = walk(&r, err) || leave_end(r.leave, options->to, err);
    relogging_deinit(&r);
    return bad ? -1 : 0;
}
