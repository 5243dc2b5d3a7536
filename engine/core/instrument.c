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

static void find_accesses(struct thread *t, struct probe *p)
{
    struct insn in;
    struct insn_operands ops;
    uint8_t bytes[INSN_MAX_BYTES];
    if (!engine_read(bytes, p->pc, p->len))
        return;
    engine_decoder_enter(t);
    if (insn_decode(&in, p->pc, bytes, p->len) == 0 && in.kind != INSN_ILLEGAL)
        insn_operands(&in, &ops);
    else
        ops.z.operand_count = 0;
    engine_decoder_leave(t);
    struct segments seg = engine_segments(t);
    for (int i = 0; i < ops.z.operand_count && p->accesses < (int)ARRAY_LEN(p->access); i++) {
        const ZydisDecodedOperand *op = &ops.op[i];
        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            continue;
        struct access *a = &p->access[p->accesses++];
        a->addr = operand_address(&in, op, &t->cpu, seg);
        a->bytes = op->size / 8;
        a->read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
        a->write = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        /* A push writes below the stack pointer it starts with. */
        if (a->write && op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
            op->mem.base == ZYDIS_REGISTER_RSP)
            a->addr -= a->bytes;
    }
}

void instrument_run(struct thread *t, const struct exit_site *site)
{
    struct probe p = {.what = site->probe, .pc = site->pc, .len = site->len};
    if (!instrument || !instrument->probe)
        return;
    if (p.what & PROBE_MEMORY)
        find_accesses(t, &p);
    instrument->probe(t, &p);
}
