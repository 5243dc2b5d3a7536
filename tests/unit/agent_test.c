/* agent_test.c - debug/target/agent.h: conditions as GDB compiles them, and damaged ones.
 *
 * SPDX-License-Identifier: MIT
 *
 * The conditions named in comments were caught on their way from GDB 13.1 (`break work if ...`), at
 * the entry of `int work(int n, struct node *p)` in a program built with -O0 -no-pie. n and p are
 * at -20 and -32 from the frame's CFA, which is rsp + 8 there.
 */
#include "debug/target/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* ---- the state ---- */

enum { COUNTER = 0x404050, TOTAL = 0x404058, SMALL = 0x404060 };
enum { STACK = 0x7ffe0000, NODE = 0x500000, NAMES = 0x404030 };

static struct place {
    gaddr start;
    uint8_t bytes[64];
} places[] = {{.start = NAMES}, {.start = STACK}, {.start = NODE}};

static bool read_places(void *arg, gaddr addr, void *out, size_t bytes)
{
    (void)arg;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        uint64_t from = addr - places[i].start;
        if (from < 64 && bytes <= 64 - from) {
            memcpy(out, places[i].bytes + from, bytes);
            return true;
        }
    }
    return false;
}

static void poke(gaddr addr, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (addr - places[i].start < 64)
            memcpy(places[i].bytes + (addr - places[i].start), &value, bytes);
}

static struct cpu_state cpu;
static struct agent_state machine = {.cpu = &cpu, .read = read_places};

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        memset(places[i].bytes, 0, sizeof places[i].bytes);
    cpu = (struct cpu_state){.gpr = {[RSP] = STACK + 32}, .rip = 0x401106, .rflags = 0x246};
    machine.fs_base = 0x7f0000001740;
    machine.gs_base = 0x1234;
    machine.orig_rax = UINT64_MAX;
    poke(STACK + 32 + 8 - 32, NODE, 8); /* p */
    return 0;
}

static void set_n(int n)
{
    poke(STACK + 32 + 8 - 20, (uint32_t)n, 4);
}

/* ---- running ---- */

static uint32_t code_of(const char *hex, uint8_t code[256])
{
    size_t n = strlen(hex) / 2;

    for (size_t i = 0; i < n; i++) {
        const char two[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        code[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return (uint32_t)n;
}

static enum agent_result result_of(const char *hex, uint64_t *value)
{
    uint8_t code[256];

    return agent_eval(code, code_of(hex, code), &machine, value);
}

/* A condition that GDB made: it passes the check, too. */
static uint64_t value_of(const char *hex)
{
    uint8_t code[256];
    uint64_t value = 0x5ee;

    assert_null(agent_check(code, code_of(hex, code)));
    assert_int_equal(result_of(hex, &value), AGENT_DONE);
    return value;
}

static void fails_with(const char *hex, enum agent_result expected)
{
    uint64_t value = 0x5ee;

    assert_int_equal(result_of(hex, &value), expected);
    assert_int_equal(value, 0x5ee);
}

static void is_refused(const char *hex, const char *why)
{
    uint8_t code[256];
    const char *text = agent_check(code, code_of(hex, code));

    assert_non_null(text);
    assert_non_null(strstr(text, why));
}

/* ---- what GDB makes ---- */

static void decides_on_arguments_and_members(void **state)
{
    /* n == 3 && p->value != 0 */
    static const char both[] =
        "26000722080222ec16080219162022031320001721003826000722080222e0160802"
        "1a2210021a16402200130e200033210038220121003a220027";

    (void)state;
    set_n(3);
    assert_int_equal(value_of(both), 0);
    poke(NODE + 16, 1234567890123, 8);
    assert_int_equal(value_of(both), 1);
    set_n(-3);
    assert_int_equal(value_of(both), 0);
}

static void decides_on_bit_fields(void **state)
{
    /* p->bits == 5; unsigned, 3 bits */
    static const char bits[] = "26000722080222e01608021a220b02172a0322052a201327";
    /* p->sbits == -2; signed, 5 bits */
    static const char sbits[] = "26000722080222e01608021a220b021722030b160522fe16081327";

    (void)state;
    poke(NODE + 11, (0x1eu << 3) | 5, 1);
    assert_int_equal(value_of(bits), 1);
    assert_int_equal(value_of(sbits), 1);
    poke(NODE + 11, (0x0eu << 3) | 4, 1);
    assert_int_equal(value_of(bits), 0);
    assert_int_equal(value_of(sbits), 0);
}

static void decides_on_short_members_by_their_signs(void **state)
{
    /* p->kind < 0 && p->flag >= 200; short and unsigned char */
    static const char signs[] =
        "26000722080222e01608021a22080218161022001420001b21003b26000722080222"
        "e01608021a220a02172300c8140e20003621003b220121003d220027";

    (void)state;
    poke(NODE + 8, (uint16_t)-3, 2);
    poke(NODE + 10, 200, 1);
    assert_int_equal(value_of(signs), 1);
    poke(NODE + 10, 199, 1);
    assert_int_equal(value_of(signs), 0);
    poke(NODE + 10, 255, 1);
    poke(NODE + 8, 3, 2);
    assert_int_equal(value_of(signs), 0);
}

static void decides_on_globals(void **state)
{
    /* counter > 5 || total / 7 % 3 == 1; int and unsigned long */
    static const char either[] =
        "240040405019162022052b1420003024004040581a22072a40062a4022032a4008"
        "2a4022012a40132000302200210032220127";
    /* total > 1234567890123 */
    static const char large[] = "24004040581a250000011f71fb04cb2a402b1527";

    (void)state;
    assert_int_equal(value_of(either), 0);
    poke(TOTAL, 28, 8);
    assert_int_equal(value_of(either), 1);
    poke(TOTAL, UINT64_MAX, 8);
    assert_int_equal(value_of(either), UINT64_MAX / 7 % 3 == 1);
    assert_int_equal(value_of(large), 1);
    poke(TOTAL, 1234567890123, 8);
    assert_int_equal(value_of(large), 0);
    poke(COUNTER, 6, 4);
    assert_int_equal(value_of(either), 1);
    poke(COUNTER, (uint32_t)-6, 4);
    assert_int_equal(value_of(either), UINT64_C(1234567890123) / 7 % 3 == 1);
}

static void calculates_as_c_does(void **state)
{
    /* small << 3 == (~n ^ 12345678); signed char */
    static const char shifted[] = "24004040601716082203091620260007220802"
                                  "22ec1608021916201216202400bc614e111327";
    /* -n*2-1 >> 1 == 4 */
    static const char arithmetic[] = "220026000722080222ec16080219162003162022"
                                     "02041620220103162022010a162022041327";
    /* (long)n / -3 == 1 && (total >> 2 | 1) % 5 */
    static const char divided[] = "26000722080222ec16080219162022fd160805164022011320001e2100422400"
                                  "4040581a22022a400b2a4022012a401022052a40082a4020003d210042220121"
                                  "0044220027";

    (void)state;
    poke(SMALL, (uint8_t)-100, 1);
    set_n(~(-800 ^ 12345678));
    assert_int_equal(value_of(shifted), 1);
    set_n(-5);
    assert_int_equal(value_of(arithmetic), 1);
    set_n(5);
    assert_int_equal(value_of(arithmetic), 0);
    set_n(-4);
    poke(TOTAL, 17, 8); /* (4 | 1) % 5 */
    assert_int_equal(value_of(divided), 0);
    poke(TOTAL, 29, 8);
    assert_int_equal(value_of(divided), 1);
    set_n(4);
    assert_int_equal(value_of(divided), 0);
}

static void chooses_and_negates(void **state)
{
    /* n ? p->next : 0 */
    static const char chosen[] = "26000722080222ec1608021916200e200022"
                                 "26000722080222e01608021a1a210024220027";

    (void)state;
    poke(NODE, 0x600000, 8);
    set_n(0);
    assert_int_equal(value_of(chosen), 0);
    /* !(unsigned char)n */
    assert_int_equal(value_of("26000722080222ec1608021916202a080e27"), 1);
    set_n(0x101);
    assert_int_equal(value_of(chosen), 0x600000);
    assert_int_equal(value_of("26000722080222ec1608021916202a080e27"), 0);
}

static void numbers_registers_as_the_target_description_does(void **state)
{
    static const uint8_t order[] = {RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP,
                                    R8,  R9,  R10, R11, R12, R13, R14, R15};
    uint64_t value;

    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        const uint8_t code[] = {0x26, 0, (uint8_t)i, 0x27};
        cpu.gpr[order[i]] = 0x1234567800000000 + i;
        assert_int_equal(agent_eval(code, 4, &machine, &value), AGENT_DONE);
        assert_int_equal(value, 0x1234567800000000 + i);
    }
    cpu.gpr[RAX] = 1;
    assert_int_equal(value_of("260000164022011327"), 1);       /* $rax == 1 */
    assert_int_equal(value_of("2600102a4024004011361327"), 0); /* $rip == 0x401136 */
    cpu.rip = 0x401136;
    assert_int_equal(value_of("2600102a4024004011361327"), 1);
    assert_int_equal(value_of("260011162022400f27"), 64); /* $eflags & 64 */
    assert_int_equal(value_of("260012162022331327"), 1);  /* $cs == 0x33 */
    assert_int_equal(value_of("26001327"), 0x2b);
    assert_int_equal(value_of("26001727"), 0);
    assert_int_equal(value_of("26003927"), UINT64_MAX);
    assert_int_equal(value_of("26003a164022001327"), 0); /* $fs_base == 0 */
    assert_int_equal(value_of("26003a27"), 0x7f0000001740);
    assert_int_equal(value_of("26003b27"), 0x1234);
}

static void fails_where_memory_cannot_be_read(void **state)
{
    (void)state;
    /* p->next->next->value == 1; p->next is 0 */
    fails_with("26000722080222e01608021a1a1a2210021a164022011327", AGENT_UNREADABLE);
    /* half of it is there */
    fails_with("2400404068191a27", AGENT_UNREADABLE);
    fails_with("24004040691a27", AGENT_UNREADABLE);
}

/* ---- each operation at its limits ---- */

static uint64_t binary(uint64_t a, uint64_t b, uint8_t op)
{
    uint8_t code[20] = {[0] = 0x25, [9] = 0x25, [18] = op, [19] = 0x27};
    uint64_t value = 0x5ee;

    for (int i = 0; i < 8; i++) {
        code[1 + i] = (uint8_t)(a >> (56 - 8 * i));
        code[10 + i] = (uint8_t)(b >> (56 - 8 * i));
    }
    assert_int_equal(agent_eval(code, sizeof code, &machine, &value), AGENT_DONE);
    return value;
}

static void divides_at_the_limits(void **state)
{
    const uint64_t least = 1ull << 63, minus_one = UINT64_MAX;

    (void)state;
    assert_int_equal(binary(least, minus_one, 0x05), least);
    assert_int_equal(binary(least, minus_one, 0x07), 0);
    assert_int_equal(binary(least, minus_one, 0x06), 0);
    assert_int_equal(binary(least, minus_one, 0x08), least);
    assert_int_equal(binary((uint64_t)-7, 2, 0x05), (uint64_t)-3);
    assert_int_equal(binary((uint64_t)-7, 2, 0x07), (uint64_t)-1);
    assert_int_equal(binary((uint64_t)-7, 2, 0x06), UINT64_MAX / 2 - 3);
    for (uint8_t op = 0x05; op <= 0x08; op++) {
        const uint8_t code[] = {0x22, 1, 0x22, 0, op, 0x27};
        uint64_t value;
        assert_int_equal(agent_eval(code, sizeof code, &machine, &value), AGENT_DIVISION);
    }
}

static void shifts_by_any_amount(void **state)
{
    const uint64_t least = 1ull << 63;

    (void)state;
    assert_int_equal(binary(3, 63, 0x09), least);
    assert_int_equal(binary(3, 64, 0x09), 0);
    assert_int_equal(binary(least, 63, 0x0a), UINT64_MAX);
    assert_int_equal(binary(least, UINT64_MAX, 0x0a), UINT64_MAX);
    assert_int_equal(binary(least, 63, 0x0b), 1);
    assert_int_equal(binary(least, 64, 0x0b), 0);
}

static void compares_with_and_without_sign(void **state)
{
    (void)state;
    assert_int_equal(binary((uint64_t)-1, 1, 0x14), 1);
    assert_int_equal(binary((uint64_t)-1, 1, 0x15), 0);
    assert_int_equal(binary(1, 1, 0x14), 0);
    assert_int_equal(binary(1, 1, 0x15), 0);
    assert_int_equal(binary(1, 1, 0x13), 1);
}

static void combines_words(void **state)
{
    (void)state;
    assert_int_equal(binary(UINT64_MAX, 2, 0x02), 1);
    assert_int_equal(binary(1, 2, 0x03), UINT64_MAX);
    assert_int_equal(binary(1ull << 63, 3, 0x04), 1ull << 63);
    assert_int_equal(binary(12, 10, 0x0f), 8);
    assert_int_equal(binary(12, 10, 0x10), 14);
    assert_int_equal(binary(12, 10, 0x11), 6);
    assert_int_equal(value_of("220c1227"), ~12ull);
    assert_int_equal(value_of("220c0e27"), 0);
}

static void extends_from_any_width(void **state)
{
    (void)state;
    assert_int_equal(value_of("238080160827"), (uint64_t)-128);
    assert_int_equal(value_of("2380802a0827"), 128);
    assert_int_equal(value_of("2201160127"), UINT64_MAX);
    assert_int_equal(value_of("25fedcba9876543210164027"), 0xfedcba9876543210);
    assert_int_equal(value_of("25fedcba9876543210160027"), 0);
    assert_int_equal(value_of("25fedcba98765432102a0027"), 0);
    assert_int_equal(value_of("25fedcba98765432102aff27"), 0xfedcba9876543210);
    assert_int_equal(value_of("24fedcba98160027"), 0);
    assert_int_equal(value_of("24fedcba9827"), 0xfedcba98);
}

static void moves_values_on_the_stack(void **state)
{
    (void)state;
    assert_int_equal(value_of("2207280227"), 14);
    assert_int_equal(value_of("220722092b0327"), 2);
    assert_int_equal(value_of("220722092927"), 7);
    assert_int_equal(value_of("220122022203320027"), 3);
    assert_int_equal(value_of("220122022203320227"), 1);
    /* 1 2 3 becomes 3 1 2 */
    assert_int_equal(value_of("2201220222033327"), 2);
    assert_int_equal(value_of("220122022203332927"), 1);
    assert_int_equal(value_of("22012202220333292927"), 3);
}

/* ---- what probes take ---- */

static char taken[1000]; /* as text */
static unsigned room = 100;

static enum agent_result note(void *arg, enum agent_take what, uint64_t a, uint64_t b)
{
    static const char *const name[] = {"memory", "string", "register",
                                       "vector", "value",  "failure"};
    size_t n = strlen(taken);

    (void)arg;
    if (!room)
        return AGENT_ROW_FULL;
    room--;
    snprintf(taken + n, sizeof taken - n, "%s %llx %llx;", name[what], (unsigned long long)a,
             (unsigned long long)b);
    return AGENT_DONE;
}

static void takes(const char *hex, enum agent_result result, const char *what)
{
    struct agent_state probe = machine;
    uint8_t code[256];
    uint64_t value = 0;
    const uint32_t n = code_of(hex, code);

    probe.take = note;
    taken[0] = 0;
    assert_null(agent_check_take(code, n));
    assert_int_equal(agent_eval(code, n, &probe, &value), result);
    assert_string_equal(taken, what);
}

static void takes_memory_strings_and_values(void **state)
{
    (void)state;
    takes("27", AGENT_DONE, "");
    takes("2207"
          "2203"
          "0c27",
          AGENT_DONE, "memory 7 3;");
    takes("2207"
          "0d0529"
          "22092207"
          "2f27",
          AGENT_DONE, "memory 7 5;string 9 7;");
    takes("2207"
          "30010227",
          AGENT_DONE, "memory 7 102;");
    takes("2207"
          "8127",
          AGENT_DONE, "value 7 0;");
}

static void takes_registers_of_all_kinds(void **state)
{
    char text[64];

    (void)state;
    snprintf(text, sizeof text, "register 10 %llx;", (unsigned long long)machine.cpu->rip);
    takes("80001027", AGENT_DONE, text);
    takes("80001880002880003880003c27", AGENT_DONE,
          "vector 18 0;vector 28 0;vector 38 0;vector 3c 0;");
    uint8_t code[256];
    assert_string_equal(agent_check_take(code, code_of("80002027", code)),
                        agent_text(AGENT_NO_REGISTER));
    assert_string_equal(agent_check_take(code, code_of("80004c27", code)),
                        agent_text(AGENT_NO_REGISTER));
}

static void goes_on_behind_a_failure(void **state)
{
    (void)state;
    takes("820009"
          "22012200"
          "058122098127",
          AGENT_DONE, "failure 6 0;value 9 0;");
    takes("22012200"
          "0527",
          AGENT_DIVISION, "");
    /* Only once, and with the stack as it was. */
    takes("2203"
          "82000a"
          "22012200"
          "058127",
          AGENT_DONE, "failure 6 0;value 3 0;");
    takes("820003"
          "22012200"
          "0527",
          AGENT_DIVISION, "failure 6 0;");
    room = 1;
    takes("2207812208"
          "8127",
          AGENT_ROW_FULL, "value 7 0;");
    room = 0;
    takes("820006"
          "220781"
          "27",
          AGENT_ROW_FULL, "");
    room = 100;
}

/* ---- damage ---- */

static void refuses_unknown_and_foreign_operations(void **state)
{
    static const uint8_t foreign[] = {0x01, 0x0c, 0x0d, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x2c,
                                      0x2d, 0x2e, 0x2f, 0x30, 0x34, 0x80, 0x81, 0x82};
    static const uint8_t unknown[] = {0x00, 0x31, 0x35, 0x7f, 0xff};
    uint8_t code[] = {0x22, 1, 0x22, 1, 0, 0, 0, 0x27};
    uint64_t value;

    (void)state;
    for (size_t i = 0; i < sizeof foreign; i++) {
        code[4] = foreign[i];
        assert_int_equal(agent_eval(code, sizeof code, &machine, &value), AGENT_UNSUPPORTED);
        assert_string_equal(agent_check(code, sizeof code), agent_text(AGENT_UNSUPPORTED));
    }
    for (size_t i = 0; i < sizeof unknown; i++) {
        code[4] = unknown[i];
        assert_int_equal(agent_eval(code, sizeof code, &machine, &value), AGENT_BAD_OPCODE);
        assert_string_equal(agent_check(code, sizeof code), agent_text(AGENT_BAD_OPCODE));
    }
}

static void refuses_registers_it_does_not_have(void **state)
{
    (void)state;
    fails_with("2600282a8027", AGENT_NO_REGISTER); /* $xmm0 */
    is_refused("2600282a8027", "register");
    fails_with("26ffff27", AGENT_NO_REGISTER);
    fails_with("26003827", AGENT_NO_REGISTER);
    fails_with("26003c27", AGENT_NO_REGISTER);
}

static void stays_inside_its_code(void **state)
{
    (void)state;
    fails_with("", AGENT_OUTSIDE);
    is_refused("", "out of its code");
    fails_with("2201", AGENT_OUTSIDE);
    is_refused("2201", "out of its code");
    fails_with("22", AGENT_OUTSIDE);
    fails_with("25000000000000", AGENT_OUTSIDE);
    is_refused("25000000000000", "out of its code");
    fails_with("2100", AGENT_OUTSIDE);
    fails_with("210003", AGENT_OUTSIDE);
    fails_with("21ffff", AGENT_OUTSIDE);
    is_refused("21ffff", "jump");
    is_refused("2201200003220127", "jump"); /* into an operand */
}

static void bounds_the_stack(void **state)
{
    uint8_t code[AGENT_STACK * 2 + 3];
    uint64_t value;

    (void)state;
    fails_with("27", AGENT_STACK_EMPTY);
    fails_with("2201022722", AGENT_STACK_EMPTY);
    fails_with("2827", AGENT_STACK_EMPTY);
    fails_with("2927", AGENT_STACK_EMPTY);
    fails_with("200000", AGENT_STACK_EMPTY);
    fails_with("2201320127", AGENT_STACK_EMPTY);
    fails_with("320027", AGENT_STACK_EMPTY);
    fails_with("220132ff27", AGENT_STACK_EMPTY);
    fails_with("220122023327", AGENT_STACK_EMPTY);
    memset(code, 0x22, sizeof code);
    code[AGENT_STACK * 2] = 0x27;
    assert_int_equal(agent_eval(code, sizeof code, &machine, &value), AGENT_DONE);
    assert_int_equal(value, 0x22);
    code[AGENT_STACK * 2] = 0x28;
    code[AGENT_STACK * 2 + 1] = 0x27;
    assert_int_equal(agent_eval(code, sizeof code, &machine, &value), AGENT_STACK_FULL);
    fails_with("2201210000", AGENT_STACK_FULL);
}

static void ends_an_endless_loop(void **state)
{
    uint8_t much[AGENT_BYTES + 1] = {0};
    uint64_t value;

    (void)state;
    fails_with("210000", AGENT_TOO_LONG);
    fails_with("2201200000", AGENT_TOO_LONG);
    assert_int_equal(agent_eval(much, sizeof much, &machine, &value), AGENT_TOO_LONG);
    assert_string_equal(agent_check(much, sizeof much), agent_text(AGENT_TOO_LONG));
    /* counts 1,000 down */
    assert_int_equal(value_of("2303e822010328200003220727"), 7);
}

static void names_every_result(void **state)
{
    (void)state;
    for (int i = 0; i < AGENT_RESULTS; i++)
        assert_true(strlen(agent_text((enum agent_result)i)) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(decides_on_arguments_and_members, set_up),
        cmocka_unit_test_setup(decides_on_bit_fields, set_up),
        cmocka_unit_test_setup(decides_on_short_members_by_their_signs, set_up),
        cmocka_unit_test_setup(decides_on_globals, set_up),
        cmocka_unit_test_setup(calculates_as_c_does, set_up),
        cmocka_unit_test_setup(chooses_and_negates, set_up),
        cmocka_unit_test_setup(numbers_registers_as_the_target_description_does, set_up),
        cmocka_unit_test_setup(fails_where_memory_cannot_be_read, set_up),
        cmocka_unit_test_setup(divides_at_the_limits, set_up),
        cmocka_unit_test_setup(shifts_by_any_amount, set_up),
        cmocka_unit_test_setup(compares_with_and_without_sign, set_up),
        cmocka_unit_test_setup(combines_words, set_up),
        cmocka_unit_test_setup(extends_from_any_width, set_up),
        cmocka_unit_test_setup(moves_values_on_the_stack, set_up),
        cmocka_unit_test_setup(takes_memory_strings_and_values, set_up),
        cmocka_unit_test_setup(takes_registers_of_all_kinds, set_up),
        cmocka_unit_test_setup(goes_on_behind_a_failure, set_up),
        cmocka_unit_test_setup(refuses_unknown_and_foreign_operations, set_up),
        cmocka_unit_test_setup(refuses_registers_it_does_not_have, set_up),
        cmocka_unit_test_setup(stays_inside_its_code, set_up),
        cmocka_unit_test_setup(bounds_the_stack, set_up),
        cmocka_unit_test_setup(ends_an_endless_loop, set_up),
        cmocka_unit_test(names_every_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
