/* touching.c - a replay that stops by at each of a list of accesses. SPDX-License-Identifier: MIT
 */
#include "ask/touching.h"

#include <stdlib.h>

#include "engine/x86/accesses.h"

/* ---- bytecode ---- */

enum { WHEN_BYTES = 128 };

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

/* An instruction that touches other memory most of the time: only where its operand is near the
 * ranges. 0: always, which is right, too. */
static uint32_t write_when(struct asking *q, const struct touching *t, gaddr pc, uint8_t *out)
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
    for (size_t i = 0; i < t->ranges; i++) {
        low = t->range[i].start < low ? t->range[i].start : low;
        high = t->range[i].end > high ? t->range[i].end : high;
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
    const struct touching *t;
    touching_fn *fn;
    void *arg;
    size_t first, next; /* of the accesses that were told last, and behind them */
};

static bool same(const struct position *a, const struct position *b)
{
    return a->thread == b->thread && a->count == b->count && a->pc == b->pc;
}

/* Behind all accesses of the instruction of the first. */
static size_t behind(const struct touching *t, size_t first)
{
    size_t i = first;
    while (i < t->count && t->list[i].insn == t->list[first].insn)
        i++;
    return i;
}

/* An instruction that is begun again has another row, which counts. */
static int take_row(void *arg, const struct probe_row *row, struct err *err)
{
    struct job *j = arg;
    if (row->undone)
        return 0;
    if (j->next > j->first && same(&row->at, &j->t->list[j->first].at))
        return j->fn(j->arg, j->first, j->next, row, err);
    if (j->next == j->t->count || !same(&row->at, &j->t->list[j->next].at))
        return 0; /* it touched other memory then */
    j->first = j->next;
    j->next = behind(j->t, j->first);
    return j->fn(j->arg, j->first, j->next, row, err);
}

/* ---- all of it ---- */

static int by_address(const void *a, const void *b)
{
    const gaddr *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The different addresses of their instructions. */
static size_t list_pcs(const struct touching *t, gaddr *pc)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        pc[i] = t->list[i].at.pc;
    qsort(pc, t->count, sizeof *pc, by_address);
    for (size_t i = 0; i < t->count; i++)
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
    uint8_t *when = calloc(pcs + 1, WHEN_BYTES);
    struct study_probe_options o = {.stop = interrupted, .arg = j};
    int end = probe && when ? 0 : err_set(err, "no memory");
    for (size_t i = 0; !end && i < pcs; i++)
        probe[i] =
            (struct probe){.pc = pc[i],
                           .when = when + i * WHEN_BYTES,
                           .when_bytes = write_when(j->q, j->t, pc[i], when + i * WHEN_BYTES),
                           .take = j->t->take,
                           .take_bytes = j->t->take_bytes};
    if (!end)
        end = study_probe(j->q->study, probe, pcs, &o, take_row, j, err);
    free(probe);
    free(when);
    return end;
}

int touching_run(struct asking *q, const struct touching *t, touching_fn *fn, void *arg,
                 struct err *err)
{
    struct job j = {.q = q, .t = t, .fn = fn, .arg = arg};
    gaddr *pc = calloc(t->count + 1, sizeof *pc);
    if (!pc)
        return err_set(err, "no memory");
    int end = t->count ? run(&j, pc, list_pcs(t, pc), err) : 0;
    free(pc);
    return end;
}
