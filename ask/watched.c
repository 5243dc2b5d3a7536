/* watched.c - what some memory held around each access to it. SPDX-License-Identifier: MIT */
#include "ask/watched.h"

#include <stdlib.h>
#include <string.h>

#include "engine/x86/accesses.h"
#include "study/past.h"
#include "study/probe.h"

/* ---- bytecode ---- */

enum { WHEN_BYTES = 128, TAKE_BYTES = LOCATION_RANGES * 24 + 1 };

struct code {
    uint8_t *at;
    uint32_t bytes;
};

static void put(struct code *c, uint8_t op)
{
    c->at[c->bytes++] = op;
}

static void put_number(struct code *c, uint64_t v)
{
    put(c, OP_CONST64);
    for (int shift = 56; shift >= 0; shift -= 8)
        put(c, (uint8_t)(v >> shift));
}

static void put_register(struct code *c, ZydisRegister reg)
{
    static const uint8_t number[] = {AGENT_RAX, AGENT_RCX, AGENT_RDX, AGENT_RBX,
                                     AGENT_RSP, AGENT_RBP, AGENT_RSI, AGENT_RDI};
    unsigned n = (unsigned)ZydisRegisterGetId(reg);
    put(c, OP_REG);
    put(c, 0);
    put(c, n < 8 ? number[n] : (uint8_t)(AGENT_R8 + n - 8));
}

static bool is_wide(ZydisRegister reg)
{
    return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64;
}

/* The ranges, as far as they fit. */
static uint32_t write_take(const struct location *l, uint8_t *out)
{
    struct code c = {out, 0};
    uint64_t room = WATCHED_MOST;
    for (size_t i = 0; i < l->ranges && room; i++) {
        uint64_t bytes = l->range[i].end - l->range[i].start;
        bytes = bytes < room ? bytes : room;
        room -= bytes;
        put_number(&c, l->range[i].start);
        put_number(&c, bytes);
        put(&c, OP_TRACE);
    }
    put(&c, OP_END);
    return c.bytes;
}

/* An instruction that touches other memory most of the time: only where its operand is near the
 * ranges. 0: always, which is right, too. */
static uint32_t write_when(struct asking *q, const struct location *l, gaddr pc, uint8_t *out)
{
    struct code c = {out, 0};
    struct insn in;
    struct insn_operands ops;
    uint8_t bytes[INSN_MAX_BYTES];
    size_t n = trace_index_code(q->study->index, pc, bytes, sizeof bytes);
    gaddr low = UINT64_MAX, high = 0;
    if (!n || !insn_decode(&in, pc, bytes, n) || in.kind == INSN_SYSCALL)
        return 0;
    insn_operands(&in, &ops);
    const ZydisDecodedOperandMem *mem = NULL;
    for (unsigned i = 0; i < ops.z.operand_count; i++) {
        if (ops.op[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        if (mem) /* two places: a string instruction */
            return 0;
        mem = &ops.op[i].mem;
    }
    bool plain = mem && is_wide(mem->base) &&
                 (mem->index == ZYDIS_REGISTER_NONE || is_wide(mem->index)) &&
                 mem->segment != ZYDIS_REGISTER_FS && mem->segment != ZYDIS_REGISTER_GS &&
                 !(ops.z.attributes &
                   (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) &&
                 in.mnemonic != ZYDIS_MNEMONIC_BT && in.mnemonic != ZYDIS_MNEMONIC_BTS &&
                 in.mnemonic != ZYDIS_MNEMONIC_BTR && in.mnemonic != ZYDIS_MNEMONIC_BTC &&
                 in.mnemonic != ZYDIS_MNEMONIC_PUSH && in.mnemonic != ZYDIS_MNEMONIC_POP;
    if (!plain)
        return 0;
    enum { NEAR = 4096 }; /* more than any operand has */
    for (size_t i = 0; i < l->ranges; i++) {
        low = l->range[i].start < low ? l->range[i].start : low;
        high = l->range[i].end > high ? l->range[i].end : high;
    }
    put_register(&c, mem->base);
    if (mem->index != ZYDIS_REGISTER_NONE) {
        put_register(&c, mem->index);
        put_number(&c, mem->scale);
        put(&c, OP_MUL);
        put(&c, OP_ADD);
    }
    put_number(&c, (uint64_t)mem->disp.value - (low - NEAR));
    put(&c, OP_ADD);
    put_number(&c, high - low + NEAR);
    put(&c, OP_LESS_UNSIGNED);
    put(&c, OP_END);
    return c.bytes;
}

/* ---- rows ---- */

struct job {
    struct asking *q;
    const struct location *l;
    const struct touch *list;
    size_t count;
    watched_fn *fn;
    void *arg;
    size_t first, next; /* of the accesses whose `before` is known, and behind them */
    struct watched_value before, now;
};

static bool same(const struct position *a, const struct position *b)
{
    return a->thread == b->thread && a->count == b->count && a->pc == b->pc;
}

static void read_row(const struct probe_row *row, struct watched_value *out)
{
    uint32_t at = 0;
    struct probe_piece piece;
    const uint8_t *bytes;
    out->known = 0;
    while (probe_piece(row, &at, &piece, &bytes)) {
        if (piece.end != PIECE_WHOLE || out->known + piece.bytes > WATCHED_MOST) {
            out->known = 0;
            return;
        }
        memcpy(out->bytes + out->known, bytes, piece.bytes);
        out->known += piece.bytes;
    }
    if (row->take != AGENT_DONE)
        out->known = 0;
}

/* Behind all accesses of the instruction of the first. */
static size_t behind(const struct job *j, size_t first)
{
    size_t i = first;
    while (i < j->count && j->list[i].insn == j->list[first].insn)
        i++;
    return i;
}

/* An instruction that is begun again has another row, which counts. */
static int take_row(void *arg, const struct probe_row *row, struct err *err)
{
    struct job *j = arg;
    if (row->undone)
        return 0;
    if (j->next > j->first && same(&row->at, &j->list[j->first].at)) {
        read_row(row, &j->before);
        return 0;
    }
    if (j->next == j->count || !same(&row->at, &j->list[j->next].at))
        return 0; /* it touched other memory then */
    read_row(row, &j->now);
    int end = 0;
    if (j->next > j->first)
        end = j->fn(j->arg, j->first, j->next, &j->before, &j->now, err);
    j->before = j->now;
    j->first = j->next;
    j->next = behind(j, j->first);
    return end;
}

/* What is there in the end. */
static int tell_last(struct job *j, struct err *err)
{
    struct watched_value after = {.known = 0};
    struct past *past = study_past(j->q->study, j->l->behind, &j->l->end, err);
    if (!past)
        return -1;
    for (size_t i = 0; i < j->l->ranges && after.known < WATCHED_MOST; i++) {
        size_t bytes = (size_t)(j->l->range[i].end - j->l->range[i].start);
        bytes = bytes < WATCHED_MOST - after.known ? bytes : WATCHED_MOST - after.known;
        if (past_read(past, j->l->range[i].start, after.bytes + after.known, bytes) != bytes) {
            after.known = 0;
            break;
        }
        after.known += bytes;
    }
    past_free(past);
    return j->fn(j->arg, j->first, j->next, &j->before, &after, err);
}

/* ---- all of it ---- */

static int by_address(const void *a, const void *b)
{
    const gaddr *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The different addresses of their instructions. */
static size_t list_pcs(const struct job *j, gaddr *pc)
{
    size_t n = 0;
    for (size_t i = 0; i < j->count; i++)
        pc[i] = j->list[i].at.pc;
    qsort(pc, j->count, sizeof *pc, by_address);
    for (size_t i = 0; i < j->count; i++)
        if (!n || pc[n - 1] != pc[i])
            pc[n++] = pc[i];
    return n;
}

static bool interrupted(void *arg)
{
    return ((struct job *)arg)->q->interrupted();
}

static int run(struct job *j, const gaddr *pc, size_t pcs, struct err *err)
{
    struct probe *probe = calloc(pcs + 1, sizeof *probe);
    uint8_t *when = calloc(pcs + 1, WHEN_BYTES), take[TAKE_BYTES];
    uint32_t take_bytes = write_take(j->l, take);
    struct study_probe_options o = {.stop = interrupted, .arg = j};
    int end = probe && when ? 0 : err_set(err, "no memory");
    for (size_t i = 0; !end && i < pcs; i++)
        probe[i] =
            (struct probe){.pc = pc[i],
                           .when = when + i * WHEN_BYTES,
                           .when_bytes = write_when(j->q, j->l, pc[i], when + i * WHEN_BYTES),
                           .take = take,
                           .take_bytes = take_bytes};
    if (!end)
        end = study_probe(j->q->study, probe, pcs, &o, take_row, j, err);
    free(probe);
    free(when);
    return end;
}

int watched_run(struct asking *q, const struct location *l, const struct touch *list, size_t count,
                watched_fn *fn, void *arg, struct err *err)
{
    struct job *j = calloc(1, sizeof *j);
    gaddr *pc = calloc(count + 1, sizeof *pc);
    int end = j && pc ? 0 : err_set(err, "no memory");
    if (!end && count) {
        *j = (struct job){.q = q, .l = l, .list = list, .count = count, .fn = fn, .arg = arg};
        end = run(j, pc, list_pcs(j, pc), err);
        if (!end && j->next > j->first)
            end = tell_last(j, err);
    }
    free(pc);
    free(j);
    return end;
}

const uint8_t *watched_bytes(const struct location *l, const struct watched_value *v,
                             const struct touch *t)
{
    uint64_t at = 0;
    for (size_t i = 0; i < l->ranges; i++) {
        const struct touch_range *r = &l->range[i];
        if (t->addr >= r->start && t->addr + t->bytes <= r->end) {
            at += t->addr - r->start;
            return at + t->bytes <= v->known ? v->bytes + at : NULL;
        }
        at += r->end - r->start;
    }
    return NULL;
}
