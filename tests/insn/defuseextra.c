/* defuseextra.c - instructions that need a setup of their own. SPDX-License-Identifier: MIT */
#include "defuseextra.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

/* What has to be true before. */
enum need {
    NEED_FLAGS = 1 << 0,    /* the word at rsp is no trap flag */
    NEED_FX = 1 << 1,       /* an FXSAVE image at rbx */
    NEED_XSAVE = 1 << 2,    /* an XSAVE image there */
    NEED_ENV = 1 << 3,      /* an x87 environment there, exceptions masked */
    NEED_MXCSR = 1 << 4,    /* a valid MXCSR there */
    NEED_NEXT = 1 << 5,     /* rax, and the word at rsp, are the next instruction */
    NEED_RCX_ZERO = 1 << 6, /* rcx */
    NEED_BASE = 1 << 7,     /* rax is a data address */
    NEED_SMALL = 1 << 8,    /* rcx is small, now and then */
    BRANCHES = 1 << 9,
    HAS_XSAVE = 1 << 10,
    HAS_FSGSBASE = 1 << 11,
};

struct extra {
    uint8_t len, bytes[9];
    uint16_t needs;
    struct {
        uint16_t from, to;
    } skip[SUBJECT_SKIPS];
};

#define FX_POINTERS                                                                                \
    {                                                                                              \
        {6, 24},                                                                                   \
        {                                                                                          \
            416, 512                                                                               \
        }                                                                                          \
    }
#define ENV_POINTERS                                                                               \
    {                                                                                              \
        {12, 28}, {2, 4}, {6, 8},                                                                  \
        {                                                                                          \
            10, 12                                                                                 \
        }                                                                                          \
    }
/* clang-format off */
static const struct extra extras[] = {
    {1, {0x9d}, NEED_FLAGS, {{0, 0}}},                              /* popfq */
    {2, {0x66, 0x9d}, NEED_FLAGS, {{0, 0}}},
    {1, {0x9c}, 0, {{0, 0}}},                                       /* pushfq */
    {1, {0xc9}, 0, {{0, 0}}},                                       /* leave */
    {4, {0xc8, 0x10, 0, 0}, 0, {{0, 0}}},                           /* enter 16, 0 */
    {1, {0x54}, 0, {{0, 0}}},                                       /* push rsp */
    {1, {0x5c}, 0, {{0, 0}}},                                       /* pop rsp */
    {1, {0x55}, 0, {{0, 0}}},                                       /* push rbp */
    {1, {0x5d}, 0, {{0, 0}}},
    {4, {0x48, 0x83, 0xec, 0x18}, 0, {{0, 0}}},                     /* sub rsp, 24 */
    {4, {0x48, 0x83, 0xe4, 0xf0}, 0, {{0, 0}}},                     /* and rsp, -16 */
    {3, {0x48, 0x89, 0xe5}, 0, {{0, 0}}},                           /* mov rbp, rsp */
    {5, {0x48, 0x8d, 0x64, 0x24, 0x10}, 0, {{0, 0}}},               /* lea rsp, [rsp + 16] */
    {3, {0x8f, 0x44, 0x24}, 0, {{0, 0}}},                           /* pop [rsp + 0x..] */
    {3, {0xff, 0x74, 0x24}, 0, {{0, 0}}},                           /* push [rsp + 0x..] */
    {4, {0x48, 0x0f, 0xae, 0x03}, 0, FX_POINTERS},                  /* fxsave64 [rbx] */
    {3, {0x0f, 0xae, 0x03}, 0, FX_POINTERS},
    {4, {0x48, 0x0f, 0xae, 0x0b}, NEED_FX, {{0, 0}}},               /* fxrstor64 */
    {2, {0xdd, 0x33}, 0, ENV_POINTERS},                             /* fnsave */
    {2, {0xd9, 0x33}, 0, ENV_POINTERS},                             /* fnstenv */
    {2, {0xdd, 0x23}, NEED_ENV, {{0, 0}}},                          /* frstor */
    {2, {0xd9, 0x23}, NEED_ENV, {{0, 0}}},                          /* fldenv */
    {2, {0xd9, 0x2b}, NEED_ENV, {{0, 0}}},                          /* fldcw */
    {2, {0xd9, 0x3b}, 0, {{0, 0}}},                                 /* fnstcw */
    {2, {0xdf, 0xe0}, 0, {{0, 0}}},                                 /* fnstsw ax */
    {2, {0xdb, 0xe2}, 0, {{0, 0}}},                                 /* fnclex */
    {2, {0xdb, 0xe3}, 0, {{0, 0}}},                                 /* fninit */
    {3, {0x0f, 0xae, 0x13}, NEED_MXCSR, {{0, 0}}},                  /* ldmxcsr */
    {3, {0x0f, 0xae, 0x1b}, 0, {{0, 0}}},                           /* stmxcsr */
    {4, {0x48, 0x0f, 0xae, 0x23}, HAS_XSAVE, FX_POINTERS},          /* xsave64 */
    {4, {0x48, 0x0f, 0xae, 0x2b}, HAS_XSAVE | NEED_XSAVE, {{0, 0}}}, /* xrstor64 */
    {3, {0x0f, 0x01, 0xd0}, HAS_XSAVE | NEED_RCX_ZERO, {{0, 0}}},   /* xgetbv */
    {5, {0xf3, 0x48, 0x0f, 0xae, 0xd0}, HAS_FSGSBASE | NEED_BASE, {{0, 0}}}, /* wrfsbase rax */
    {5, {0xf3, 0x48, 0x0f, 0xae, 0xc0}, HAS_FSGSBASE, {{0, 0}}},    /* rdfsbase rax */
    {5, {0xe8, 0, 0, 0, 0}, 0, {{0, 0}}},                           /* call */
    {2, {0xff, 0xd0}, NEED_NEXT, {{0, 0}}},                         /* call rax */
    {2, {0xff, 0xe0}, NEED_NEXT, {{0, 0}}},                         /* jmp rax */
    {1, {0xc3}, NEED_NEXT, {{0, 0}}},                               /* ret */
    {3, {0xc2, 8, 0}, NEED_NEXT, {{0, 0}}},
    {2, {0x70, 0}, BRANCHES, {{0, 0}}},                             /* jcc */
    {2, {0x70, 0}, BRANCHES, {{0, 0}}},
    {2, {0x70, 0}, BRANCHES, {{0, 0}}},
    {2, {0x70, 0}, BRANCHES, {{0, 0}}},
    {2, {0xe0, 0}, BRANCHES | NEED_SMALL, {{0, 0}}},                /* loopne */
    {2, {0xe1, 0}, BRANCHES | NEED_SMALL, {{0, 0}}},
    {2, {0xe2, 0}, BRANCHES | NEED_SMALL, {{0, 0}}},
    {2, {0xe3, 0}, BRANCHES | NEED_SMALL, {{0, 0}}},
    {3, {0x67, 0xe2, 0}, BRANCHES | NEED_SMALL, {{0, 0}}},
    {3, {0x67, 0xe3, 0}, BRANCHES | NEED_SMALL, {{0, 0}}},
};
/* clang-format on */

enum { EXTRAS = sizeof extras / sizeof *extras, EXIT_LEN = 7, MARK_LEN = 8 };

static size_t put_exit(uint8_t *to)
{
    uint32_t at = CTL_EXIT;
    memcpy(to, (const uint8_t[]){0xff, 0x24, 0x25}, 3);
    memcpy(to + 3, &at, 4);
    return EXIT_LEN;
}

/* mov byte [marker], value */
static size_t put_mark(uint8_t *to, uint64_t marker, uint8_t value)
{
    uint32_t at = (uint32_t)marker;
    memcpy(to, (const uint8_t[]){0xc6, 0x04, 0x25}, 3);
    memcpy(to + 3, &at, 4);
    to[7] = value;
    return MARK_LEN;
}

/* A branch leads over one mark to another. */
static size_t put_code(struct rng *r, const struct extra *e, struct subject *s, uint8_t *code)
{
    size_t n = e->len;
    memcpy(code, e->bytes, n);
    if (code[0] == 0x70)
        code[0] |= (uint8_t)rng_below(r, 16);
    if (code[0] == 0x8f || (code[0] == 0xff && n == 3))
        code[n++] = (uint8_t)(8 * rng_below(r, 8));
    if (e->needs & BRANCHES)
        code[n - 1] = MARK_LEN + EXIT_LEN;
    size_t len = n;
    s->marker = e->needs & BRANCHES ? A_BASE + DATA_RW + 8 : 0;
    if (s->marker)
        n += put_mark(code + n, s->marker, 1);
    n += put_exit(code + n);
    if (s->marker) {
        n += put_mark(code + n, s->marker, 2);
        n += put_exit(code + n);
    }
    sandbox_write_code(AREA_RWX, s->pc, code, n);
    return len;
}

static uint64_t user_states(void)
{
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

static void put_image(struct rng *r, const struct sequence *seq, uint8_t *at, unsigned needs)
{
    struct machine other;
    uint64_t header[8] = {0};
    gen_state(r, seq, &other);
    if (needs & (NEED_FX | NEED_XSAVE))
        memcpy(at, other.fx, 512);
    if (needs & NEED_XSAVE) {
        header[0] = rng_u64(r) & user_states();
        memcpy(at + 512, header, sizeof header);
    }
    if (needs & NEED_ENV) {
        at[0] |= 0x7f;
        at[4] = 0;
    }
    if (needs & NEED_MXCSR)
        memcpy(at, other.fx + 24, 4);
}

static void fill(struct rng *r, const struct extra *e, struct subject *s, uint64_t next)
{
    struct sequence seq = {.slot = s->slot, .fsbase = B_BASE + DATA_RW + 64};
    uint64_t data = A_BASE + DATA_RW + 0x400 + 64 * rng_below(r, 8);
    uint64_t stack = STK_BASE + STK_RW + 0x1800 + 16 * rng_below(r, 32);
    seq.pinned = 1u << RBX | 1u << RSP | 1u << RBP;
    seq.pin_value[RBX] = data;
    seq.pin_value[RSP] = stack;
    seq.pin_value[RBP] = stack + 0x40;
    if (e->needs & (NEED_NEXT | NEED_BASE)) {
        seq.pinned |= 1u << RAX;
        seq.pin_value[RAX] = e->needs & NEED_NEXT ? next : data;
    }
    if (e->needs & NEED_RCX_ZERO || (e->needs & NEED_SMALL && rng_percent(r, 70))) {
        seq.pinned |= 1u << RCX;
        seq.pin_value[RCX] = e->needs & NEED_RCX_ZERO ? 0 : rng_below(r, 3);
    }
    gen_state(r, &seq, &s->like);
    defusestate_from(&s->like, &s->before);
    gen_memory(r, &seq);
    put_image(r, &seq, (uint8_t *)data, e->needs);
    if (e->needs & NEED_NEXT)
        memcpy((void *)stack, &next, 8);
    if (e->needs & NEED_FLAGS)
        *(uint64_t *)stack &= 0x200cd5;
    defusestate_save(s->slot, &s->memory);
}

bool defuseextra_make(struct rng *r, const struct cpu *cpu, unsigned slot, struct subject *s)
{
    const struct extra *e = &extras[rng_below(r, EXTRAS)];
    uint8_t code[64] = {0};
    if ((e->needs & HAS_XSAVE && !cpu->avx) || (e->needs & HAS_FSGSBASE && !cpu->fsgsbase))
        return false;
    s->slot = sandbox_slot(AREA_RWX, slot);
    s->pc = s->slot + SLOT_CODE + rng_below(r, PAGE);
    memcpy(s->skip, e->skip, sizeof s->skip);
    put_code(r, e, s, code);
    if (insn_decode(&s->in, s->pc, code, INSN_MAX_BYTES) < 0 || s->in.kind == INSN_ILLEGAL)
        abort();
    insn_operands(&s->in, &s->ops);
    fill(r, e, s, s->pc + s->in.len);
    return true;
}
