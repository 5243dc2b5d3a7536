/* look.c - does a loop only wait for others?
 *
 * SPDX-License-Identifier: MIT
 *
 * A look notes all loads and stores, and divides them by *visits*: ticks that lead to the pc where
 * it began. A loop only waits if two stretches between visits are the same:
 *
 *  1. They load from the same addresses the same values. Searches and sums (strlen, memchr, a hash
 *     probe, a list) load from other addresses each time. A stretch may be several turns of a loop,
 *     for one that looks at several flags.
 *  2. They change no memory but that near the own stack pointer: counters, frames of functions. A
 *     store of the value that is there already (a lock that is tried by xchg, a cmpxchg that fails)
 *     changes nothing. What they load from where they stored is their own affair.
 *  3. They make no system call and execute nothing of the engine's, except to read a clock.
 *  4. There is something to wait for: a load from memory that can be written at all, since
 *     constants of a computation do not change, and not from the own stack, where compilers keep
 * the bounds of loops; or a pause; or no register changes, either.
 *
 * Values are compared as they are in memory before the instruction. Vector registers are not looked
 * at, so a loop that uses them is not found by "no register changes".
 */
#include "engine/sched/look.h"

#include "base/hash.h"
#include "engine/core/engine.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/rt/rt.h"
#include "engine/x86/accesses.h"
#include "engine/x86/operand.h"

enum { NOTES = 192, VISITS = 24, WIDEST = 64, STACK_BELOW = 512, STACK_ABOVE = 4096 };

struct note {
    gaddr addr;
    uint64_t value; /* what is there before the instruction, or a hash of it */
    uint16_t bytes;
    bool store;
    bool own; /* near the stack pointer */
    bool changed;
};

static struct {
    struct thread *thread;
    gaddr pc;
    int insns_left;
    struct note note[NOTES];
    int notes, settled; /* stores before `settled` have happened */
    struct {
        int notes;
        uint64_t count; /* in ticks */
        uint64_t gpr[GPR_COUNT];
        bool pauses;
    } visit[VISITS];
    int visits;
    bool pauses;     /* since the last visit */
    bool clocks;     /* some instruction reads a clock */
    bool vectors;    /* some instruction uses vector registers */
    uint16_t bases;  /* registers in addresses of loads, while they were as at the first visit */
    int first, last; /* notes of the stretch that was found ... */
    uint64_t ticks;  /* ... and its length */
} look;

void look_begin(struct thread *t, int insns)
{
    look_end();
    look.thread = t;
    look.pc = t->cpu.rip;
    look.insns_left = insns;
    look.notes = look.settled = look.visits = 0;
    look.pauses = look.clocks = look.vectors = false;
    look.bases = 0;
    t->step |= STEP_SPIN;
}

void look_end(void)
{
    if (look.thread)
        look.thread->step &= (uint8_t)~STEP_SPIN;
    look.thread = NULL;
}

bool look_follows(const struct thread *t)
{
    return look.thread == t;
}

/* ---- notes ---- */

static bool read_value(gaddr addr, unsigned bytes, uint64_t *value)
{
    uint64_t word[WIDEST / 8] = {0};
    if (bytes > WIDEST || !engine_read(word, addr, bytes))
        return false;
    *value = word[0];
    for (unsigned i = 1; i < (bytes + 7) / 8; i++)
        *value = hash_fold(*value, word[i]) + i;
    return true;
}

static bool add_note(const struct thread *t, gaddr addr, unsigned bytes, bool store)
{
    struct note *n = &look.note[look.notes];
    gaddr sp = t->cpu.gpr[RSP];
    if (look.notes == NOTES || !read_value(addr, bytes, &n->value))
        return false;
    n->addr = addr;
    n->bytes = (uint16_t)bytes;
    n->store = store;
    n->changed = false;
    n->own = addr - (sp - STACK_BELOW) < STACK_BELOW + STACK_ABOVE;
    look.notes++;
    return true;
}

/* The last instruction's stores have happened. False: they changed something. */
static bool settle(void)
{
    for (; look.settled < look.notes; look.settled++) {
        struct note *n = &look.note[look.settled];
        uint64_t value;
        if (!n->store)
            continue;
        n->changed = !read_value(n->addr, n->bytes, &value) || value != n->value;
        if (n->changed && !n->own)
            return false;
    }
    return true;
}

static void note_base(const struct thread *t, ZydisRegister reg)
{
    int n = insn_gpr_number(reg);
    if (n >= 0 && n != RSP && look.visits && t->cpu.gpr[n] == look.visit[0].gpr[n])
        look.bases |= (uint16_t)(1u << n);
}

static bool note_access(struct thread *t, const struct insn *in, const struct insn_operands *ops,
                        const struct mem_access *a)
{
    const ZydisDecodedOperand *op = &ops->op[a->op];
    if (a->shape != ACCESS_PLAIN || !a->bytes)
        return false;
    gaddr addr = operand_address(in, op, &t->cpu, engine_segments(t)) + (gaddr)(int64_t)a->moved;
    if (a->read) {
        note_base(t, op->mem.base);
        note_base(t, op->mem.index);
    }
    return (!a->read || add_note(t, addr, a->bytes, false)) &&
           (!a->write || add_note(t, addr, a->bytes, true));
}

/* ---- instructions ---- */

static bool may_be_waiting(const struct thread *t, const struct insn *in)
{
    switch (in->kind) {
    case INSN_SYSCALL:
        return kinds_of((int32_t)t->cpu.gpr[RAX]).does == DOES_PASSES_TIME;
    case INSN_EMULATE:
        return in->mnemonic == ZYDIS_MNEMONIC_PAUSE || in->mnemonic == ZYDIS_MNEMONIC_RDTSC ||
               in->mnemonic == ZYDIS_MNEMONIC_RDTSCP || in->mnemonic == ZYDIS_MNEMONIC_RDPID;
    case INSN_TRAP:
    case INSN_UNSUPPORTED:
    case INSN_ILLEGAL:
        return false;
    default:
        return true;
    }
}

static bool uses_vectors(const struct insn_operands *ops)
{
    for (int i = 0; i < ops->z.operand_count; i++)
        if (ops->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ops->op[i].reg.value >= ZYDIS_REGISTER_ST0 &&
            ops->op[i].reg.value <= ZYDIS_REGISTER_ZMM31)
            return true;
    return false;
}

static bool note_insn(struct thread *t)
{
    uint8_t bytes[INSN_MAX_BYTES];
    struct insn in;
    struct insn_operands ops;
    struct mem_access a[ACCESSES_MOST];
    size_t n = maps_source.fetch(t->cpu.rip, bytes, sizeof bytes);
    if (n < sizeof bytes)
        n += maps_source.fetch(t->cpu.rip + n, bytes + n, sizeof bytes - n);
    if (!n || insn_decode(&in, t->cpu.rip, bytes, n) || !may_be_waiting(t, &in))
        return false;
    insn_operands(&in, &ops);
    bool pauses = in.mnemonic == ZYDIS_MNEMONIC_PAUSE;
    look.pauses |= pauses;
    look.clocks |= !pauses && (in.kind == INSN_SYSCALL || in.kind == INSN_EMULATE);
    look.vectors |= uses_vectors(&ops);
    int count = accesses_of(&in, &ops, a);
    for (int i = 0; i < count; i++)
        if (!note_access(t, &in, &ops, &a[i]))
            return false;
    return true;
}

/* ---- the verdict ---- */

/* Does the loop itself store there? */
static bool is_private(const struct note *n)
{
    for (int i = look.first; i < look.last; i++) {
        const struct note *s = &look.note[i];
        if (s->store && s->changed && s->addr < n->addr + n->bytes && n->addr < s->addr + s->bytes)
            return true;
    }
    return false;
}

static bool same_stretch(int a, int b, int c)
{
    if (b - a != c - b)
        return false;
    look.first = b;
    look.last = c;
    for (int i = 0; i < c - b; i++) {
        const struct note *x = &look.note[a + i], *y = &look.note[b + i];
        if (x->addr != y->addr || x->bytes != y->bytes || x->store != y->store)
            return false;
        if (!x->store && x->value != y->value && !is_private(y))
            return false;
    }
    return true;
}

static bool same_registers(int from, int to)
{
    return !look.vectors &&
           !memcmp(look.visit[from].gpr, look.visit[to].gpr, sizeof look.visit[0].gpr);
}

static bool waits_for(const struct note *n)
{
    return !n->store && !n->own && !is_private(n) && maps_writable(n->addr);
}

static bool has_reason(int from, int to)
{
    if (same_registers(from, to))
        return true;
    for (int i = from + 1; i <= to; i++)
        if (look.visit[i].pauses)
            return true;
    for (int i = look.first; i < look.last; i++)
        if (waits_for(&look.note[i]))
            return true;
    return false;
}

/* Two equal stretches of `period` visits each, up to this visit. */
static bool repeats(void)
{
    int last = look.visits - 1;
    for (int period = 1; 2 * period <= last; period++) {
        int from = last - period;
        if (same_stretch(look.visit[from - period].notes, look.visit[from].notes,
                         look.visit[last].notes)) {
            look.ticks = look.visit[last].count - look.visit[from].count;
            return has_reason(from, last);
        }
    }
    return false;
}

static enum look_state visit(const struct thread *t)
{
    if (look.visits == VISITS)
        return LOOK_IN_VAIN;
    look.visit[look.visits].notes = look.notes;
    look.visit[look.visits].count = thread_count(t);
    look.visit[look.visits].pauses = look.pauses;
    memcpy(look.visit[look.visits].gpr, t->cpu.gpr, sizeof t->cpu.gpr);
    look.visits++;
    look.pauses = false;
    return repeats() ? LOOK_SPINS : LOOK_GOES_ON;
}

enum look_state look_step(struct thread *t, bool at_tick)
{
    enum look_state state = LOOK_GOES_ON;
    if (!settle())
        state = LOOK_IN_VAIN;
    else if (!look.visits || (at_tick && t->cpu.rip == look.pc))
        state = visit(t);
    if (state == LOOK_GOES_ON && (!look.insns_left-- || !note_insn(t)))
        state = LOOK_IN_VAIN;
    if (state != LOOK_GOES_ON)
        look_end();
    return state;
}

/* A frame of a function that the loop calls: it loads what it has stored just before. */
static bool is_of_frame(int load)
{
    const struct note *n = &look.note[load];
    for (int i = look.first; n->own && i < load; i++) {
        const struct note *s = &look.note[i];
        if (s->store && s->addr <= n->addr && n->addr + n->bytes <= s->addr + s->bytes)
            return true;
    }
    return false;
}

static bool has_load(const struct spin_loop *loop, const struct note *n)
{
    for (int i = 0; i < loop->loads; i++)
        if (loop->addr[i] == n->addr && loop->bytes[i] >= n->bytes)
            return true;
    return false;
}

/* Those on the own stack come last: they seldom are what it waits for. */
static void add_loads(struct spin_loop *loop, bool own)
{
    for (int i = look.first; i < look.last; i++) {
        const struct note *n = &look.note[i];
        if (n->store || n->own != own || is_private(n) || is_of_frame(i) || has_load(loop, n))
            continue;
        if (n->bytes > 8 || loop->loads == SPIN_LOADS) {
            loop->may_rest = false;
            continue;
        }
        loop->may_rest &= !maps_shared(n->addr);
        loop->addr[loop->loads] = n->addr;
        loop->bytes[loop->loads++] = (uint8_t)n->bytes;
    }
}

void look_found(struct spin_loop *loop)
{
    *loop = (struct spin_loop){
        .pc = look.pc, .regs = look.bases, .ticks = (uint16_t)look.ticks, .may_rest = !look.clocks};
    add_loads(loop, false);
    add_loads(loop, true);
}
