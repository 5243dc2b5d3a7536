/* code.c - the blocks that a recording executed. SPDX-License-Identifier: MIT */
#include "trace/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

const uint8_t code_gap[CODE_GAP_BYTES] = {0x2e, 0x2e, 0x2e, 0x0f, 0x05}; /* a system call */

enum { POLICIES = 4 }; /* combinations of enum defuse_flag */

struct entry {
    struct code_block block; /* first: the table has pointers to it */
    struct defuse **set[POLICIES];
    uint32_t next; /* of the same hash, number + 1 */
};

struct code {
    struct code_table table;
    size_t room;
    uint32_t *bucket; /* number + 1 */
    uint32_t buckets;
    struct defuse varying;
};

struct code *code_new(void)
{
    struct code *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->buckets = 1 << 16;
    c->bucket = calloc(c->buckets, sizeof *c->bucket);
    if (!c->bucket) {
        free(c);
        return NULL;
    }
    insn_init();
    return c;
}

static void entry_free(struct entry *e)
{
    for (int k = 0; k < POLICIES; k++) {
        for (unsigned i = 0; e->set[k] && i < e->block.insns; i++)
            free(e->set[k][i]);
        free(e->set[k]);
    }
    free(e->block.insn);
    free((void *)e->block.slot);
    free((void *)e->block.access);
    free(e);
}

void code_free(struct code *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->table.count; i++)
        entry_free((struct entry *)c->table.block[i]);
    free(c->table.block);
    free(c->bucket);
    free(c);
}

static struct entry *entry_at(const struct code *c, uint32_t number)
{
    return (struct entry *)c->table.block[number];
}

void code_mark_entry(struct code *c, uint32_t number)
{
    c->table.block[number]->entry = true;
}

static bool same(const struct code_block *b, gaddr pc, uint32_t n, const uint8_t *lens,
                 const uint8_t *bytes)
{
    if (b->pc != pc || b->insns != n)
        return false;
    for (uint32_t i = 0; i < n; bytes += lens[i++])
        if (b->insn[i].in.len != lens[i] || memcmp(b->insn[i].in.bytes, bytes, lens[i]))
            return false;
    return true;
}

static int decode(struct code_block *b, const uint8_t *lens, const uint8_t *bytes, struct err *err)
{
    gaddr pc = b->pc;
    for (uint32_t i = 0; i < b->insns; i++) {
        struct code_insn *ci = &b->insn[i];
        if (insn_decode(&ci->in, pc, bytes, lens[i]) < 0 || ci->in.len != lens[i]) {
            if (i + 1 < b->insns || lens[i] > INSN_MAX_BYTES)
                return err_set(err, "trace: the block at 0x%llx does not decode",
                               (unsigned long long)b->pc);
            /* It runs into a page without code: a fault. */
            ci->in = (struct insn){.pc = pc, .kind = INSN_ILLEGAL, .len = lens[i]};
            memcpy(ci->in.bytes, bytes, lens[i]);
        }
        ci->top = PLAN_NONE;
        pc += lens[i];
        bytes += lens[i];
    }
    b->end = pc;
    return 0;
}

/* ---- saved registers ---- */

static bool on_stack(const ZydisDecodedOperand *op)
{
    return op->mem.index == ZYDIS_REGISTER_NONE && op->mem.segment != ZYDIS_REGISTER_FS &&
           (op->mem.base == ZYDIS_REGISTER_RSP || op->mem.base == ZYDIS_REGISTER_RBP);
}

static int whole_register(const ZydisDecodedOperand *op)
{
    int reg = op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == 64
                  ? insn_gpr_number(op->reg.value)
                  : -1;
    return reg == RSP ? -1 : reg;
}

static int form(const struct code_block *b, const struct code_insn *in, bool restore)
{
    struct insn_operands ops;
    bool stack_op = in->in.mnemonic == (restore ? ZYDIS_MNEMONIC_POP : ZYDIS_MNEMONIC_PUSH);
    if ((!stack_op && in->in.mnemonic != ZYDIS_MNEMONIC_MOV) || in->accesses != 1)
        return -1;
    insn_operands(&in->in, &ops);
    const struct mem_access *m = &b->access[in->access_at].mem;
    if (m->bytes != 8 || m->shape != ACCESS_PLAIN || !on_stack(&ops.op[m->op]))
        return -1;
    if (stack_op)
        return whole_register(&ops.op[0]);
    if (restore ? !m->read : !m->write)
        return -1;
    return whole_register(&ops.op[restore ? 0 : 1]);
}

/* Where its last instruction must lead to be a tick: calls, returns and indirect jumps are always,
 * other jumps backwards. */
static gaddr ticks_to(const struct insn *in)
{
    switch (in->kind) {
    case INSN_CALL:
    case INSN_CALL_IND:
    case INSN_JMP_IND:
    case INSN_RET:
        return CODE_ANYWHERE;
    case INSN_JMP:
    case INSN_JCC:
    case INSN_JCXZ:
        return in->target <= in->pc ? in->target : CODE_NOWHERE;
    default:
        return CODE_NOWHERE;
    }
}

static int plan(struct code_block *b, struct err *err)
{
    struct plan p;
    struct insn in[PLAN_INSNS];
    for (uint32_t i = 0; i < b->insns; i++)
        in[i] = b->insn[i].in;
    plan_block(in, b->insns, &p);
    struct plan_slot *slot = malloc(sizeof *slot * p.slots + 1);
    struct plan_access *access = malloc(sizeof *access * p.accesses + 1);
    b->slot = slot;
    b->access = access;
    if (!slot || !access)
        return err_set(err, "no memory");
    memcpy(slot, p.slot, sizeof *slot * p.slots);
    memcpy(access, p.access, sizeof *access * p.accesses);
    b->slots = p.slots;
    b->accesses = p.accesses;
    for (uint32_t i = 0, a = 0; i < b->insns; i++) {
        b->insn[i].access_at = (uint16_t)a;
        for (; a < p.accesses && access[a].insn == i; a++)
            b->insn[i].accesses++;
    }
    for (uint32_t i = 0; i < b->insns; i++) {
        b->insn[i].saves = (int8_t)form(b, &b->insn[i], false);
        b->insn[i].restores = (int8_t)form(b, &b->insn[i], true);
        b->pairs = b->pairs || b->insn[i].saves >= 0 || b->insn[i].restores >= 0;
    }
    for (uint32_t i = 0; i < p.slots; i++) {
        b->moves_stack = b->moves_stack || slot[i].kind == PLAN_STACK;
        if (slot[i].kind == PLAN_TOP)
            b->insn[slot[i].insn].top = (uint16_t)i;
    }
    b->tail = (uint8_t)code_last(b)->kind;
    b->gap = b->insns == 1 && b->insn->in.len == CODE_GAP_BYTES &&
             !memcmp(b->insn->in.bytes, code_gap, CODE_GAP_BYTES);
    b->ticks_to = ticks_to(code_last(b));
    return 0;
}

static struct entry *make(gaddr pc, uint32_t n, const uint8_t *lens, const uint8_t *bytes,
                          struct err *err)
{
    struct entry *e = calloc(1, sizeof *e);
    if (!e || !(e->block.insn = calloc(n, sizeof *e->block.insn))) {
        free(e);
        err_set(err, "no memory");
        return NULL;
    }
    e->block.pc = pc;
    e->block.insns = (uint16_t)n;
    if (decode(&e->block, lens, bytes, err) || plan(&e->block, err)) {
        entry_free(e);
        return NULL;
    }
    return e;
}

static uint32_t hash(const struct code *c, gaddr pc)
{
    return hash_word(pc) & (c->buckets - 1);
}

static void rehash(struct code *c)
{
    uint32_t buckets = c->buckets * 2, *bucket = calloc(buckets, sizeof *bucket);
    if (!bucket)
        return;
    free(c->bucket);
    c->bucket = bucket;
    c->buckets = buckets;
    for (uint32_t i = 0; i < c->table.count; i++) {
        uint32_t *at = &c->bucket[hash(c, c->table.block[i]->pc)];
        entry_at(c, i)->next = *at;
        *at = i + 1;
    }
}

const struct code_block *code_add(struct code *c, gaddr pc, uint32_t n, const uint8_t *lens,
                                  const uint8_t *bytes, size_t room, struct err *err)
{
    size_t total = 0;
    for (uint32_t i = 0; i < n && n <= PLAN_INSNS; i++)
        total += lens[i];
    if (!n || n > PLAN_INSNS || total > room) {
        err_set(err, "trace: not a block");
        return NULL;
    }
    for (uint32_t k = c->bucket[hash(c, pc)]; k; k = entry_at(c, k - 1)->next)
        if (same(c->table.block[k - 1], pc, n, lens, bytes))
            return c->table.block[k - 1];
    if (array_reserve(&c->table.block, &c->room, c->table.count + 1u)) {
        err_set(err, "no memory");
        return NULL;
    }
    struct entry *e = make(pc, n, lens, bytes, err);
    if (!e)
        return NULL;
    uint32_t *at = &c->bucket[hash(c, pc)];
    e->next = *at;
    e->block.number = c->table.count;
    c->table.block[c->table.count++] = &e->block;
    *at = c->table.count;
    if (c->table.count > c->buckets)
        rehash(c);
    return &e->block;
}

/* ---- def/use ---- */

bool code_varies(const struct code_block *b, unsigned i)
{
    const struct code_insn *ci = &b->insn[i];
    return ci->top != PLAN_NONE || (ci->accesses && code_is_repeated(&b->access[ci->access_at]));
}

static void compute(const struct code_block *b, unsigned i, unsigned flags, const uint64_t *values,
                    struct defuse *out)
{
    const struct code_insn *ci = &b->insn[i];
    struct insn_operands ops;
    struct defuse_how how = DEFUSE_HOW;
    memset(out, 0, sizeof *out);
    if (ci->in.kind == INSN_ILLEGAL)
        return;
    insn_operands(&ci->in, &ops);
    how.flags = flags;
    if (ci->top != PLAN_NONE)
        how.top = values[ci->top] >> 11 & 7;
    if (ci->accesses && code_is_repeated(&b->access[ci->access_at])) {
        int64_t n = code_repeats(b, &b->access[ci->access_at], values);
        how.count = (uint64_t)(n < 0 ? -n : n);
    }
    defuse_of(&ci->in, &ops, &how, out);
    if (how.count == 0) /* nothing happened: not even its count matters to anybody */
        out->defs = out->uses = 0;
}

const struct defuse *code_defuse(struct code *c, const struct code_block *b, unsigned i,
                                 unsigned flags, const uint64_t *values)
{
    struct entry *e = entry_at(c, b->number);
    struct defuse ***set = &e->set[flags % POLICIES];
    if (code_varies(b, i)) {
        compute(b, i, flags, values, &c->varying);
        return &c->varying;
    }
    if (!*set)
        *set = calloc(b->insns, sizeof **set);
    struct defuse *d = *set ? (*set)[i] : NULL;
    if (d || !*set)
        return d;
    d = malloc(sizeof *d);
    if (d) {
        compute(b, i, flags, values, d);
        (*set)[i] = d;
    }
    return d;
}
