/* ops.c - instructions as operations on what is known of values. SPDX-License-Identifier: MIT */
#include "facts/heap/ops_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/access.h"

enum { ALL_FLAGS = FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF };

struct op *ops_emit(struct compiler *c, enum ops_kind kind)
{
    struct op op = {.kind = (uint8_t)kind,
                    .insn = (uint8_t)c->i,
                    .dst = OPS_NO_REG,
                    .src = OPS_NO_REG,
                    .base = OPS_NO_REG,
                    .index = OPS_NO_REG,
                    .access = PLAN_NONE};
    static struct op nowhere;
    if (array_push(&c->out->op, &c->out->count, &c->out->room, op)) {
        c->failed = true;
        return &nowhere;
    }
    return &c->out->op[c->out->count - 1];
}

/* ---- operands ---- */

static bool is_high(ZydisRegister r)
{
    return r == ZYDIS_REGISTER_AH || r == ZYDIS_REGISTER_CH || r == ZYDIS_REGISTER_DH ||
           r == ZYDIS_REGISTER_BH;
}

int ops_gpr(const struct compiler *c, unsigned k)
{
    const ZydisDecodedOperand *op = ops_operand(c, k);
    if (k >= c->ops.z.operand_count || op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        is_high(op->reg.value))
        return -1;
    return insn_gpr_number(op->reg.value);
}

int ops_vec(const struct compiler *c, unsigned k)
{
    const ZydisDecodedOperand *op = ops_operand(c, k);
    if (k >= c->ops.z.operand_count || op->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return -1;
    ZydisRegisterClass class = ZydisRegisterGetClass(op->reg.value);
    return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM
               ? ZydisRegisterGetId(op->reg.value)
               : -1;
}

/* ---- memory ---- */

uint8_t ops_pointer(ZydisRegister r)
{
    int n = insn_gpr_number(r);
    return n < 0 ? OPS_NO_REG : (uint8_t)n;
}

uint16_t ops_site(const struct compiler *c, const ZydisDecodedOperand *op)
{
    const struct ops_sites *s = c->sites;
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return op->reg.value == ZYDIS_REGISTER_RSP ? s->find(s->arg, c->in->pc, RSP, 0, false) : 0;
    if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return s->find(s->arg, c->in->pc, OPS_NO_REG, op->imm.value.s, false);
    if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
        return 0;
    bool indexed = op->mem.index != ZYDIS_REGISTER_NONE;
    uint8_t base = ops_pointer(op->mem.base);
    int64_t add = op->mem.disp.value;
    if (op->mem.base == ZYDIS_REGISTER_RIP)
        add += (int64_t)(c->in->pc + c->in->len);
    else if (base != RSP && base != RBP && op->mem.base != ZYDIS_REGISTER_NONE)
        return 0;
    return s->find(s->arg, c->in->pc, base, add, indexed);
}

void ops_aim(struct compiler *c, struct op *op, uint16_t access)
{
    const struct plan_access *a = &c->b->access[access];
    const ZydisDecodedOperand *m = ops_operand(c, a->mem.op);
    op->access = access;
    op->bytes = (uint8_t)(a->mem.bytes > 255 ? 255 : a->mem.bytes);
    op->simple = a->mem.shape != ACCESS_TABLE && a->mem.shape != ACCESS_BITS;
    op->vector = op->bytes >= 16;
    for (unsigned k = 0; k < c->ops.z.operand_count; k++)
        op->vector |= ops_vec(c, k) >= 0;
    op->base = ops_pointer(m->mem.base);
    op->index = ops_pointer(m->mem.index);
    op->more = (uint8_t)m->mem.scale;
    if (m->mem.index != ZYDIS_REGISTER_NONE)
        op->site = ops_site(c, m);
}

uint16_t ops_access(const struct compiler *c, unsigned k)
{
    const struct code_insn *ci = &c->b->insn[c->i];
    for (uint16_t a = ci->access_at; a < ci->access_at + ci->accesses; a++)
        if (c->b->access[a].mem.op == k && !access_is_odd(&c->b->access[a]))
            return a;
    return PLAN_NONE;
}

struct op *ops_memory(struct compiler *c, enum ops_kind kind, unsigned k, unsigned reg)
{
    uint16_t a = ops_access(c, k);
    struct op *op = ops_emit(c, kind);
    if (a == PLAN_NONE) { /* nothing is known of it */
        op->kind = OPS_CLEAR;
        op->dst = kind == OPS_LOAD ? (uint8_t)reg : OPS_T1;
        return op;
    }
    ops_aim(c, op, a);
    if (kind == OPS_LOAD || kind == OPS_VLOAD)
        op->dst = (uint8_t)reg;
    else
        op->src = (uint8_t)reg;
    return op;
}

int ops_value(struct compiler *c, unsigned k, unsigned temporary)
{
    if (ops_is_mem(c, k)) {
        ops_memory(c, OPS_LOAD, k, temporary);
        return (int)temporary;
    }
    return ops_gpr(c, k);
}

struct op *ops_unary(struct compiler *c, enum ops_kind kind, int dst, int src, unsigned bytes)
{
    struct op *op = ops_emit(c, kind);
    op->dst = (uint8_t)dst;
    op->src = (uint8_t)src;
    op->bytes = (uint8_t)bytes;
    return op;
}

/* ---- the rest ---- */

static bool rule_copies(struct compiler *c)
{
    const struct code_insn *ci = &c->b->insn[c->i];
    if (ci->accesses != 2)
        return false;
    uint16_t to = ci->access_at, from = ci->access_at;
    from = (uint16_t)(from + (c->b->access[to].mem.write ? 1 : 0));
    to = (uint16_t)(to + (c->b->access[to].mem.write ? 0 : 1));
    if (access_is_odd(&c->b->access[to]) || access_is_odd(&c->b->access[from]) ||
        !c->b->access[from].mem.read)
        return false;
    struct op *op = ops_emit(c, OPS_COPY);
    ops_aim(c, op, from);
    op->imm = to;
    return true;
}

static bool is_string_move(const struct compiler *c)
{
    return accesses_string(&c->ops) && ops_vec(c, 0) < 0 && ops_vec(c, 1) < 0;
}

/* What is read is not followed, what is written is defined. */
static void by_default(struct compiler *c)
{
    const struct code_insn *ci = &c->b->insn[c->i];
    for (uint16_t a = ci->access_at; a < ci->access_at + ci->accesses; a++) {
        const struct plan_access *x = &c->b->access[a];
        if (access_is_odd(x))
            continue;
        bool all = code_is_repeated(x) || x->mem.bytes > 64;
        struct op *op = ops_emit(c, all ? OPS_REPEATED : x->mem.write ? OPS_WRITE : OPS_READ);
        ops_aim(c, op, a);
        op->dst = x->mem.write;
        /* which of its elements are touched is not known */
        if (x->mem.shape == ACCESS_MASKED || x->mem.shape == ACCESS_STATE)
            op->kind = x->mem.write ? OPS_REPEATED : OPS_FLAGS;
    }
    for (unsigned k = 0; k < c->ops.z.operand_count; k++) {
        const ZydisDecodedOperand *op = ops_operand(c, k);
        if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        int g = insn_gpr_number(op->reg.value), v = ops_vec(c, k);
        if (g >= 0)
            ops_emit(c, OPS_CLEAR)->dst = (uint8_t)g;
        else if (v >= 0)
            ops_emit(c, OPS_VCLEAR)->dst = (uint8_t)v;
    }
    if (c->in->flags_kill)
        ops_emit(c, OPS_FLAGS)->flags = ALL_FLAGS;
}

static const struct {
    uint16_t mnemonic;
    rule *rule;
} rules[] = {
#define RULE(mnemonic, rule) {ZYDIS_MNEMONIC_##mnemonic, rule},
#include "facts/heap/rules.def"
#undef RULE
};

static rule *rule_of(const struct compiler *c)
{
    if (c->in->kind != INSN_PLAIN && c->in->kind != INSN_EMULATE && c->in->kind != INSN_SYSCALL)
        return rule_goes;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].mnemonic == c->in->mnemonic)
            return is_string_move(c) ? rule_copies : rules[i].rule;
    return NULL;
}

int ops_compile(const struct code_block *b, const struct ops_sites *sites, struct ops *out)
{
    struct compiler c = {.b = b, .out = out, .sites = sites};
    *out = (struct ops){.stack = {.access = PLAN_NONE}};
    for (c.i = 0; c.i < b->insns && !c.failed; c.i++) {
        c.in = &b->insn[c.i].in;
        if (c.in->kind == INSN_ILLEGAL)
            continue;
        insn_operands(c.in, &c.ops);
        size_t before = out->count;
        rule *r = rule_of(&c);
        if (!r || !r(&c)) {
            out->count = before;
            by_default(&c);
        }
        ops_follow_stack(&c);
    }
    return c.failed ? -1 : 0;
}

void ops_deinit(struct ops *o)
{
    free(o->op);
    *o = (struct ops){0};
}
