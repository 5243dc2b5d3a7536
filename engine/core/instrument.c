/* instrument.c - run a tool's probes. SPDX-License-Identifier: MIT */
#include "engine/core/instrument.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/rt/rt.h"
#include "engine/x86/accesses.h"
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

/* What an address depends on besides the operand: the bit number of bt and its kind, al of xlat. */
static gaddr distance(const struct insn_operands *ops, const struct mem_access *m,
                      const struct cpu_state *cpu)
{
    if (m->shape == ACCESS_TABLE)
        return (uint8_t)cpu->gpr[RAX];
    if (m->shape != ACCESS_BITS)
        return 0;
    uint64_t v = cpu->gpr[insn_gpr_number(ops->op[1].reg.value)];
    int64_t bit = m->bytes == 8 ? (int64_t)v : m->bytes == 4 ? (int32_t)v : (int16_t)v;
    int64_t words = bit >> (m->bytes == 8 ? 6 : m->bytes == 4 ? 5 : 4);
    return (uint64_t)(words * m->bytes);
}

static void find_accesses(struct thread *t, struct probe *p)
{
    struct insn in;
    struct insn_operands ops;
    uint8_t bytes[INSN_MAX_BYTES];
    if (!engine_read(bytes, p->pc, p->len))
        return;
    if (insn_decode(&in, p->pc, bytes, p->len) < 0 || in.kind == INSN_ILLEGAL)
        return;
    insn_operands(&in, &ops);
    struct mem_access list[ACCESSES_MOST];
    int count = accesses_of(&in, &ops, list);
    struct segments seg = engine_segments(t);
    for (int i = 0; i < count; i++) {
        const struct mem_access *m = &list[i];
        struct access *a = &p->access[p->accesses++];
        a->addr = operand_address(&in, &ops.op[m->op], &t->cpu, seg) + (uint64_t)m->moved +
                  distance(&ops, m, &t->cpu);
        a->bytes = m->bytes;
        a->read = m->read;
        a->write = m->write;
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
