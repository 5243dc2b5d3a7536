/* instrument.c - run a tool's probes. SPDX-License-Identifier: MIT */
#include "engine/core/instrument.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/rt/rt.h"
#include "engine/x86/operand.h"

const struct instrument *instrument;

void instrument_install(const struct instrument *tool)
{
    instrument = tool;
    cache_kill_all();
}

void instrument_changed(gaddr start, gaddr end)
{
    cache_kill_range(start, end);
}

/* Memory that is named but not touched. */
static bool only_names(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op)
{
    return op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || z->mnemonic == ZYDIS_MNEMONIC_NOP ||
           z->meta.category == ZYDIS_CATEGORY_PREFETCH ||
           z->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

/* What an address depends on besides the operand: the stack pointer that pop has moved already, the
 * bit number of bt and its kind. */
static gaddr adjusted(const struct insn_operands *ops, const ZydisDecodedOperand *op, gaddr addr,
                      const struct cpu_state *cpu)
{
    int bytes = op->size / 8;
    switch (ops->z.mnemonic) {
    case ZYDIS_MNEMONIC_XLAT:
        return addr + (uint8_t)cpu->gpr[RAX];
    case ZYDIS_MNEMONIC_POP:
        return op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
                       op->mem.base == ZYDIS_REGISTER_RSP
                   ? addr + (uint64_t)bytes
                   : addr;
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC:
        if (ops->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
            uint64_t v = cpu->gpr[insn_gpr_number(ops->op[1].reg.value)];
            int64_t bit = bytes == 8 ? (int64_t)v : bytes == 4 ? (int32_t)v : (int16_t)v;
            int64_t words = bit >> (bytes == 8 ? 6 : bytes == 4 ? 5 : 4);
            return addr + (uint64_t)(words * bytes);
        }
        return addr;
    default:
        /* A push writes below the stack pointer it starts with. */
        if ((op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && op->mem.base == ZYDIS_REGISTER_RSP &&
            op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
            return addr - (uint64_t)bytes;
        return addr;
    }
}

static void find_accesses(struct thread *t, struct probe *p)
{
    struct insn in;
    struct insn_operands ops;
    uint8_t bytes[INSN_MAX_BYTES];
    if (!engine_read(bytes, p->pc, p->len))
        return;
    if (insn_decode(&in, p->pc, bytes, p->len) == 0 && in.kind != INSN_ILLEGAL)
        insn_operands(&in, &ops);
    else
        ops.z.operand_count = 0;
    struct segments seg = engine_segments(t);
    for (int i = 0; i < ops.z.operand_count && p->accesses < (int)ARRAY_LEN(p->access); i++) {
        const ZydisDecodedOperand *op = &ops.op[i];
        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || only_names(&ops.z, op))
            continue;
        struct access *a = &p->access[p->accesses++];
        a->addr = adjusted(&ops, op, operand_address(&in, op, &t->cpu, seg), &t->cpu);
        a->bytes = op->size / 8;
        a->read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
        a->write = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    }
}

void instrument_run(struct thread *t, const struct exit_site *site)
{
    struct probe p = {.what = site->probe, .pc = site->pc, .len = site->len};
    if (!instrument || !instrument->probe)
        return;
    if (p.what & (PROBE_MEMORY | PROBE_WATCH))
        find_accesses(t, &p);
    instrument->probe(t, &p);
}
