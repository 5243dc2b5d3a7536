/* pack.c - a chunk of a trace as bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * A slot's value is predicted as its last one plus the last distance; the first one in a chunk, if
 * the slot is a register, as what was last seen of that register. A difference is stored as its
 * significant bytes, zigzag.
 */
#include "trace/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "debug/flow_note.h"

enum {
    STEP_OTHER = 1,  /* not the predicted block: its number follows */
    STEP_CUT = 2,    /* not all of it: how many instructions */
    STEP_THREAD = 4, /* another thread runs */
};

struct head {
    uint32_t steps, values, notes, bytes, insns, threads;
    uint32_t ids, cuts, switches, deltas; /* bytes of their columns */
};

struct slot {
    uint64_t last, stride;
    uint32_t epoch;
};

struct succ {
    uint32_t next, epoch;
};

struct trace_pack {
    struct succ *succ; /* by block */
    uint32_t *slot_at; /* by block: in slot */
    uint32_t blocks;   /* that there are entries for */
    size_t succ_room, slot_at_room;
    struct slot *slot;
    uint32_t slots;
    size_t slot_room;
    uint32_t epoch;
    uint64_t reg[GPR_COUNT];
    uint8_t *out;
    size_t out_room;
};

struct trace_pack *trace_pack_new(void)
{
    return calloc(1, sizeof(struct trace_pack));
}

void trace_pack_free(struct trace_pack *p)
{
    if (!p)
        return;
    free(p->succ);
    free(p->slot_at);
    free(p->slot);
    free(p->out);
    free(p);
}

/* Predictions for all blocks there are; forgets what they were. */
static int begin(struct trace_pack *p, const struct code *code, struct err *err)
{
    uint32_t n = code_count(code);
    p->epoch++;
    memset(p->reg, 0, sizeof p->reg);
    if (array_reserve(&p->succ, &p->succ_room, n) ||
        array_reserve(&p->slot_at, &p->slot_at_room, n))
        return err_set(err, "no memory");
    for (; p->blocks < n; p->blocks++) {
        uint32_t slots = code_block(code, p->blocks)->slots;
        if (array_reserve(&p->slot, &p->slot_room, (size_t)p->slots + slots + 1))
            return err_set(err, "no memory");
        memset(p->slot + p->slots, 0, sizeof *p->slot * slots);
        p->slot_at[p->blocks] = p->slots;
        p->succ[p->blocks] = (struct succ){0, 0};
        p->slots += slots;
    }
    return 0;
}

static uint64_t guess(const struct trace_pack *p, const struct slot *s, const struct plan_slot *ps)
{
    if (s->epoch == p->epoch)
        return s->last + s->stride;
    return ps->kind == PLAN_REG || ps->kind == PLAN_STACK ? p->reg[ps->what] : 0;
}

static void learn(struct trace_pack *p, struct slot *s, const struct plan_slot *ps, uint64_t value)
{
    s->stride = s->epoch == p->epoch ? value - s->last : 0;
    s->last = value;
    s->epoch = p->epoch;
    if (ps->kind == PLAN_REG || ps->kind == PLAN_STACK)
        p->reg[ps->what] = value;
}

static uint64_t zigzag(int64_t d)
{
    return (uint64_t)d << 1 ^ (uint64_t)(d >> 63);
}

static int64_t unzigzag(uint64_t z)
{
    return (int64_t)(z >> 1 ^ -(z & 1));
}

/* ---- packing ---- */

struct columns {
    uint8_t *flow, *kind, *id, *cut, *sw, *delta;
};

static void pack_values(struct trace_pack *p, const struct code_block *b, const uint64_t *value,
                        struct columns *c)
{
    struct slot *s = &p->slot[p->slot_at[b->number]];
    for (uint32_t i = 0; i < b->slots; i++) {
        uint64_t z = zigzag((int64_t)(value[i] - guess(p, &s[i], &b->slot[i])));
        uint8_t n = z ? (uint8_t)(8 - __builtin_clzll(z) / 8) : 0;
        *c->kind++ = n;
        memcpy(c->delta, &z, 8);
        c->delta += n;
        learn(p, &s[i], &b->slot[i], value[i]);
    }
}

static void pack_steps(struct trace_pack *p, const struct trace_chunk *ch, const struct code *code,
                       struct columns *c)
{
    struct succ none = {0, 0}, *last = &none;
    uint16_t thread = 0;
    for (uint32_t i = 0; i < ch->steps; i++) {
        const struct trace_step *s = &ch->step[i];
        const struct code_block *b = code_block(code, s->block);
        uint8_t how = 0;
        if (last->epoch != p->epoch || last->next != s->block) {
            how |= STEP_OTHER;
            memcpy(c->id, &s->block, 4);
            c->id += 4;
        }
        *last = (struct succ){s->block, p->epoch};
        last = &p->succ[s->block];
        if (s->insns != b->insns) {
            how |= STEP_CUT;
            *c->cut++ = (uint8_t)s->insns;
        }
        if (s->thread != thread) {
            how |= STEP_THREAD;
            memcpy(c->sw, &s->thread, 2);
            c->sw += 2;
            thread = s->thread;
        }
        *c->flow++ = how;
        pack_values(p, b, ch->value + s->value_at, c);
    }
}

static uint8_t *append(uint8_t *at, const void *from, size_t bytes)
{
    memmove(at, from, bytes);
    return at + bytes;
}

const void *trace_pack(struct trace_pack *p, const struct trace_chunk *ch, const struct code *code,
                       size_t *bytes, struct err *err)
{
    /* Columns at their largest, then moved together. */
    const size_t n = ch->steps, v = ch->values;
    size_t fixed = sizeof(struct head) + sizeof *ch->state * ch->threads +
                   sizeof *ch->note * ch->notes + ch->bytes_used;
    size_t room = fixed + n + v + 4 * n + n + 2 * n + 8 * v + 8;
    if (begin(p, code, err))
        return NULL;
    if (array_reserve(&p->out, &p->out_room, room)) {
        err_set(err, "no memory");
        return NULL;
    }
    struct columns c = {.flow = p->out + fixed};
    uint8_t *const kind = c.kind = c.flow + n;
    uint8_t *const id = c.id = kind + v;
    uint8_t *const cut = c.cut = id + 4 * n;
    uint8_t *const sw = c.sw = cut + n;
    uint8_t *const delta = c.delta = sw + 2 * n;
    pack_steps(p, ch, code, &c);
    struct head h = {ch->steps,
                     ch->values,
                     ch->notes,
                     ch->bytes_used,
                     ch->insns,
                     ch->threads,
                     (uint32_t)(c.id - id),
                     (uint32_t)(c.cut - cut),
                     (uint32_t)(c.sw - sw),
                     (uint32_t)(c.delta - delta)};
    uint8_t *at = append(p->out, &h, sizeof h);
    at = append(at, ch->state, sizeof *ch->state * ch->threads);
    at = append(at, ch->note, sizeof *ch->note * ch->notes);
    at = append(at, ch->bytes, ch->bytes_used);
    at += n + v;
    at = append(at, id, h.ids);
    at = append(at, cut, h.cuts);
    at = append(at, sw, h.switches);
    at = append(at, delta, h.deltas);
    *bytes = (size_t)(at - p->out);
    return p->out;
}

/* ---- unpacking ---- */

/* What is left of each column. */
struct left {
    const uint8_t *flow, *kind, *id, *cut, *sw, *delta;
    const uint8_t *kind_end, *id_end, *cut_end, *sw_end, *delta_end;
};

static int room_for(struct trace_chunk *c, const struct head *h, bool values, struct err *err)
{
    if (!c->step && !(c->step = malloc(sizeof *c->step * TRACE_STEPS)))
        return err_set(err, "no memory");
    if (array_reserve(&c->value, &c->value_room, (values ? (size_t)h->values : 0) + 1) ||
        array_reserve(&c->note, &c->note_room, (size_t)h->notes + 1) ||
        array_reserve(&c->bytes, &c->bytes_room, (size_t)h->bytes + 1) ||
        array_reserve(&c->state, &c->thread_room, (size_t)h->threads + 1))
        return err_set(err, "no memory");
    return 0;
}

/* False: there is less than there should be. */
static bool unpack_values(struct trace_pack *p, const struct code_block *b, uint64_t *value,
                          struct left *l)
{
    struct slot *s = &p->slot[p->slot_at[b->number]];
    if (l->kind_end - l->kind < b->slots)
        return false;
    for (uint32_t i = 0; i < b->slots; i++) {
        uint8_t n = *l->kind++;
        uint64_t z = 0;
        if (n) {
            if (n > 8 || l->delta_end - l->delta < n)
                return false;
            for (uint8_t k = 0; k < n; k++)
                z |= (uint64_t)l->delta[k] << 8 * k;
            l->delta += n;
        }
        value[i] = guess(p, &s[i], &b->slot[i]) + (uint64_t)unzigzag(z);
        learn(p, &s[i], &b->slot[i], value[i]);
    }
    return true;
}

static bool unpack_steps(struct trace_pack *p, const struct head *h, const struct code *code,
                         bool wanted, struct left *l, struct trace_chunk *c)
{
    struct succ none = {0, 0}, *last = &none;
    uint16_t thread = 0;
    uint32_t values = 0, insns = 0;
    for (uint32_t i = 0; i < h->steps; i++) {
        uint8_t how = *l->flow++;
        uint32_t block = last->next;
        if (how & STEP_OTHER) {
            if (l->id_end - l->id < 4)
                return false;
            memcpy(&block, l->id, 4);
            l->id += 4;
        } else if (last->epoch != p->epoch) {
            return false;
        }
        const struct code_block *b = code_block(code, block);
        if (!b || h->values - values < b->slots)
            return false;
        *last = (struct succ){block, p->epoch};
        last = &p->succ[block];
        struct trace_step *s = &c->step[i];
        *s = (struct trace_step){block, values, insns, b->insns, thread};
        if (how & STEP_CUT) {
            if (l->cut == l->cut_end || *l->cut > b->insns)
                return false;
            s->insns = *l->cut++;
        }
        if (how & STEP_THREAD) {
            if (l->sw_end - l->sw < 2)
                return false;
            memcpy(&thread, l->sw, 2);
            l->sw += 2;
            s->thread = thread;
        }
        if (s->thread >= h->threads || (wanted && !unpack_values(p, b, c->value + values, l)))
            return false;
        values += b->slots;
        insns += s->insns;
    }
    return values == h->values && insns == h->insns;
}

static bool good_notes(const struct trace_chunk *c)
{
    for (uint32_t i = 0; i < c->notes; i++) {
        uint32_t at = c->note[i].at;
        if (c->note[i].step > c->steps || at % 8 || at > c->bytes_used ||
            (i && c->note[i].step < c->note[i - 1].step))
            return false;
        const struct flow_note *n = trace_note(c, i);
        if (flow_note_check(n, c->bytes_used - at) || n->kind == FLOW_BLOCK)
            return false;
    }
    return true;
}

int trace_unpack(struct trace_pack *p, const void *data, size_t bytes, const struct code *code,
                 bool values, struct trace_chunk *c, struct err *err)
{
    struct head h;
    const uint8_t *at = data, *end = at + bytes;
    if (bytes < sizeof h)
        return err_set(err, "too short");
    memcpy(&h, at, sizeof h);
    at += sizeof h;
    uint64_t total = sizeof h + sizeof *c->state * (uint64_t)h.threads +
                     sizeof *c->note * (uint64_t)h.notes + h.bytes + h.steps + h.values + h.ids +
                     h.cuts + h.switches + (uint64_t)h.deltas;
    if (total != bytes || h.steps > TRACE_STEPS)
        return err_set(err, "its columns contradict each other");
    if (begin(p, code, err) || room_for(c, &h, values, err))
        return -1;
    memcpy(c->state, at, sizeof *c->state * h.threads);
    at += sizeof *c->state * h.threads;
    memcpy(c->note, at, sizeof *c->note * h.notes);
    at += sizeof *c->note * h.notes;
    memcpy(c->bytes, at, h.bytes);
    at += h.bytes;
    c->threads = h.threads;
    c->steps = h.steps;
    c->values = values ? h.values : 0;
    c->notes = h.notes;
    c->bytes_used = h.bytes;
    c->insns = h.insns;
    struct left l = {.flow = at, .kind = at + h.steps};
    l.kind_end = l.id = l.kind + h.values;
    l.id_end = l.cut = l.id + h.ids;
    l.cut_end = l.sw = l.cut + h.cuts;
    l.sw_end = l.delta = l.sw + h.switches;
    l.delta_end = end;
    if (!unpack_steps(p, &h, code, values, &l, c) || !good_notes(c))
        return err_set(err, "not a chunk of a trace");
    return 0;
}
