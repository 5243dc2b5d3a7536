/* bytecode_test.c - source/bytecode.h: the bytecode of a term calculates what the term stands for.
 *
 * SPDX-License-Identifier: MIT
 *
 * Terms are made at random, of registers, memory and numbers, twice: as formulas, and with the
 * values filled in, which makes them numbers at once. The bytecode of the one must give the other.
 */
#include "source/bytecode.h"

#include <stdlib.h>
#include <string.h>

#include "debug/target/agent.h"
#include "tests/unit/unit.h"

enum { MEMORY = 0x5000, MEMORY_BYTES = 64, ROUNDS = 20000, DEPTH = 6 };

static uint8_t memory[MEMORY_BYTES];
static struct cpu_state cpu;
static uint64_t seed = 88172645463325252ull;

static uint64_t any(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return below ? seed % below : seed;
}

static bool read_memory(void *arg, gaddr addr, void *out, size_t bytes)
{
    (void)arg;
    if (addr < MEMORY || addr + bytes > MEMORY + MEMORY_BYTES)
        return false;
    memcpy(out, memory + (addr - MEMORY), bytes);
    return true;
}

static const struct agent_state machine = {.cpu = &cpu, .read = read_memory};

/* A term and its value; known: no part of it was a division by zero. */
struct both {
    struct term formula, number;
};

static const uint8_t gpr[] = {RAX, RBX, RCX, RDX, RSI, RDI};

static struct both leaf(struct terms *t)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       63,
                                       64,
                                       127,
                                       128,
                                       255,
                                       256,
                                       0x7fffffff,
                                       0x80000000,
                                       UINT64_MAX,
                                       1ull << 63,
                                       0xffffffff80000000ull,
                                       0xffffffffffffff7full};
    uint64_t v = 0;
    unsigned i = (unsigned)any(sizeof gpr), bytes = 1 + (unsigned)any(8);
    switch (any(3)) {
    case 0:
        return (struct both){term_register(t, i), term_number(cpu.gpr[gpr[i]])};
    case 1:
        i = (unsigned)any(MEMORY_BYTES - 8);
        memcpy(&v, memory + i, bytes);
        return (struct both){term_ref(t, term_number(MEMORY + i), bytes), term_number(v)};
    default:
        v = any(2) ? numbers[any(sizeof numbers / sizeof *numbers)] : any(0) >> any(64);
        return (struct both){term_number(v), term_number(v)};
    }
}

static struct both make(struct terms *t, int depth)
{
    if (!depth || !any(5))
        return leaf(t);
    struct both a = make(t, depth - 1), b = make(t, depth - 1), c;
    enum term_op op = TERM_AND + (enum term_op)any(TERM_FLOATS - TERM_AND);
    unsigned bits = 1 + (unsigned)any(64);
    bool is_signed = any(2);
    if (op == TERM_SIGN_EXTEND || op == TERM_ZERO_EXTEND)
        return (struct both){term_extend(t, a.formula, bits, is_signed),
                             term_extend(NULL, a.number, bits, is_signed)};
    if (any(8))
        return (struct both){term_op(t, op, a.formula, b.formula),
                             term_op(NULL, op, a.number, b.number)};
    c = make(t, depth - 1);
    return (struct both){term_choice(t, a.formula, b.formula, c.formula),
                         term_choice(NULL, a.number, b.number, c.number)};
}

static void calculates_what_the_term_says(void **state)
{
    unsigned compared = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct terms t = {0};
        struct bytecode b = {.bytes = 0};
        uint64_t value;
        for (size_t i = 0; i < sizeof gpr; i++)
            cpu.gpr[gpr[i]] = any(0) >> any(64);
        for (size_t i = 0; i < sizeof memory; i++)
            memory[i] = (uint8_t)any(256);
        struct both x = make(&t, DEPTH);
        /* What divides by zero is unknown as a number; the formula may or may not come to it. */
        if (x.formula.kind != TERM_UNKNOWN && term_is_number(x.number) &&
            bytecode_term(&b, &t, x.formula, false)) {
            bytecode_end(&b);
            if (!b.full) {
                assert_null(agent_check(b.code, b.bytes));
                enum agent_result result = agent_eval(b.code, b.bytes, &machine, &value);
                assert_int_equal(result, AGENT_DONE);
                assert_true(value == x.number.v);
                compared++;
            }
        }
        terms_deinit(&t);
    }
    assert_true(compared > ROUNDS / 4);
}

/* Numbers of all sizes. */
static void constants_keep_their_value(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++)
        for (int64_t around = -2; around <= 2; around++)
            for (int sign = -1; sign <= 1; sign += 2) {
                uint64_t v = (uint64_t)sign * ((1ull << bit) + (uint64_t)around), value;
                struct bytecode b = {.bytes = 0};
                bytecode_const(&b, v);
                bytecode_end(&b);
                assert_int_equal(agent_eval(b.code, b.bytes, &machine, &value), AGENT_DONE);
                assert_true(value == v);
            }
}

/* a && b, where b cannot be computed if a is 0. */
static void what_is_not_reached_is_not_computed(void **state)
{
    struct terms t = {0};
    struct term rax = term_register(&t, AGENT_RAX), there = term_ref(&t, rax, 8);
    struct term both = term_op(&t, TERM_AND, rax, there), none = term_op(&t, TERM_NOT, rax, rax);
    struct term either = term_op(&t, TERM_OR, none, there);
    uint64_t value;
    (void)state;
    for (int at = 0; at < 2; at++) {
        cpu.gpr[RAX] = at ? MEMORY : 0;
        memset(memory, 1, sizeof memory);
        for (int or = 0; or < 2; or ++) {
            struct bytecode b = {.bytes = 0};
            assert_true(bytecode_term(&b, &t, or ? either : both, false));
            bytecode_end(&b);
            assert_int_equal(agent_eval(b.code, b.bytes, &machine, &value), AGENT_DONE);
            assert_int_equal(value, at || or);
        }
    }
    struct bytecode alone = {.bytes = 0};
    cpu.gpr[RAX] = 0;
    bytecode_term(&alone, &t, there, false);
    bytecode_end(&alone);
    assert_int_equal(agent_eval(alone.code, alone.bytes, &machine, &value), AGENT_UNREADABLE);
    terms_deinit(&t);
}

static void failure_is_said(void **state)
{
    struct terms t = {0};
    struct bytecode b = {.bytes = 0};
    uint64_t value;
    (void)state;
    assert_true(bytecode_term(&b, &t, term_fail(&t), false));
    bytecode_end(&b);
    assert_int_equal(agent_eval(b.code, b.bytes, &machine, &value), AGENT_STACK_EMPTY);
    terms_deinit(&t);
}

static void long_code_is_not_written(void **state)
{
    struct terms t = {0};
    struct bytecode b = {.bytes = 0};
    struct term sum = term_register(&t, AGENT_RAX);
    (void)state;
    for (int i = 0; i < 14; i++)
        sum = term_op(&t, TERM_MUL, sum, sum);
    bytecode_term(&b, &t, sum, false);
    assert_true(b.full && b.bytes <= sizeof b.code);
    assert_false(bytecode_term(&b, &t, term_op(&t, TERM_F_ADD, sum, sum), false));
    terms_deinit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculates_what_the_term_says),
        cmocka_unit_test(constants_keep_their_value),
        cmocka_unit_test(what_is_not_reached_is_not_computed),
        cmocka_unit_test(failure_is_said),
        cmocka_unit_test(long_code_is_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
