/* probe_check_test.c - debug/probe_check.h: lists of probes and rows, good ones and damaged ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include "debug/probe_check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "debug/bytecode.h"
#include "tests/unit/unit.h"

enum { ROOM = 4096 };

static union {
    uint8_t bytes[ROOM];
    struct probe_taken row;
    struct {
        struct probe_list head;
        struct probe_place place[100];
    } list;
} made;

/* ---- rows ---- */

static void begin_row(void)
{
    memset(&made, 0, sizeof made);
    made.row = (struct probe_taken){.bytes = sizeof made.row, .thread = 1, .pc = 0x401000};
}

static struct probe_piece *add(int kind, uint64_t where, uint32_t bytes)
{
    struct probe_piece *p = (struct probe_piece *)(made.bytes + made.row.bytes);
    *p = (struct probe_piece){.where = where, .bytes = bytes, .kind = (uint8_t)kind};
    made.row.bytes += (uint32_t)(sizeof *p + ((bytes + 7) & ~7u));
    return p;
}

static const char *check(void)
{
    return probe_check_row(&made.row, made.row.bytes);
}

static void accepts_all_kinds_of_pieces(void **state)
{
    (void)state;
    begin_row();
    assert_null(check());
    add(PIECE_MEMORY, 0x1000, 3)->end = PIECE_UNREADABLE;
    add(PIECE_MEMORY, 0x1000, 0)->end = PIECE_CUT;
    add(PIECE_STRING, 0x1000, 9)->end = PIECE_ENDLESS;
    add(PIECE_REGISTER, AGENT_RDI, 8);
    add(PIECE_REGISTER, AGENT_ST0, 10);
    add(PIECE_REGISTER, AGENT_XMM0 + 3, 16);
    add(PIECE_REGISTER, AGENT_MXCSR, 4);
    add(PIECE_VALUE, 0, 8);
    add(PIECE_FAILED, AGENT_DIVISION, 0);
    assert_null(check());
    assert_null(probe_check_row(&made.row, ROOM));
}

static void refuses_pieces_that_are_none(void **state)
{
    const struct {
        int kind;
        uint64_t where;
        uint32_t bytes;
        int end;
    } bad[] = {
        {0, 0, 0, 0},
        {PIECE_FAILED + 1, 0, 0, 0},
        {PIECE_MEMORY, 0, 8, PIECE_ENDLESS},
        {PIECE_MEMORY, 0, 8, PIECE_ENDLESS + 1},
        {PIECE_REGISTER, AGENT_RDI, 4, 0},
        {PIECE_REGISTER, AGENT_XMM0, 8, 0},
        {PIECE_REGISTER, 35, 0, 0},
        {PIECE_REGISTER, AGENT_REGISTERS, 16, 0},
        {PIECE_REGISTER, ~0ull, 16, 0},
        {PIECE_VALUE, 0, 7, 0},
        {PIECE_VALUE, 0, 8, PIECE_CUT},
        {PIECE_FAILED, 0, 0, 0},
        {PIECE_FAILED, AGENT_RESULTS, 0, 0},
        {PIECE_FAILED, AGENT_DIVISION, 8, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        begin_row();
        add(bad[i].kind, bad[i].where, bad[i].bytes)->end = (uint8_t)bad[i].end;
        assert_non_null(check());
    }
}

static void refuses_lengths_that_lead_out(void **state)
{
    (void)state;
    begin_row();
    assert_non_null(probe_check_row(&made.row, sizeof made.row - 1));
    for (uint32_t bytes = 0; bytes < 200; bytes++) {
        begin_row();
        add(PIECE_MEMORY, 0, 64);
        made.row.bytes = bytes;
        bool good = bytes == sizeof made.row || bytes == sizeof made.row + 16 + 64;
        if (bytes > sizeof made.row + 16 + 64)
            continue; /* other pieces follow: zeros, which are none */
        assert_int_equal(!probe_check_row(&made.row, ROOM), good);
    }
    begin_row();
    add(PIECE_MEMORY, 0, 64)->bytes = 65;
    assert_non_null(check());
    begin_row();
    add(PIECE_MEMORY, 0, 64)->bytes = UINT32_MAX;
    assert_non_null(check());
}

static void refuses_rows_that_are_none(void **state)
{
    (void)state;
    begin_row();
    made.row.thread = 0;
    assert_non_null(check());
    begin_row();
    made.row.when = AGENT_RESULTS;
    assert_non_null(check());
    begin_row();
    made.row.take = AGENT_RESULTS;
    assert_non_null(check());
    begin_row();
    made.row.undone = 2;
    assert_non_null(check());
    begin_row();
    made.row.undone = 1;
    assert_null(check());
    add(PIECE_VALUE, 0, 8);
    assert_non_null(check());
    begin_row();
    made.row.when = AGENT_UNREADABLE;
    assert_null(check());
    add(PIECE_VALUE, 0, 8);
    assert_non_null(check());
}

/* What is accepted stays inside: a reader that trusts it never leaves the room (ASan). */
static void stays_inside_whatever_it_reads(void **state)
{
    unsigned seed = 1, good = 0;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint32_t all;
        begin_row();
        add(PIECE_MEMORY, 0, (uint32_t)(rand_r(&seed) % 40));
        add(PIECE_STRING, 0, (uint32_t)(rand_r(&seed) % 40));
        all = made.row.bytes;
        uint8_t *copy = malloc(all);
        memcpy(copy, made.bytes, all);
        copy[rand_r(&seed) % (int)all] ^= (uint8_t)(1 << rand_r(&seed) % 8);
        const struct probe_taken *row = (const struct probe_taken *)copy;
        uint32_t sum = 0;
        if (!probe_check_row(row, all)) {
            good++;
            for (uint32_t at = 0; at < row->bytes; at++)
                sum += copy[at];
        }
        assert_true(sum < UINT32_MAX);
        free(copy);
    }
    assert_true(good > 1000 && good < 200000);
}

/* ---- lists ---- */

static size_t make_list(uint32_t places, uint32_t code)
{
    memset(&made, 0, sizeof made);
    made.list.head = (struct probe_list){places, code};
    for (uint32_t i = 0; i < places; i++)
        made.list.place[i] = (struct probe_place){.pc = i, .index = i};
    return sizeof made.list.head + places * sizeof made.list.place[0] + code;
}

static void accepts_lists(void **state)
{
    (void)state;
    assert_null(probe_check_list(&made.list.head, make_list(0, 0)));
    assert_null(probe_check_list(&made.list.head, make_list(70, 16)));
    size_t bytes = make_list(70, 16);
    made.list.place[3].take_at = 7;
    made.list.place[3].take_bytes = 9;
    assert_null(probe_check_list(&made.list.head, bytes));
    for (int i = 0; i < PROBES_AT_PC; i++)
        made.list.place[i].pc = PROBES_AT_PC - 1;
    assert_null(probe_check_list(&made.list.head, bytes));
}

static void refuses_damaged_lists(void **state)
{
    size_t bytes = make_list(70, 16);
    (void)state;
    assert_non_null(probe_check_list(&made.list.head, bytes - 1));
    assert_non_null(probe_check_list(&made.list.head, bytes + 1));
    assert_non_null(probe_check_list(&made.list.head, 7));
    made.list.head.places = UINT32_MAX;
    assert_non_null(probe_check_list(&made.list.head, bytes));
    bytes = make_list(70, 16);
    made.list.place[5].index = 70;
    assert_non_null(probe_check_list(&made.list.head, bytes));
    bytes = make_list(70, 16);
    made.list.place[5].when_at = 17;
    assert_non_null(probe_check_list(&made.list.head, bytes));
    bytes = make_list(70, 16);
    made.list.place[5].take_at = UINT32_MAX;
    made.list.place[5].take_bytes = 2;
    assert_non_null(probe_check_list(&made.list.head, bytes));
    bytes = make_list(70, 16);
    made.list.place[5].pc = 3;
    assert_non_null(probe_check_list(&made.list.head, bytes));
    bytes = make_list(70, 16);
    for (int i = 0; i <= PROBES_AT_PC; i++)
        made.list.place[i].pc = PROBES_AT_PC;
    assert_non_null(probe_check_list(&made.list.head, bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_all_kinds_of_pieces),
        cmocka_unit_test(refuses_pieces_that_are_none),
        cmocka_unit_test(refuses_lengths_that_lead_out),
        cmocka_unit_test(refuses_rows_that_are_none),
        cmocka_unit_test(stays_inside_whatever_it_reads),
        cmocka_unit_test(accepts_lists),
        cmocka_unit_test(refuses_damaged_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
