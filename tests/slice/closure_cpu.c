/* closure_cpu.c - one instruction on given registers, in the target's memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * An instruction is put where it was, with a jump to the way out behind it (tests/insn/sandbox.h
 * enters and leaves). Transfers are not let loose: conditional ones are executed elsewhere with
 * another displacement, and of the others only what they do to registers and memory is done.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "replayer/replay.h"
#include "tests/slice/closure.h"

enum { MARK = CTL_BASE + 0x18, PAGES = 1 << 18 };

static struct cpu cpu;
static uint32_t xsave_at[8]; /* of components, in the standard format */
static struct machine plain; /* what flat states do not have */
static struct closure_page **table, **order;
static size_t pages;

/* ---- pages ---- */

static struct closure_page **find(gaddr addr)
{
    size_t i = ((addr >> 12) * 0x9e3779b97f4a7c15ull >> 40) & (PAGES - 1);
    while (table[i] && table[i]->addr != addr)
        i = (i + 1) & (PAGES - 1);
    return &table[i];
}

struct closure_page *closure_page(gaddr addr)
{
    return *find(PAGE_DOWN(addr));
}

struct closure_page *closure_page_number(size_t i)
{
    return i < pages ? order[i] : NULL;
}

struct closure_page *closure_make_page(gaddr addr)
{
    struct closure_page *p = calloc(1, sizeof *p);
    if (!p || pages == PAGES / 2)
        abort();
    p->addr = PAGE_DOWN(addr);
    void *got = mmap((void *)p->addr, CLOSURE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got != (void *)p->addr) {
        fprintf(stderr, "slice_closure: page 0x%llx: %s\n", (unsigned long long)p->addr,
                strerror(errno));
        exit(CLOSURE_AGAIN);
    }
    *find(p->addr) = p;
    order[pages++] = p;
    return p;
}

int closure_init(void)
{
    unsigned eax, ecx, edx;
    table = calloc(PAGES, sizeof *table);
    order = calloc(PAGES, sizeof *order);
    cpu.avx = __builtin_cpu_supports("avx");
    cpu.avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (cpu.avx)
        for (unsigned i = 2; i < 8; i++)
            __cpuid_count(0xd, i, eax, xsave_at[i], ecx, edx);
    defusestate_init(&cpu);
    return table && order ? sandbox_init(&cpu) : -1;
}

/* ---- states ---- */

uint64_t closure_gpr(const struct flat *s, unsigned reg)
{
    uint64_t value;
    memcpy(&value, s->v + loc_gpr(reg), sizeof value);
    return value;
}

void closure_set_gpr(struct flat *s, unsigned reg, uint64_t value)
{
    memcpy(s->v + loc_gpr(reg), &value, sizeof value);
}

void closure_copy_loc(struct flat *to, const struct flat *from, unsigned loc)
{
    to->v[loc] = from->v[loc];
    if (loc == LOC_FS_BASE)
        to->fsbase = from->fsbase;
}

void closure_from_replay(const struct program_registers *r, struct flat *out)
{
    static const uint8_t x87[32] = {0x7f, 0x03, [24] = 0x80, [25] = 0x1f};
    struct machine m;
    uint64_t present;
    memset(&m, 0, sizeof m);
    memcpy(m.gpr, r->gpr, sizeof m.gpr);
    m.flags = r->rflags;
    m.fsbase = r->fs_base;
    memcpy(m.fx, r->xsave, sizeof m.fx);
    memcpy(&present, r->xsave + 512, 8);
    if (!(present & 1)) { /* as at the beginning; MXCSR is always there */
        memcpy(m.fx, x87, 24);
        memset(m.fx + 32, 0, 128);
    }
    if (!(present & 2))
        memset(m.fx + 160, 0, 256);
    for (unsigned i = 0; i < 16; i++) {
        memcpy(m.zmm[i], m.fx + 160 + 16 * i, 16);
        if (cpu.avx && present & 1 << 2)
            memcpy(m.zmm[i] + 16, r->xsave + xsave_at[2] + 16 * i, 16);
        if (cpu.avx512 && present & 1 << 6)
            memcpy(m.zmm[i] + 32, r->xsave + xsave_at[6] + 32 * i, 32);
        if (cpu.avx512 && present & 1 << 7)
            memcpy(m.zmm[16 + i], r->xsave + xsave_at[7] + 64 * i, 64);
    }
    if (cpu.avx512 && present & 1 << 5)
        memcpy(m.k, r->xsave + xsave_at[5], sizeof m.k);
    defusestate_from(&m, out);
}

/* ---- execution ---- */

bool closure_is_external(const struct insn *in)
{
    if (in->gs_relative || state_is(in))
        return true;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_RDGSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
    case ZYDIS_MNEMONIC_RDPID:
    case ZYDIS_MNEMONIC_XGETBV:
    case ZYDIS_MNEMONIC_FNSTENV: /* addresses of instructions are in them */
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_FRSTOR:
        return true;
    default:
        return in->kind >= INSN_SYSCALL;
    }
}

bool closure_is_tangled(const struct forward_at *n)
{
    gaddr addr, from = n->in->pc, to = n->in->pc + n->in->len + CLOSURE_TAIL;
    uint64_t bytes;
    if (n->in->kind != INSN_PLAIN)
        return false;
    for (unsigned k = 0; k < n->b->insn[n->i].accesses; k++)
        if (forward_extent(n, k, &addr, &bytes) && addr < to && addr + bytes > from)
            return true;
    return false;
}

/* jmp [CTL_EXIT] */
static uint8_t *put_exit(uint8_t *to)
{
    uint32_t at = CTL_EXIT;
    memcpy(to, (const uint8_t[]){0xff, 0x24, 0x25}, 3);
    memcpy(to + 3, &at, 4);
    return to + CLOSURE_TAIL;
}

static int enter(struct flat *s, gaddr pc, struct fault *fault)
{
    static struct outcome outcome;
    struct machine m;
    defusestate_to(s, &plain, &m);
    sandbox_run(&m, pc, NULL, &outcome);
    *fault = outcome.fault;
    if (fault->signo)
        return -1;
    defusestate_from(&outcome.end, s);
    return 0;
}

static int plain_insn(const struct insn *in, struct flat *s, struct fault *fault)
{
    uint8_t kept[INSN_MAX_BYTES + CLOSURE_TAIL], *at = (uint8_t *)in->pc;
    size_t n = in->len + (size_t)CLOSURE_TAIL;
    memcpy(kept, at, n);
    memcpy(at, in->bytes, in->len);
    put_exit(at + in->len);
    int bad = enter(s, in->pc, fault);
    memcpy(at, kept, n);
    return bad;
}

/* The branch leads over a way out to one that leaves a mark. */
static int branch(const struct insn *in, struct flat *s, gaddr *next, struct fault *fault)
{
    uint8_t code[64], *at = code + in->len;
    uint32_t mark = MARK;
    gaddr entry = sandbox_slot(AREA_RWX, 0) + SLOT_CODE;
    memcpy(code, in->bytes, in->len);
    memset(code + in->value_at, 0, in->value_len);
    code[in->value_at] = CLOSURE_TAIL;
    at = put_exit(at);
    memcpy(at, (const uint8_t[]){0xc6, 0x04, 0x25}, 3); /* mov byte [MARK], 1 */
    memcpy(at + 3, &mark, 4);
    at[7] = 1;
    at = put_exit(at + 8);
    sandbox_write_code(AREA_RWX, entry, code, (size_t)(at - code));
    *(volatile uint8_t *)MARK = 0;
    if (enter(s, entry, fault))
        return -1;
    *next = *(volatile uint8_t *)MARK ? in->target : in->pc + in->len;
    return 0;
}

static gaddr target_of(const struct insn *in, const struct flat *s, gaddr through)
{
    struct insn_operands ops;
    gaddr to;
    if (through) {
        memcpy(&to, (const void *)through, sizeof to);
        return to;
    }
    insn_operands(in, &ops);
    int reg = insn_gpr_number(ops.op[0].reg.value);
    return reg < 0 ? 0 : closure_gpr(s, (unsigned)reg);
}

static void push_return(const struct insn *in, struct flat *s)
{
    uint64_t sp = closure_gpr(s, RSP) - 8, to = in->pc + in->len;
    memcpy((void *)sp, &to, sizeof to);
    closure_set_gpr(s, RSP, sp);
}

int closure_execute(const struct insn *in, struct flat *s, gaddr through, gaddr *next,
                    struct fault *fault)
{
    *next = in->pc + in->len;
    switch (in->kind) {
    case INSN_JMP:
        *next = in->target;
        return 0;
    case INSN_JCC:
    case INSN_JCXZ:
        return branch(in, s, next, fault);
    case INSN_CALL:
        push_return(in, s);
        *next = in->target;
        return 0;
    case INSN_JMP_IND:
        *next = target_of(in, s, through);
        return 0;
    case INSN_CALL_IND:
        *next = target_of(in, s, through);
        push_return(in, s);
        return 0;
    case INSN_RET:
        *next = target_of(in, s, through);
        closure_set_gpr(s, RSP, closure_gpr(s, RSP) + 8 + in->imm16);
        return 0;
    default:
        return plain_insn(in, s, fault);
    }
}
