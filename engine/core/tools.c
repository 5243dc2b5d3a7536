/* tools.c - small built-in tools; each shows and tests one side of instrument.h.
 *
 * SPDX-License-Identifier: MIT
 *
 *   icount     instructions executed, by a probe before each
 *   blocks     block entries, and system calls, threads started and ended
 *   memory     loads, stores, their bytes, and a hash of all addresses
 *   position   prints the registers at the position given with stop=COUNT:PC
 *   toggle     counts instructions, but switches itself off and on by invalidating blocks
 */
#include "engine/core/tools.h"

#include "engine/core/engine.h"
#include "engine/rt/rt.h"

static struct {
    uint64_t insns, after, blocks, loads, stores, bytes, hash, calls, starts, exits, toggles;
    bool off;
} n;

static unsigned all_before(const struct insn *in, bool first)
{
    (void)in;
    (void)first;
    return PROBE_BEFORE | PROBE_AFTER;
}

static void count_insn(struct thread *t, const struct probe *p)
{
    (void)t;
    n.insns += (p->what & PROBE_BEFORE) != 0;
    n.after += (p->what & PROBE_AFTER) != 0;
}

static void report_icount(void)
{
    rt_say("icount: instructions=%lu after=%lu", n.insns, n.after);
}

static unsigned block_entry(const struct insn *in, bool first)
{
    (void)in;
    return first ? PROBE_BLOCK : 0;
}

static void count_block(struct thread *t, const struct probe *p)
{
    (void)t;
    (void)p;
    n.blocks++;
}

static void count_call(struct thread *t, bool after)
{
    (void)t;
    n.calls += !after;
}

static void count_start(struct thread *t)
{
    (void)t;
    n.starts++;
}

static void count_exit(struct thread *t)
{
    (void)t;
    n.exits++;
}

static void report_blocks(void)
{
    rt_say("blocks: entries=%lu syscalls=%lu started=%lu ended=%lu", n.blocks, n.calls, n.starts,
           n.exits);
}

static unsigned memory_access(const struct insn *in, bool first)
{
    (void)in;
    (void)first;
    return PROBE_MEMORY;
}

static void note_access(struct thread *t, const struct probe *p)
{
    (void)t;
    for (int i = 0; i < p->accesses; i++) {
        const struct access *a = &p->access[i];
        n.loads += a->read;
        n.stores += a->write;
        n.bytes += a->bytes;
        n.hash = (n.hash ^ a->addr ^ (uint64_t)a->bytes << 56) * 1099511628211ull;
    }
}

static void report_memory(void)
{
    rt_say("memory: loads=%lu stores=%lu bytes=%lu hash=%lx", n.loads, n.stores, n.bytes, n.hash);
}

static void print_position(struct thread *t)
{
    const uint64_t *g = t->cpu.gpr;
    rt_say(
        "position: thread=%u count=%lu pc=%lx rax=%lx rcx=%lx rdx=%lx rbx=%lx rsp=%lx rbp=%lx "
        "rsi=%lx rdi=%lx r8=%lx r9=%lx r10=%lx r11=%lx r12=%lx r13=%lx r14=%lx r15=%lx rflags=%lx",
        t->number, thread_count(t), t->cpu.rip, g[RAX], g[RCX], g[RDX], g[RBX], g[RSP], g[RBP],
        g[RSI], g[RDI], g[R8], g[R9], g[R10], g[R11], g[R12], g[R13], g[R14], g[R15],
        t->cpu.rflags);
}

static unsigned toggled(const struct insn *in, bool first)
{
    (void)in;
    (void)first;
    return n.off ? (first ? PROBE_BLOCK : 0) : PROBE_BEFORE;
}

static void toggle(struct thread *t, const struct probe *p)
{
    (void)t;
    (void)p;
    if (++n.insns % 1000 == 0) {
        n.off = !n.off;
        n.toggles++;
        instrument_changed(0, 1ull << 47);
    }
}

static void report_toggle(void)
{
    rt_say("toggle: probes=%lu toggles=%lu", n.insns, n.toggles);
}

static const struct {
    const char *name;
    struct instrument tool;
} tools[] = {
    {"icount", {.select = all_before, .probe = count_insn, .finish = report_icount}},
    {"blocks",
     {.select = block_entry,
      .probe = count_block,
      .syscall = count_call,
      .thread_start = count_start,
      .thread_exit = count_exit,
      .finish = report_blocks}},
    {"memory", {.select = memory_access, .probe = note_access, .finish = report_memory}},
    {"position", {.position = print_position}},
    {"toggle", {.select = toggled, .probe = toggle, .finish = report_toggle}},
};

const char *tools_name(const char *list, char name[TOOLS_NAMES])
{
    size_t len = 0;
    for (; *list && *list != '+' && len + 1 < TOOLS_NAMES; list++)
        name[len++] = *list;
    name[len] = 0;
    return *list == '+' ? list + 1 : list;
}

const struct instrument *tools_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (rt_streq(tools[i].name, name))
            return &tools[i].tool;
    return NULL;
}
