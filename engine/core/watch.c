/* watch.c - memory that is watched: the comparison in the code cache.
 *
 * SPDX-License-Identifier: MIT
 *
 * An access of n bytes at address a touches the range [w, w + m) if a lies in the window
 * [w - n + 1, w + m), which is at most n + m - 1 bytes wide. Let 2^k be at least that. With d
 * chosen so that w - n + 1 + d is a multiple of 2^k, the window lies in one block of 2^k addresses,
 * and
 *
 *     lea rcx, [a + d]; rorx rcx, rcx, k; lea ecx, [rcx - K]; jrcxz hit
 *
 * finds it, without flags and with one register. Bits beyond the 32 that are compared, and
 * addresses between the window's end and the block's, give false alarms: the tool that takes the
 * probe looks at the addresses.
 *
 * Accesses that do not fit this form (string instructions, bit strings, gathers, gs-relative
 * operands) come to the tool each time. The translator decides about rip-relative operands.
 */
#include "engine/core/watch.h"

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/job.h"
#include "engine/core/layout.h"
#include "engine/rt/rt.h"
#include "engine/x86/accesses.h"

enum { MOST_BYTES = 64 };

static struct watch_range range[WATCH_RANGES];
static int ranges;

/* One comparison. */
struct check {
    ZydisDecodedOperandMem mem;
    bool fs;
    int32_t disp; /* of mem, with d */
    uint8_t shift;
    uint32_t block;
};

struct plan {
    struct check check[WATCH_CHECKS];
    int checks;
    unsigned wants;
};

void watch_set(const struct watch_range *list, int count)
{
    rt_check(count <= WATCH_RANGES);
    memcpy(range, list, sizeof *list * (size_t)count);
    ranges = count;
}

static bool wanted(const struct watch_range *w, const struct mem_access *m)
{
    return (w->write && m->write) || (w->read && m->read);
}

/* Its address is not base, index and displacement, or its size is not the operand's. */
static bool odd(const struct insn *in, const ZydisDecodedOperand *op, const struct mem_access *m)
{
    bool whole = m->shape == ACCESS_PLAIN || m->shape == ACCESS_MASKED;
    return !whole || in->gs_relative || in->kind == INSN_EMULATE || !m->bytes ||
           m->bytes > MOST_BYTES || op->mem.segment == ZYDIS_REGISTER_GS;
}

/* False: it has to be looked at each time. */
static bool plan_check(struct plan *p, const ZydisDecodedOperand *op, const struct mem_access *m,
                       const struct watch_range *w)
{
    uint32_t n = m->bytes, width = n + w->bytes - 1;
    uint8_t k = 0;
    while (1u << k < width)
        k++;
    gaddr low = w->addr - n + 1;
    uint32_t d = (uint32_t)-low & ((1u << k) - 1);
    int64_t disp = op->mem.disp.value + m->moved + (int64_t)d;
    bool fs = op->mem.segment == ZYDIS_REGISTER_FS;
    if (disp != (int32_t)disp || p->checks == WATCH_CHECKS || !engine.rorx ||
        (fs && (!engine.wrfsbase || op->mem.index != ZYDIS_REGISTER_NONE)))
        return false;
    p->check[p->checks++] = (struct check){.mem = op->mem,
                                           .fs = fs,
                                           .disp = (int32_t)disp,
                                           .shift = k,
                                           .block = (uint32_t)((low + d) >> k)};
    return true;
}

static bool overlaps(const struct watch_range *w, gaddr addr, uint64_t bytes)
{
    return addr < w->addr + w->bytes && w->addr < addr + bytes;
}

static void plan_access(struct plan *p, const struct insn *in, const ZydisDecodedOperand *op,
                        const struct mem_access *m)
{
    for (int i = 0; i < ranges && p->wants != PROBE_MEMORY; i++) {
        const struct watch_range *w = &range[i];
        if (!wanted(w, m))
            continue;
        if (odd(in, op, m)) {
            p->wants = PROBE_MEMORY;
        } else if (op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP) {
            if (overlaps(w, in->target, m->bytes))
                p->wants = PROBE_MEMORY;
        } else if (plan_check(p, op, m, w)) {
            p->wants = PROBE_WATCH;
        } else {
            p->wants = PROBE_MEMORY;
        }
    }
}

static void make_plan(struct plan *p, const struct insn *in)
{
    struct insn_operands ops;
    p->checks = 0;
    p->wants = 0;
    if (!ranges || in->kind == INSN_ILLEGAL || in->kind == INSN_SYSCALL)
        return;
    insn_operands(in, &ops);
    struct mem_access list[ACCESSES_MOST];
    int count = accesses_of(in, &ops, list);
    for (int i = 0; i < count; i++)
        plan_access(p, in, &ops.op[list[i].op], &list[i]);
}

unsigned watch_wants(const struct insn *in)
{
    struct plan p;
    make_plan(&p, in);
    return p.wants;
}

/* rcx = the operand's address + d */
static void emit_address(struct job *j, const struct insn *in, const struct check *c)
{
    struct emit *e = &j->e;
    ZydisDecodedOperandMem mem = c->mem;
    mem.disp.value = c->disp;
    copy_lea(e, RCX, &mem, in->addr32);
    if (!c->fs)
        return;
    /* The segment's base: rcx = [rcx + fs]. rax is the other one. */
    emit_gs_store(e, RAX, T_SPILL_RAX);
    emit_bytes(e, (const uint8_t[]){0xf3, 0x48, 0x0f, 0xae, 0xc0}, 5); /* rdfsbase rax */
    emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x0c, 0x01}, 4);       /* lea rcx, [rcx + rax] */
    emit_gs_load(e, RAX, T_SPILL_RAX);
}

static uint8_t *emit_check(struct job *j, const struct insn *in, const struct check *c)
{
    struct emit *e = &j->e;
    emit_address(j, in, c);
    emit_bytes(e, (const uint8_t[]){0xc4, 0xe3, 0xfb, 0xf0, 0xc9, c->shift}, 6); /* rorx */
    emit_bytes(e, (const uint8_t[]){0x8d, 0x89}, 2); /* lea ecx, [rcx + disp32] */
    emit32(e, 0u - c->block);
    emit_bytes(e, (const uint8_t[]){0xe3, 2, 0xeb, 5}, 4); /* jrcxz over the jump over: */
    return emit_jmp(e);
}

void watch_emit(struct job *j, const struct insn *in, unsigned probe)
{
    struct plan p;
    uint8_t *hit[WATCH_CHECKS];
    struct emit *e = &j->e;
    make_plan(&p, in);
    for (int i = 0; i < p.checks; i++) {
        if (i)
            emit_gs_load(e, RCX, T_SPILL_RCX);
        else
            emit_gs_store(e, RCX, T_SPILL_RCX);
        hit[i] = emit_check(j, in, &p.check[i]);
    }
    emit_gs_load(e, RCX, T_SPILL_RCX);
    struct exit_site *s = exits_add(j, EXIT_PROBE, in->pc, in->pc);
    s->probe = probe;
    s->len = in->len;
    s->patch = e->p;
    for (int i = 0; i < p.checks; i++)
        emit_patch(hit[i], j->cold.p);
    emit_gs_load(&j->cold, RCX, T_SPILL_RCX);
    exits_leave(j, &j->cold, s, T_H_EXIT);
}

/* ---- for superblocks ---- */

static struct plan traced;

int watch_checks(const struct insn *in)
{
    make_plan(&traced, in);
    return traced.checks;
}

bool watch_reads_rcx(int i)
{
    const ZydisDecodedOperandMem *mem = &traced.check[i].mem;
    return insn_gpr_number(mem->base) == RCX || insn_gpr_number(mem->index) == RCX;
}

uint8_t *watch_emit_check(struct job *j, const struct insn *in, int i)
{
    return emit_check(j, in, &traced.check[i]);
}
