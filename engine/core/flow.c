/* flow.c - code that writes down where it goes. SPDX-License-Identifier: MIT
 *
 * The record's place is taken at the block's entry, all of it at once; slots are then stored behind
 * t->flow at fixed distances. Nothing here touches flags. The buffer is full when its end is
 * passed: with d such that start + d is a multiple of its size, (place + d) >> k says so.
 */
#include "engine/core/flow.h"

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/job.h"
#include "engine/core/layout.h"
#include "engine/rt/rt.h"
#include "engine/x86/plan.h"

static struct {
    uint64_t bytes;
    uint32_t d, full; /* what (place + d) >> shift is behind the end */
    uint8_t shift;
    uint32_t blocks;
    struct plan plan; /* of the block under way */
} flow;

bool flow_begin(gaddr start, uint64_t bytes)
{
    flow.shift = (uint8_t)__builtin_ctzll(bytes);
    flow.bytes = bytes;
    flow.d = (uint32_t)(-start & (bytes - 1));
    flow.full = (uint32_t)((start + flow.d + bytes) >> flow.shift);
    flow.blocks = 0;
    return engine.rorx && engine.wrfsbase;
}

static uint32_t record_bytes(void)
{
    return 8u * (1u + flow.plan.slots);
}

/* The buffer is full: the tool learns of it before the record is begun, which then begins anew. */
static void emit_check(struct job *j)
{
    struct emit *e = &j->e;
    uint8_t *begin = e->p;
    emit_gs_store(e, RCX, T_SPILL_RCX);
    emit_gs_load(e, RCX, T_FLOW);
    emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x89}, 3); /* lea rcx, [rcx + d] */
    emit32(e, flow.d);
    emit_bytes(e, (const uint8_t[]){0xc4, 0xe3, 0xfb, 0xf0, 0xc9, flow.shift}, 6); /* rorx */
    emit_bytes(e, (const uint8_t[]){0x8d, 0x89}, 2); /* lea ecx, [rcx - full] */
    emit32(e, 0u - flow.full);
    emit_bytes(e, (const uint8_t[]){0xe3, 2, 0xeb, 5}, 4); /* jrcxz over the jump over: */
    uint8_t *full = emit_jmp(e);
    struct exit_site *s = exits_add(j, EXIT_PROBE, j->insn[0].pc, j->insn[0].pc);
    s->probe = instrument->flow;
    s->len = j->insn[0].len;
    s->patch = begin;
    emit_patch(full, j->cold.p);
    emit_gs_load(&j->cold, RCX, T_SPILL_RCX);
    exits_leave(j, &j->cold, s, T_H_EXIT);
}

void flow_emit_entry(struct job *j)
{
    struct emit *e = &j->e;
    plan_block(j->insn, j->count, &flow.plan);
    emit_check(j);
    emit_gs_load(e, RCX, T_FLOW);
    emit_bytes(e, (const uint8_t[]){0x48, 0xc7, 0x01}, 3); /* mov qword [rcx], number */
    emit32(e, flow.blocks);
    emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x89}, 3); /* lea rcx, [rcx + bytes] */
    emit32(e, record_bytes());
    emit_gs_store(e, RCX, T_FLOW);
    emit_gs_load(e, RCX, T_SPILL_RCX);
    instrument->block(flow.blocks++, j->insn, j->count);
}

/* [place + disp32] with the place in rax or rcx */
static void emit_place(struct job *j, uint8_t opcode, int reg, int place, int slot)
{
    struct emit *e = &j->e;
    emit_gs_store(e, place, place == RAX ? T_SPILL_RAX : T_SPILL_RCX);
    emit_gs_load(e, place, T_FLOW);
    if (opcode == 0x89)
        emit8(e, (uint8_t)(0x48 | (reg >> 3) << 2));
    emit_bytes(e, (const uint8_t[]){opcode, (uint8_t)(0x80 | (reg & 7) << 3 | place)}, 2);
    emit32(e, 8u * (1u + (uint32_t)slot) - record_bytes());
    emit_gs_load(e, place, place == RAX ? T_SPILL_RAX : T_SPILL_RCX);
}

static void emit_address(struct job *j, const struct insn *in, int operand, int slot)
{
    struct emit *e = &j->e;
    struct insn_operands ops;
    insn_operands(in, &ops);
    ZydisDecodedOperandMem mem = ops.op[operand].mem;
    emit_gs_store(e, RCX, T_SPILL_RCX);
    if (in->rip_relative)
        emit_mov_imm64(e, RCX, in->addr32 ? (uint32_t)in->target : in->target);
    else
        copy_lea(e, RCX, &mem, in->addr32 && mem.base != ZYDIS_REGISTER_RSP);
    if (mem.segment == ZYDIS_REGISTER_FS) {
        emit_gs_store(e, RAX, T_SPILL_RAX);
        emit_bytes(e, (const uint8_t[]){0xf3, 0x48, 0x0f, 0xae, 0xc0}, 5); /* rdfsbase rax */
        emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x0c, 0x01}, 4); /* lea rcx, [rcx + rax] */
        emit_gs_load(e, RAX, T_SPILL_RAX);
    }
    emit_place(j, 0x89, RCX, RAX, slot);
    emit_gs_load(e, RCX, T_SPILL_RCX);
}

static void emit_slots(struct job *j, int n, bool after)
{
    for (int i = 0; i < flow.plan.slots; i++) {
        const struct plan_slot *s = &flow.plan.slot[i];
        if (s->insn != n || s->after != after)
            continue;
        if (s->kind == PLAN_ADDRESS)
            emit_address(j, &j->insn[n], s->what, i);
        else if (s->kind == PLAN_TOP)
            emit_place(j, 0xdd, 7, RAX, i); /* fnstsw */
        else
            emit_place(j, 0x89, s->what, s->what == RAX ? RCX : RAX, i);
    }
}

void flow_emit_before(struct job *j, int n)
{
    emit_slots(j, n, false);
}

void flow_emit_after(struct job *j, int n)
{
    emit_slots(j, n, true);
}
