/* vmfnptr.c - a bytecode interpreter by function pointers: an indirect call and a return each step.
 *
 * The machine's state travels in registers, as argument and result, so that a step costs
 * the call and not the wait for a store to be loaded again.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>

#include "vmcode.h"

struct state {
    const uint8_t *pc; /* the instruction being executed; NULL: halted */
    int64_t *sp;
};

typedef struct state vm_op(struct state s, int64_t *locals);

static struct state next(struct state s, int grow)
{
    return (struct state){s.pc + 2, s.sp + grow};
}

static struct state jump(struct state s, int grow)
{
    return (struct state){vm_code[s.pc[1]], s.sp + grow};
}

static struct state do_lit(struct state s, int64_t *locals)
{
    (void)locals;
    s.sp[0] = s.pc[1];
    return next(s, 1);
}

static struct state do_load(struct state s, int64_t *locals)
{
    s.sp[0] = locals[s.pc[1]];
    return next(s, 1);
}

static struct state do_store(struct state s, int64_t *locals)
{
    locals[s.pc[1]] = s.sp[-1];
    return next(s, -1);
}

static struct state do_add(struct state s, int64_t *locals)
{
    (void)locals;
    s.sp[-2] += s.sp[-1];
    return next(s, -1);
}

static struct state do_mul(struct state s, int64_t *locals)
{
    (void)locals;
    s.sp[-2] *= s.sp[-1];
    return next(s, -1);
}

static struct state do_mod(struct state s, int64_t *locals)
{
    (void)locals;
    s.sp[-2] = (uint32_t)s.sp[-2] % (uint32_t)s.sp[-1];
    return next(s, -1);
}

static struct state do_less(struct state s, int64_t *locals)
{
    (void)locals;
    s.sp[-2] = s.sp[-2] < s.sp[-1];
    return next(s, -1);
}

static struct state do_jump(struct state s, int64_t *locals)
{
    (void)locals;
    return jump(s, 0);
}

static struct state do_jz(struct state s, int64_t *locals)
{
    (void)locals;
    return s.sp[-1] ? next(s, -1) : jump(s, -1);
}

static struct state do_halt(struct state s, int64_t *locals)
{
    (void)locals;
    return (struct state){NULL, s.sp};
}

static vm_op *const ops[OPS] = {
    [OP_LIT] = do_lit, [OP_LOAD] = do_load, [OP_STORE] = do_store, [OP_ADD] = do_add,
    [OP_MUL] = do_mul, [OP_MOD] = do_mod,   [OP_LESS] = do_less,   [OP_JUMP] = do_jump,
    [OP_JZ] = do_jz,   [OP_HALT] = do_halt,
};

int main(void)
{
    int64_t stack[16], locals[LOCALS] = {[LOCAL_LIMIT] = 350000};
    struct state s = {vm_code[0], stack};

    while (s.pc)
        s = ops[s.pc[0]](s, locals);
    printf("%lld\n", (long long)locals[LOCAL_PRIMES]);
    return 0;
}
