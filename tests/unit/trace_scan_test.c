/* trace_scan_test.c - restores of saved registers, changed returns, signals.
 *
 * SPDX-License-Identifier: MIT
 */
#include "trace/scan.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/failing.h"
#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"

#define CODE                                                                                       \
    "block main 1000: call f\n"                                                                    \
    "block main2 1005: nop; jmp rax\n"                                                             \
    "block f 2000: push rbx; jmp rax\n"                                                            \
    "block write 2100: mov [rdi],rax; jmp rax\n"                                                   \
    "block kernel 2200: nop; syscall\n"                                                            \
    "block odd 2203: nop; jmp rax\n"                                                               \
    "block loop 2300: nop; jmp rax\n"                                                              \
    "block again 2400: push rbx; nop; jmp rax\n"                                                   \
    "block undo 2500: pop rbx; nop; jmp rax\n"                                                     \
    "block out 2600: pop rbx; ret\n"                                                               \
    "block own 2800: push rcx; jmp rax\n"                                                          \
    "block unown 2810: pop rcx; nop; jmp rax\n"                                                    \
    "block keep 2820: push r12; jmp rax\n"                                                         \
    "block unkeep 2830: pop r12; nop; jmp rax\n"                                                   \
    "block handled 2700: nop; syscall\n"                                                           \
    "block g 3000: pop rbx; nop; jmp rax\n"                                                        \
    "block callg 3100: nop; call g\n"                                                              \
    "block spin 3200: nop; jmp rax\n"                                                              \
    "thread 1 main rsp=7000\n"                                                                     \
    "main\n" /* the return address is at 6ff8, rbx will be at 6ff0 */

static struct scan *scan_of(const struct trace_text *t, unsigned max_save)
{
    struct scan *s = calloc(1, sizeof *s);
    struct err err;
    if (scan_init(s, trace_text_trace(t), &(struct scan_options){.max_save = max_save}, &err))
        fail_msg("%s", err.msg);
    return s;
}

static void scan_free(struct scan *s)
{
    scan_deinit(s);
    free(s);
}

/* Is the instruction, by its number in the trace, in the lists? */
static bool is_in(const struct trace_text *t, const struct scan *s, uint64_t insn, bool changed)
{
    struct trace *trace = trace_text_trace(t);
    struct scan_lists l = {0};
    struct err err;
    uint32_t chunk = 0;
    while (trace_chunk_first(trace, chunk + 1) <= insn)
        chunk++;
    uint32_t at = (uint32_t)(insn - trace_chunk_first(trace, chunk));
    assert_int_equal(scan_unpack(&s->chunk[chunk], &l, &err), 0);
    bool in = changed ? scan_lists_has(l.changed, l.changes, at)
                      : scan_lists_has(l.restore, l.restores, at);
    scan_lists_deinit(&l);
    return in;
}

/* Is what is marked `pop` a restore, and what is marked `ret` a return to a changed address? */
static void check(const char *text, bool restores, bool changed)
{
    struct trace_text *t = trace_text_new(text);
    struct scan *s = scan_of(t, SCAN_MAX_SAVE);
    if (is_in(t, s, trace_text_mark(t, "pop"), false) != restores)
        fail_msg("%s: a restore: %d", text, !restores);
    if (is_in(t, s, trace_text_mark(t, "pop") + 1, true) != changed)
        fail_msg("%s: a changed return: %d", text, !changed);
    scan_free(s);
    trace_text_free(t);
}

static void what_was_saved_is_restored(void **state)
{
    (void)state;
    check(CODE "f\n mark pop\n out\n main2\n", true, false);
    check(CODE "f\n write rdi=6fe8\n mark pop\n out\n", true, false); /* below it */
}

static void what_was_overwritten_is_not(void **state)
{
    (void)state;
    check(CODE "f\n write rdi=6ff0\n mark pop\n out\n", false, false);
    check(CODE "f\n write rdi=6fe9\n mark pop\n out\n", false, false); /* its first byte */
    check(CODE "f\n write rdi=6ff7\n mark pop\n out\n", false, true);  /* its last, and more */
}

static void a_return_address_that_was_changed_is_known(void **state)
{
    (void)state;
    check(CODE "f\n write rdi=6ff8\n mark pop\n out\n", true, true);
}

static void the_kernel_writes_too(void **state)
{
    (void)state;
    check(CODE "f\n kernel\n call 0 w 6ff4 2\n odd\n mark pop\n out\n", false, false);
    check(CODE "f\n kernel\n call 1 r 6ff0 8\n odd\n mark pop\n out\n", true, false);
    check(CODE "f\n kernel\n call 0\n odd\n access odd w 6ff0 8\n mark pop\n out\n", false, false);
}

static void a_signal_frame_overwrites(void **state)
{
    (void)state;
    check(CODE "f\n signal 10 at out to handled frame 6e00\n handled\n sigreturn 6e00 -> out\n"
               "mark pop\n out rsp=6ff0\n",
          false, true);
    check(CODE "f\n signal 10 at out to handled frame 6c00\n handled\n sigreturn 6c00 -> out\n"
               "mark pop\n out rsp=6ff0\n",
          true, false);
}

static void another_functions_save_is_none_of_this_one(void **state)
{
    (void)state;
    /* g finds at its stack pointer what f saved, but it is f's. */
    struct trace_text *t = trace_text_new(CODE "f\n callg\n mark pop\n g rsp=6ff0\n");
    struct scan *s = scan_of(t, SCAN_MAX_SAVE);
    assert_false(is_in(t, s, trace_text_mark(t, "pop"), false));
    scan_free(s);
    trace_text_free(t);
}

/* What a function need not save for its caller is its own value, wherever it keeps it. */
static void only_what_a_caller_wants_back_is_saved(void **state)
{
    (void)state;
    struct trace_text *t =
        trace_text_new(CODE "f\n own\n mark rcx\n unown\n keep\n mark r12\n unkeep\n");
    struct scan *s = scan_of(t, SCAN_MAX_SAVE);
    assert_false(is_in(t, s, trace_text_mark(t, "rcx"), false));
    assert_true(is_in(t, s, trace_text_mark(t, "r12"), false));
    scan_free(s);
    trace_text_free(t);
}

static void only_the_first_saves_count(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new(CODE "f\n again\n again\n"
                                               "mark third\n undo\n"
                                               "mark second\n undo\n"
                                               "mark first\n undo\n");
    struct scan *s = scan_of(t, 2);
    assert_true(is_in(t, s, trace_text_mark(t, "first"), false));
    assert_true(is_in(t, s, trace_text_mark(t, "second"), false));
    assert_false(is_in(t, s, trace_text_mark(t, "third"), false));
    scan_free(s);
    trace_text_free(t);
}

static void chunks_hang_together(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new(CODE "f\n loop x 70000\n"
                                               "thread 2 spin\n spin x 70000\n thread 1\n"
                                               "mark pop\n out\n main2\n");
    struct scan *s = scan_of(t, SCAN_MAX_SAVE);
    assert_int_equal(s->chunks, 3);
    assert_int_equal(s->chunk[1].thread, 0);
    assert_int_equal(s->chunk[2].thread, 1);
    assert_int_equal(s->chunk[1].start.thread[0].top->entry, trace_text_place(t, "f"));
    assert_true(is_in(t, s, trace_text_mark(t, "pop"), false));
    assert_false(is_in(t, s, trace_text_mark(t, "pop") + 1, true));
    scan_free(s);
    trace_text_free(t);
}

static void deliveries_are_found_by_their_frame(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new(CODE "f\n signal 10 at loop to loop frame 5000\n loop\n"
                                               "mark first\n loop\n"
                                               "signal 12 at loop to loop frame 5000\n loop\n"
                                               "mark second\n loop\n");
    struct scan *s = scan_of(t, SCAN_MAX_SAVE);
    uint64_t first = trace_text_mark(t, "first"), second = trace_text_mark(t, "second");
    assert_int_equal(s->signals, 2);
    assert_ptr_equal(scan_delivery(s, 0x5000, first), &s->signal[0]);
    assert_ptr_equal(scan_delivery(s, 0x5000, second), &s->signal[1]);
    assert_null(scan_delivery(s, 0x5008, second));
    assert_null(scan_delivery(s, 0x5000, s->signal[0].insn - 1));
    scan_free(s);
    trace_text_free(t);
}

/* ---- at random ---- */

enum { STEPS = 1500, SEEDS = 10, SAVES = 4096 };

/* Saves by definition: a list of them, each good until something is written there. */
struct naive {
    gaddr at[SAVES];
    bool good[SAVES];
    unsigned count;
    bool restores[STEPS];
};

static void naive_write(struct naive *n, gaddr addr, unsigned bytes)
{
    for (unsigned i = 0; i < n->count; i++)
        if (addr < n->at[i] + 8 && n->at[i] < addr + bytes)
            n->good[i] = false;
}

static void naive_save(struct naive *n, gaddr addr)
{
    naive_write(n, addr, 8);
    n->at[n->count] = addr;
    n->good[n->count++] = true;
}

static bool naive_has(const struct naive *n, gaddr addr)
{
    for (unsigned i = n->count; i-- > 0;)
        if (n->good[i] && n->at[i] == addr)
            return true;
    return false;
}

/* One function that saves, restores and writes around its stack pointer, which stays in a page. */
static void make_random(struct random_text *r, struct naive *n)
{
    gaddr sp = 0x6800;
    random_text_put(r, "block save 1000: push rbx; nop; jmp rax\n"
                       "block restore 1100: pop rbx; nop; jmp rax\n"
                       "block store 1200: mov [rsp+8],rbx; jmp rax\n"
                       "block load 1300: mov rbx,[rsp+8]; jmp rax\n"
                       "block write 1400: mov [rdi],rax; jmp rax\n"
                       "block byte 1500: mov [rsi+2],al; jmp rax\n"
                       "block wide 1600: movups [rdi],xmm0; jmp rax\n"
                       "thread 1 save rsp=6800\n");
    for (unsigned i = 0; i < STEPS; i++) {
        gaddr near = sp - 32 + random_text_below(r, 80);
        switch (i ? random_text_below(r, 10) : 0) {
        case 0:
        case 1:
            if (sp < 0x6100)
                sp = 0x6800;
            random_text_put(r, "save rsp=%llx\n", (unsigned long long)sp);
            naive_save(n, sp -= 8);
            break;
        case 2:
        case 3:
            random_text_put(r, "restore rsp=%llx\n", (unsigned long long)sp);
            n->restores[i] = naive_has(n, sp);
            sp = sp < 0x6f00 ? sp + 8 : 0x6400;
            break;
        case 4:
            random_text_put(r, "store rsp=%llx\n", (unsigned long long)sp);
            naive_save(n, sp + 8);
            break;
        case 5:
        case 6:
            random_text_put(r, "load rsp=%llx\n", (unsigned long long)sp);
            n->restores[i] = naive_has(n, sp + 8);
            break;
        case 7:
            random_text_put(r, "write rdi=%llx\n", (unsigned long long)near);
            naive_write(n, near, 8);
            break;
        case 8:
            random_text_put(r, "byte rsi=%llx\n", (unsigned long long)near - 2);
            naive_write(n, near, 1);
            break;
        default:
            random_text_put(r, "wide rdi=%llx\n", (unsigned long long)near);
            naive_write(n, near, 16);
            break;
        }
    }
}

static void restores_at_random_are_those_by_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_text *r = calloc(1, sizeof *r);
        struct naive *n = calloc(1, sizeof *n);
        struct trace_chunk c = {0};
        struct err err;
        unsigned found = 0;
        r->seed = seed;
        make_random(r, n);
        struct trace_text *t = trace_text_new(r->text);
        struct scan *s = scan_of(t, SAVES);
        assert_int_equal(trace_read(trace_text_trace(t), 0, &c, &err), 0);
        assert_int_equal(c.steps, STEPS);
        for (unsigned i = 0; i < STEPS; i++) {
            bool is = is_in(t, s, c.step[i].insn_at, false);
            found += is;
            if (is != n->restores[i])
                fail_msg("seed %d, step %u: a restore: %d", (int)seed, i, is);
        }
        assert_true(found > STEPS / 20 && found < STEPS / 2);
        trace_chunk_deinit(&c);
        scan_free(s);
        trace_text_free(t);
        free(n);
        free(r);
    }
}

/* ---- no memory ---- */

static void no_memory_is_told(void **state)
{
    (void)state;
    unsigned told = 0;
    struct trace_text *t = trace_text_new(CODE "f\n again\n undo\n kernel\n call 0 w 5000 8\n odd\n"
                                               "signal 10 at loop to handled frame 5000\n handled\n"
                                               "sigreturn 5000 -> write\n"
                                               "write rdi=6ff8 rsp=6ff0\n mark pop\n out\n");
    uint64_t pop = trace_text_mark(t, "pop");
    bool failed = true;
    for (uint64_t n = 0; failed; n++) {
        struct scan s;
        struct err err = {.msg = ""};
        failing_begin(n);
        const struct scan_options o = {.max_save = SCAN_MAX_SAVE};
        int bad = scan_init(&s, trace_text_trace(t), &o, &err);
        failed = failing_end();
        told += bad != 0;
        if (bad) {
            assert_non_null(strstr(err.msg, "no memory"));
            continue;
        }
        assert_int_equal(s.signals, 1);
        assert_true(is_in(t, &s, pop, false));
        assert_true(is_in(t, &s, pop + 1, true));
        scan_deinit(&s);
    }
    assert_true(told >= 12);
    trace_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_saved_is_restored),
        cmocka_unit_test(what_was_overwritten_is_not),
        cmocka_unit_test(a_return_address_that_was_changed_is_known),
        cmocka_unit_test(the_kernel_writes_too),
        cmocka_unit_test(a_signal_frame_overwrites),
        cmocka_unit_test(another_functions_save_is_none_of_this_one),
        cmocka_unit_test(only_what_a_caller_wants_back_is_saved),
        cmocka_unit_test(only_the_first_saves_count),
        cmocka_unit_test(chunks_hang_together),
        cmocka_unit_test(deliveries_are_found_by_their_frame),
        cmocka_unit_test(restores_at_random_are_those_by_definition),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
