/* instrument.c - the tools that are installed, and their probes.
 *
 * SPDX-License-Identifier: MIT
 *
 * The engine knows one tool. If there are several, that one stands for them: it has a function if
 * one of them has it, and passes each call on.
 */
#include "engine/core/instrument.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/rt/rt.h"
#include "engine/x86/accesses.h"
#include "engine/x86/operand.h"

const struct instrument *instrument;

static struct {
    const struct instrument *tool[INSTRUMENT_MOST];
    int count;
    uint32_t changes;      /* a tool may have others installed: nothing is passed on then */
    struct instrument all; /* if there are several */
} tools;

/* ---- several tools ---- */

#define TELL_EACH(function, ...)                                                                   \
    uint32_t changes = tools.changes;                                                              \
    for (int i = 0; i < tools.count && changes == tools.changes; i++)                              \
        if (tools.tool[i]->function)                                                               \
    tools.tool[i]->function(__VA_ARGS__)

static unsigned all_select(const struct insn *in, bool first)
{
    unsigned probes = 0;
    for (int i = 0; i < tools.count; i++)
        if (tools.tool[i]->select)
            probes |= tools.tool[i]->select(in, first) << i * PROBE_BITS;
    return probes;
}

static void all_probe(struct thread *t, const struct probe *p)
{
    uint32_t changes = tools.changes;
    for (int i = 0; i < tools.count && changes == tools.changes; i++) {
        struct probe own = *p;
        own.what = p->what >> i * PROBE_BITS & 0xff;
        if (own.what && tools.tool[i]->probe)
            tools.tool[i]->probe(t, &own);
    }
}

static void all_syscall(struct thread *t, bool after)
{
    TELL_EACH(syscall, t, after);
}

static void all_thread_start(struct thread *t)
{
    TELL_EACH(thread_start, t);
}

static void all_thread_exit(struct thread *t)
{
    TELL_EACH(thread_exit, t);
}

static void all_position(struct thread *t)
{
    TELL_EACH(position, t);
}

static void all_step(struct thread *t)
{
    TELL_EACH(step, t);
}

static void all_block(uint32_t number, const struct insn *insn, int count)
{
    TELL_EACH(block, number, insn, count);
}

static void all_cut(struct thread *t)
{
    TELL_EACH(cut, t);
}

static void all_signal(struct thread *t, int sig, gaddr handler)
{
    TELL_EACH(signal, t, sig, handler);
}

static void all_finish(void)
{
    TELL_EACH(finish);
}

/* Makes tools.all stand for one more. */
static void take_in(const struct instrument *tool, int i)
{
    struct instrument *all = &tools.all;
#define TAKE_IN(function)                                                                          \
    if (tool->function)                                                                            \
    all->function = all_##function
    TAKE_IN(select);
    TAKE_IN(probe);
    TAKE_IN(syscall);
    TAKE_IN(thread_start);
    TAKE_IN(thread_exit);
    TAKE_IN(position);
    TAKE_IN(step);
    TAKE_IN(block);
    TAKE_IN(cut);
    TAKE_IN(signal);
    TAKE_IN(finish);
#undef TAKE_IN
    all->flow |= tool->flow << i * PROBE_BITS;
    all->sparse &= tool->sparse || !tool->select;
}

/* ---- which ---- */

static void changed(void)
{
    tools.changes++;
    tools.all = (struct instrument){.sparse = true};
    for (int i = 0; i < tools.count; i++)
        take_in(tools.tool[i], i);
    instrument = tools.count > 1 ? &tools.all : tools.count ? tools.tool[0] : NULL;
    cache_kill_all();
}

void instrument_install(const struct instrument *tool)
{
    tools.tool[0] = tool;
    tools.count = tool != NULL;
    changed();
}

bool instrument_add(const struct instrument *tool)
{
    if (tools.count == INSTRUMENT_MOST || (tool->flow && instrument && instrument->flow))
        return false;
    tools.tool[tools.count++] = tool;
    changed();
    return true;
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
    if (p.what & PROBE_EACH(PROBE_MEMORY | PROBE_WATCH))
        find_accesses(t, &p);
    instrument->probe(t, &p);
}
