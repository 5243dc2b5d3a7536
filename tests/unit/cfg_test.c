/* cfg_test.c - trace/graph/cfg: graphs of small functions, written out in bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * Code lies at 0x1000. Blocks are named by the offsets of their first instructions.
 */
#include <string.h>

#include "tests/unit/cfg_support.h"
#include "tests/unit/unit.h"

enum { BASE = 0x1000, EXIT = -1 };

#define LIST(...)                                                                                  \
    (const gaddr[])                                                                                \
    {                                                                                              \
        __VA_ARGS__, 0                                                                             \
    }
#define CODE(name, ...)                                                                            \
    const uint8_t name##_bytes[] = {__VA_ARGS__};                                                  \
    struct cfg_code name = {.base = BASE, .bytes = name##_bytes, .size = sizeof name##_bytes}

static struct cfg *cfg;
static const struct cfg_function *f;

static void make(const struct cfg_code *code)
{
    cfg = cfg_support_new(code);
    f = cfg_support_function(cfg, BASE);
}

static int end(void **state)
{
    (void)state;
    cfg_free(cfg);
    cfg = NULL;
    return 0;
}

/* The number of the block that begins at an offset. */
static int32_t at(int offset)
{
    if (offset == EXIT)
        return CFG_EXIT;
    int32_t b = cfg_block_of(f, BASE + (gaddr)offset);
    assert_int_not_equal(b, CFG_NONE);
    assert_int_equal(cfg_block(f, b)->first, BASE + offset);
    return b;
}

/* One block: its last instruction, its successors (-2: none), its immediate post-dominator. */
struct expected {
    int first, last, succ[4], ipdom;
};
enum { NO = -2 };

static void check_block(const struct expected *e)
{
    const struct cfg_block *block = cfg_block(f, at(e->first));
    uint32_t succs = 0, all = 0;
    bool exits = false;
    assert_int_equal(block->last, BASE + e->last);
    assert_int_equal(block->ipdom, at(e->ipdom));
    for (int i = 0; i < 4 && e->succ[i] != NO; i++, all++) {
        exits |= e->succ[i] == EXIT;
        if (e->succ[i] != EXIT)
            assert_int_equal(cfg_successors(f, at(e->first))[succs++], at(e->succ[i]));
    }
    assert_int_equal(block->succs, succs);
    assert_int_equal(block->exits, exits);
    assert_int_equal(cfg_is_branch(block), all >= 2);
}

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        const struct expected list[] = {__VA_ARGS__};                                              \
        assert_int_equal(cfg_block_count(f), ARRAY_LEN(list));                                     \
        for (size_t i_ = 0; i_ < ARRAY_LEN(list); i_++)                                            \
            check_block(&list[i_]);                                                                \
    } while (0)

static bool depends(int s, int b, int x)
{
    return cfg_depends(f, at(s), at(b), at(x));
}

static void both_sides_of_an_if_depend_on_it(void **state)
{
    (void)state;
    CODE(code, 0x85, 0xff, /* 0: test edi, edi */
         0x74, 0x03,       /* 2: je 7 */
         0xff, 0xc0,       /* 4: inc eax */
         0x90,             /* 6: nop */
         0xeb, 0x02,       /* 7: jmp 11 */
         0xff, 0xc8,       /* 9: not reached */
         0xc3);            /* 11: ret */
    make(&code);
    CHECK({0, 2, {4, 7, NO}, 7}, {4, 6, {7, NO}, 7}, {7, 7, {11, NO}, 11},
          {11, 11, {EXIT, NO}, EXIT});
    assert_true(depends(4, 0, 4));
    assert_false(depends(7, 0, 4));
    assert_false(depends(7, 0, 7));
    assert_false(depends(0, 0, 4));
    assert_int_equal(cfg_block_of(f, BASE + 9), CFG_NONE); /* not reached */
    assert_int_equal(cfg_block_of(f, BASE + 5), CFG_NONE); /* inside an instruction */
    assert_int_equal(cfg_block_of(f, BASE + 6), at(4));
    assert_int_equal(cfg_block_of(f, BASE - 1), CFG_NONE);
    assert_int_equal(cfg_block_of(f, BASE + 12), CFG_NONE);
    assert_int_equal(cfg_insn_count(f), 6);
    assert_int_equal(cfg_entry(f), BASE);
}

static void if_else_joins(void **state)
{
    (void)state;
    CODE(code, 0x74, 0x04, /* 0: je 6 */
         0xff, 0xc0,       /* 2: inc eax */
         0xeb, 0x02,       /* 4: jmp 8 */
         0xff, 0xc8,       /* 6: dec eax */
         0xc3);            /* 8: ret */
    make(&code);
    CHECK({0, 0, {2, 6, NO}, 8}, {2, 4, {8, NO}, 8}, {6, 6, {8, NO}, 8}, {8, 8, {EXIT, NO}, EXIT});
    assert_true(depends(6, 0, 6));
    assert_false(depends(6, 0, 2));
    assert_true(cfg_postdominates(f, at(8), at(0)));
    assert_true(cfg_postdominates(f, CFG_EXIT, at(8)));
    assert_false(cfg_postdominates(f, at(8), CFG_EXIT));
}

static void a_loop_depends_on_itself(void **state)
{
    (void)state;
    CODE(code, 0x31, 0xc0, /* 0: xor eax, eax */
         0xff, 0xc0,       /* 2: inc eax */
         0x75, 0xfc,       /* 4: jne 2 */
         0xc3);            /* 6: ret */
    make(&code);
    CHECK({0, 0, {2, NO}, 2}, {2, 4, {2, 6, NO}, 6}, {6, 6, {EXIT, NO}, EXIT});
    assert_true(depends(2, 2, 2));
    assert_false(depends(6, 2, 6));
    assert_false(depends(6, 2, 2));
}

static void nested_loops(void **state)
{
    (void)state;
    CODE(code, 0x90, /* 0: nop */
         0x90,       /* 1: nop, the outer loop's head */
         0xff, 0xc1, /* 2: inc ecx, the inner one's */
         0x75, 0xfc, /* 4: jne 2 */
         0xff, 0xc2, /* 6: inc edx */
         0xe2, 0xf7, /* 8: loop 1 */
         0xc3);      /* 10: ret */
    make(&code);
    CHECK({0, 0, {1, NO}, 1}, {1, 1, {2, NO}, 2}, {2, 4, {2, 6, NO}, 6}, {6, 8, {1, 10, NO}, 10},
          {10, 10, {EXIT, NO}, EXIT});
    assert_int_equal(cfg_block(f, at(6))->kind, INSN_JCXZ);
    assert_true(depends(2, 2, 2));
    assert_false(depends(6, 2, 2));
    assert_true(depends(2, 6, 1));
    assert_true(depends(6, 6, 1));
    assert_false(depends(10, 6, 10));
}

static void a_switch_goes_where_it_was_seen_to_go(void **state)
{
    (void)state;
    CODE(code, 0xff, 0xe0, /* 0: jmp rax */
         0x90,             /* 2: nop */
         0x90,             /* 3: nop, falls into the next */
         0x90,             /* 4: nop, never seen */
         0xeb, 0x01,       /* 5: jmp 8 */
         0xc3,             /* 7: ret */
         0xc3);            /* 8: ret */
    const struct cfg_jump jumps[] = {{BASE, 3, LIST(BASE + 2, BASE + 5, BASE + 7)}, {.pc = 0}};
    code.jumps = jumps;
    make(&code);
    CHECK({0, 0, {2, 5, 7, NO}, EXIT}, {2, 4, {5, NO}, 5}, {5, 5, {8, NO}, 8},
          {7, 7, {EXIT, NO}, EXIT}, {8, 8, {EXIT, NO}, EXIT});
    assert_true(depends(8, 0, 2));
    assert_false(depends(7, 0, 2));
}

static void an_indirect_jump_not_seen_leaves(void **state)
{
    (void)state;
    CODE(code, 0xff, 0xe0, 0xc3);
    make(&code);
    CHECK({0, 0, {EXIT, NO}, EXIT});
    assert_int_equal(cfg_block(f, 0)->kind, INSN_JMP_IND);
}

static void other_entries_are_tail_calls(void **state)
{
    (void)state;
    CODE(code, 0x74, 0x03, /* 0: je 5, another entry */
         0x90,             /* 2: nop */
         0x74, 0xfb,       /* 3: je 0, the own entry; falls through into another */
         0x90,             /* 5: nop */
         0xc3);            /* 6: ret */
    code.entries = LIST(BASE, BASE + 5);
    make(&code);
    CHECK({0, 0, {2, EXIT, NO}, EXIT}, {2, 3, {0, EXIT, NO}, EXIT});
    assert_true(depends(2, 0, 2));
    assert_true(depends(0, 2, 0));
    assert_false(cfg_depends(f, at(2), at(0), CFG_EXIT));
    assert_int_equal(cfg_block_of(f, BASE + 5), CFG_NONE);
    f = cfg_support_function(cfg, BASE + 5);
    CHECK({5, 6, {EXIT, NO}, EXIT});
}

static void plain_code_falls_into_an_entry(void **state)
{
    (void)state;
    CODE(code, 0x90, 0x90, 0xc3);
    code.entries = LIST(BASE + 2);
    make(&code);
    CHECK({0, 1, {EXIT, NO}, EXIT});
}

static void endless_loops_leave_at_their_highest_address(void **state)
{
    (void)state;
    CODE(code, 0x74, 0x05, /* 0: je 7 */
         0x90,             /* 2: nop */
         0xeb, 0x01,       /* 3: jmp 6 */
         0xc3,             /* 5: ret, not reached */
         0x90,             /* 6: nop */
         0x90,             /* 7: nop */
         0x75, 0xf8,       /* 8: jne 2 */
         0xeb, 0xf6);      /* 10: jmp 2 */
    make(&code);
    CHECK({0, 0, {2, 7, NO}, 7}, {2, 3, {6, NO}, 6}, {6, 6, {7, NO}, 7}, {7, 8, {2, 10, NO}, 10},
          {10, 10, {2, EXIT, NO}, EXIT});
    assert_true(depends(6, 7, 2));
}

static void each_of_two_endless_loops_leaves(void **state)
{
    (void)state;
    CODE(code, 0x74, 0x02, /* 0: je 4 */
         0xeb, 0xfe,       /* 2: jmp 2 */
         0x90,             /* 4: nop */
         0xeb, 0xfd);      /* 5: jmp 4 */
    make(&code);
    CHECK({0, 0, {2, 4, NO}, EXIT}, {2, 2, {2, EXIT, NO}, EXIT}, {4, 5, {4, EXIT, NO}, EXIT});
}

static void calls_fall_through_unless_they_stay(void **state)
{
    (void)state;
    CODE(code, 0xe8, 0x00, 0x10, 0x00, 0x00, /* 0: call 0x2005 */
         0x74, 0x05,                         /* 5: je 12 */
         0xe8, 0xf4, 0x1f, 0x00, 0x00,       /* 7: call 0x3000 */
         0xff, 0xd0,                         /* 12: call rax */
         0x0f, 0x05,                         /* 14: syscall */
         0xc3);                              /* 16: ret */
    make(&code);
    CHECK({0, 0, {5, NO}, 5}, {5, 5, {7, 12, NO}, 12}, {7, 7, {12, NO}, 12}, {12, 12, {14, NO}, 14},
          {14, 14, {16, NO}, 16}, {16, 16, {EXIT, NO}, EXIT});
    assert_int_equal(cfg_block(f, at(14))->kind, INSN_SYSCALL);
    cfg_free(cfg);
    code.no_return = LIST(0x3000);
    make(&code);
    CHECK({0, 0, {5, NO}, 5}, {5, 5, {7, 12, NO}, EXIT}, {7, 7, {EXIT, NO}, EXIT},
          {12, 12, {14, NO}, 14}, {14, 14, {16, NO}, 16}, {16, 16, {EXIT, NO}, EXIT});
    assert_true(depends(16, 5, 12));
    cfg_free(cfg);
    code.no_return = NULL;
    code.stays = LIST(BASE + 14);
    make(&code);
    CHECK({0, 0, {5, NO}, 5}, {5, 5, {7, 12, NO}, 12}, {7, 7, {12, NO}, 12}, {12, 12, {14, NO}, 14},
          {14, 14, {EXIT, NO}, EXIT});
}

static void a_tail_may_be_shared(void **state)
{
    (void)state;
    CODE(code, 0x74, 0x04, /* 0: je 6 */
         0xc3,             /* 2: ret */
         0x90,             /* 3: another function: nop */
         0x90, 0x90,       /* 4: nop, nop */
         0x90,             /* 6: nop, of both */
         0xc3);            /* 7: ret */
    code.entries = LIST(BASE, BASE + 3);
    make(&code);
    CHECK({0, 0, {2, 6, NO}, EXIT}, {2, 2, {EXIT, NO}, EXIT}, {6, 7, {EXIT, NO}, EXIT});
    const struct cfg_function *first = f;
    f = cfg_support_function(cfg, BASE + 3);
    CHECK({3, 7, {EXIT, NO}, EXIT});
    assert_ptr_equal(cfg_support_function(cfg, BASE), first);
}

static void instructions_may_overlap(void **state)
{
    (void)state;
    CODE(code, 0x74, 0x01, /* 0: je 3 */
         0xf0, 0xff, 0x00, /* 2: lock inc [rax]; 3: inc [rax] */
         0x90,             /* 5: nop */
         0xc3);            /* 6: ret */
    make(&code);
    CHECK({0, 0, {2, 3, NO}, 5}, {2, 2, {5, NO}, 5}, {3, 3, {5, NO}, 5}, {5, 6, {EXIT, NO}, EXIT});
    assert_int_equal(cfg_block_of(f, BASE + 6), at(5));
    assert_int_equal(cfg_block_of(f, BASE + 4), CFG_NONE);
}

static void what_is_no_instruction_leaves(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[3], size, kind;
    } ends[] = {
        {{0x0f, 0x0b}, 2, INSN_TRAP},
        {{0xcc}, 1, INSN_TRAP},
        {{0xf4}, 1, INSN_TRAP},
        {{0x06}, 1, INSN_ILLEGAL},
        {{0x0f}, 1, INSN_ILLEGAL},
        {{0}, 0, INSN_ILLEGAL},
        {{0xcb}, 1, INSN_EMULATE},
        {{0xff, 0x28}, 2, INSN_EMULATE},
        {{0x48, 0xcf}, 2, INSN_EMULATE},
        {{0xcf}, 1, INSN_EMULATE},
        {{0xff, 0x18}, 2, INSN_UNSUPPORTED},
        {{0xc2, 8, 0}, 3, INSN_RET},
    };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        uint8_t bytes[8] = {0x0f, 0xa2}; /* cpuid falls through */
        for (int k = 0; k < ends[i].size; k++)
            bytes[2 + k] = ends[i].bytes[k];
        struct cfg_code code = {.base = BASE, .bytes = bytes, .size = 2u + ends[i].size};
        make(&code);
        CHECK({0, 2, {EXIT, NO}, EXIT});
        assert_int_equal(cfg_block(f, 0)->kind, ends[i].kind);
        cfg_free(cfg);
    }
    cfg = NULL;
}

static void long_code_is_read_in_parts(void **state)
{
    (void)state;
    uint8_t bytes[5 * 1000 + 1];
    for (int i = 0; i < 1000; i++)
        memcpy(bytes + 5 * i, "\xb8\xc3\xc3\xc3\xc3", 5); /* mov eax, 0xc3c3c3c3 */
    bytes[5000] = 0xc3;
    struct cfg_code code = {.base = BASE, .bytes = bytes, .size = sizeof bytes};
    make(&code);
    CHECK({0, 5000, {EXIT, NO}, EXIT});
    assert_int_equal(cfg_insn_count(f), 1001);
    assert_int_equal(cfg_block_of(f, BASE + 2500), 0);
    assert_int_equal(cfg_block_of(f, BASE + 2501), CFG_NONE);
}

static bool frame_pointer_of(const uint8_t *bytes, size_t size)
{
    struct cfg_code code = {.base = BASE, .bytes = bytes, .size = size};
    make(&code);
    bool result = cfg_frame_pointer(f);
    end(NULL);
    return result;
}
#define FRAME(...)                                                                                 \
    frame_pointer_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
#define NOP4 0x90, 0x90, 0x90, 0x90

static void frame_pointers_are_seen(void **state)
{
    (void)state;
    assert_true(FRAME(0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xc3)); /* endbr64, push */
    assert_true(FRAME(0x55, 0x48, 0x8b, 0xec, 0xc3));        /* the other mov rbp, rsp */
    assert_true(FRAME(0x48, 0x8d, 0x6c, 0x24, 0x10, 0xc3));  /* lea rbp, [rsp + 16] */
    assert_true(FRAME(0x48, 0x8d, 0x2c, 0x24, 0xc3));        /* lea rbp, [rsp] */
    assert_false(FRAME(0x48, 0x8d, 0x2c, 0x04, 0xc3));       /* lea rbp, [rsp + rax] */
    assert_false(FRAME(0x89, 0xe5, 0xc3));                   /* mov ebp, esp */
    assert_false(FRAME(0x48, 0x89, 0xec, 0xc3));             /* mov rsp, rbp */
    assert_false(FRAME(0x48, 0x8b, 0x2c, 0x24, 0xc3));       /* mov rbp, [rsp] */
    assert_false(FRAME(0x48, 0x89, 0xfd, 0xc3));             /* mov rbp, rdi */
    assert_false(FRAME(0x74, 0x00, 0x48, 0x89, 0xe5, 0xc3)); /* behind a branch */
    assert_false(FRAME(0xff, 0xd0, 0x48, 0x89, 0xe5, 0xc3)); /* behind a call */
    assert_true(FRAME(NOP4, NOP4, 0x90, 0x90, 0x90, 0x48, 0x89, 0xe5, 0xc3)); /* the twelfth */
    assert_false(FRAME(NOP4, NOP4, NOP4, 0x48, 0x89, 0xe5, 0xc3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(both_sides_of_an_if_depend_on_it, end),
        cmocka_unit_test_teardown(if_else_joins, end),
        cmocka_unit_test_teardown(a_loop_depends_on_itself, end),
        cmocka_unit_test_teardown(nested_loops, end),
        cmocka_unit_test_teardown(a_switch_goes_where_it_was_seen_to_go, end),
        cmocka_unit_test_teardown(an_indirect_jump_not_seen_leaves, end),
        cmocka_unit_test_teardown(other_entries_are_tail_calls, end),
        cmocka_unit_test_teardown(plain_code_falls_into_an_entry, end),
        cmocka_unit_test_teardown(endless_loops_leave_at_their_highest_address, end),
        cmocka_unit_test_teardown(each_of_two_endless_loops_leaves, end),
        cmocka_unit_test_teardown(calls_fall_through_unless_they_stay, end),
        cmocka_unit_test_teardown(a_tail_may_be_shared, end),
        cmocka_unit_test_teardown(instructions_may_overlap, end),
        cmocka_unit_test_teardown(what_is_no_instruction_leaves, end),
        cmocka_unit_test_teardown(long_code_is_read_in_parts, end),
        cmocka_unit_test_teardown(frame_pointers_are_seen, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
