/* trace_frames_test.c - which call an instruction was executed in. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/failing.h"
#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"
#include "tests/unit/unit.h"
#include "trace/index.h"
#include "trace/pass.h"

#define FUNCTIONS                                                                                  \
    "block main 1000: call f\n"                                                                    \
    "block main2 1005: nop; call f\n"                                                              \
    "block main3 100b: nop; syscall\n"                                                             \
    "block f 2000: push rbx; call g\n"                                                             \
    "block f2 2006: pop rbx; ret\n"                                                                \
    "block ftail 2010: jmp g\n"                                                                    \
    "block g 3000: nop; ret\n"                                                                     \
    "block gdeep 3010: nop; mov rsp,rbx; jmp main3\n"                                              \
    "block handler 4000: nop; ret\n"                                                               \
    "block restorer 4010: nop; syscall\n"

/* The frames of the step that has the mark, from the top: entries, by their addresses. */
static const char *frames_at(const struct trace_text *t, const char *mark)
{
    static char text[256];
    struct pass p;
    struct pass_step s;
    struct err err;
    uint64_t insn = trace_text_mark(t, mark);
    text[0] = 0;
    assert_int_equal(pass_init(&p, trace_text_trace(t), &err), 0);
    while (pass_next(&p, &s, &err) == 1)
        if (s.insn == insn)
            for (const struct frame *f = s.frame; f; f = f->parent)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%llx",
                         *text ? " " : "", f->kind == FRAME_SIGNAL ? "signal " : "",
                         (unsigned long long)f->entry);
    pass_deinit(&p);
    return text;
}

static void a_call_makes_a_frame_and_its_return_ends_it(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new(FUNCTIONS "thread 1 main rsp=7000\n"
                                                    "mark begin\n main\n"
                                                    "mark in_f\n f\n"
                                                    "mark in_g\n g\n"
                                                    "mark back_in_f\n f2\n"
                                                    "mark back\n main2\n"
                                                    "mark again\n f\n");
    assert_string_equal(frames_at(t, "begin"), "1000");
    assert_string_equal(frames_at(t, "in_f"), "2000 1000");
    assert_string_equal(frames_at(t, "in_g"), "3000 2000 1000");
    assert_string_equal(frames_at(t, "back_in_f"), "2000 1000");
    assert_string_equal(frames_at(t, "back"), "1000");
    assert_string_equal(frames_at(t, "again"), "2000 1000");
    trace_text_free(t);
}

static void a_jump_to_a_function_takes_the_frames_place(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new("block main 1000: call f\n"
                                          "block main2 1005: nop; call g\n"
                                          "block main3 100b: nop; ret\n"
                                          "block f 2000: nop; jmp g\n"
                                          "block g 3000: nop; ret\n"
                                          "thread 1 main rsp=7000\n"
                                          "main\n f\n"
                                          "mark instead\n g\n"
                                          "mark back\n main2\n"
                                          "mark called\n g\n"
                                          "main3\n");
    assert_string_equal(frames_at(t, "instead"), "3000 1000");
    assert_string_equal(frames_at(t, "back"), "1000");
    assert_string_equal(frames_at(t, "called"), "3000 1000");
    trace_text_free(t);
}

static void a_jump_to_what_is_no_function_stays(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new("block main 1000: call f\n"
                                          "block f 2000: nop; jmp f2\n"
                                          "block f2 2100: nop; jmp f2\n"
                                          "thread 1 main rsp=7000\n"
                                          "main\n f\n f2\n mark here\n f2\n");
    assert_string_equal(frames_at(t, "here"), "2000 1000");
    trace_text_free(t);
}

static void a_stack_that_is_torn_down_ends_what_was_on_it(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new("block main 1000: call f\n"
                                          "block main2 1005: nop; ret\n"
                                          "block f 2000: push rbx; call g\n"
                                          "block g 3000: nop; call h\n"
                                          "block h 4000: nop; mov rsp,rbx; jmp main2\n"
                                          "thread 1 main rsp=7000\n"
                                          "main\n f\n g\n mark deep\n h then rsp=7000\n"
                                          "mark out\n main2\n");
    assert_string_equal(frames_at(t, "deep"), "4000 3000 2000 1000");
    assert_string_equal(frames_at(t, "out"), "1000");
    trace_text_free(t);
}

static void a_return_over_several_frames_ends_them_all(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new("block main 1000: call f\n"
                                          "block main2 1005: nop; ret\n"
                                          "block f 2000: push rbx; call g\n"
                                          "block g 3000: nop; add rsp,16; ret\n"
                                          "thread 1 main rsp=7000\n"
                                          "main\n f\n g\n mark out\n main2\n");
    assert_string_equal(frames_at(t, "out"), "1000");
    trace_text_free(t);
}

static void a_signal_is_a_frame_until_its_return(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new(FUNCTIONS "thread 1 main rsp=7000\n"
                                                    "main\n f\n"
                                                    "signal 10 at g to handler frame 6000\n"
                                                    "mark handled\n handler\n"
                                                    "mark restoring\n restorer\n"
                                                    "sigreturn 6000 -> g\n"
                                                    "mark after\n g rsp=6fe8\n"
                                                    "mark back\n f2\n");
    assert_string_equal(frames_at(t, "handled"), "signal 4000 3000 2000 1000");
    assert_string_equal(frames_at(t, "after"), "3000 2000 1000");
    assert_string_equal(frames_at(t, "back"), "2000 1000");
    trace_text_free(t);
}

static void threads_have_frames_of_their_own(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new(FUNCTIONS "thread 1 main rsp=7000\n"
                                                    "main\n"
                                                    "thread 2 g rsp=9000\n"
                                                    "mark second\n g\n"
                                                    "thread 1\n"
                                                    "mark first\n f\n");
    assert_string_equal(frames_at(t, "second"), "3000");
    assert_string_equal(frames_at(t, "first"), "2000 1000");
    trace_text_free(t);
}

/* ---- at random ---- */

enum { FUNCTIONS_MADE = 4, STEPS = 4000, DEEP = 40, SEEDS = 8 };

struct random_calls {
    struct random_text text;
    struct {
        unsigned depth;
        gaddr entry;
    } expected[STEPS]; /* by step */
    unsigned steps;
    unsigned function[DEEP], site[DEEP], depth;
};

static unsigned entry_of(unsigned f)
{
    return 0x10000 * (f + 1);
}

/* A step is put down by the function that it is in. */
static void step(struct random_calls *r, const char *fmt, unsigned f, unsigned g)
{
    random_text_put(&r->text, fmt, f, g);
    r->expected[r->steps].depth = r->depth;
    r->expected[r->steps++].entry = entry_of(r->function[r->depth]);
}

/* Blocks end in a jump that may lead anywhere, but for calls, jumps to functions, and returns. */
static void make_blocks(struct random_calls *r)
{
    for (unsigned f = 0; f < FUNCTIONS_MADE; f++) {
        random_text_put(&r->text, "block e%u %x: nop; jmp rax\n", f, entry_of(f));
        random_text_put(&r->text, "block ret%u %x: nop; ret\n", f, entry_of(f) + 0x1000);
        for (unsigned g = 0; g < FUNCTIONS_MADE; g++) {
            unsigned pc = entry_of(f) + 0x2000 + 0x100 * g;
            random_text_put(&r->text, "block c%u_%u %x: nop; call e%u\n", f, g, pc, g);
            random_text_put(&r->text, "block r%u_%u %x: nop; jmp rax\n", f, g, pc + 6);
            random_text_put(&r->text, "block t%u_%u %x: nop; jmp e%u\n", f, g, pc + 0x20, g);
        }
    }
}

static void call(struct random_calls *r, unsigned g)
{
    step(r, "c%u_%u\n", r->function[r->depth], g);
    r->site[r->depth++] = g;
    r->function[r->depth] = g;
    step(r, "e%u\n", g, 0);
}

static void give_back(struct random_calls *r)
{
    step(r, "ret%u\n", r->function[r->depth], 0);
    r->depth--;
    step(r, "r%u_%u\n", r->function[r->depth], r->site[r->depth]);
}

static void jump(struct random_calls *r, unsigned g)
{
    step(r, "t%u_%u\n", r->function[r->depth], g);
    r->function[r->depth] = g;
    step(r, "e%u\n", g, 0);
}

static void make_random(struct random_calls *r)
{
    make_blocks(r);
    random_text_put(&r->text, "thread 1 e0 rsp=700000\n");
    step(r, "e0\n", 0, 0);
    for (unsigned g = 0; g < FUNCTIONS_MADE; g++) { /* each is a function, since it is called */
        call(r, g);
        give_back(r);
    }
    while (r->steps + 2 < STEPS) {
        unsigned what = random_text_below(&r->text, 5);
        if (what < 2 && r->depth + 1 < DEEP)
            call(r, random_text_below(&r->text, FUNCTIONS_MADE));
        else if (what < 4 && r->depth)
            give_back(r);
        else
            jump(r, random_text_below(&r->text, FUNCTIONS_MADE));
    }
}

static void calls_at_random_are_followed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_calls *r = calloc(1, sizeof *r);
        struct pass p;
        struct pass_step s;
        struct err err;
        unsigned i = 0;
        r->text.seed = seed;
        make_random(r);
        struct trace_text *t = trace_text_new(r->text.text);
        assert_int_equal(pass_init(&p, trace_text_trace(t), &err), 0);
        for (; pass_next(&p, &s, &err) == 1; i++) {
            unsigned depth = 0;
            for (const struct frame *f = s.frame; f->parent; f = f->parent)
                depth++;
            if (depth != r->expected[i].depth || s.frame->entry != r->expected[i].entry)
                fail_msg("seed %d, step %u: depth %u in %llx, not %u in %llx", (int)seed, i, depth,
                         (unsigned long long)s.frame->entry, r->expected[i].depth,
                         (unsigned long long)r->expected[i].entry);
        }
        assert_int_equal(i, r->steps);
        pass_deinit(&p);
        trace_text_free(t);
        free(r);
    }
}

/* ---- no memory ---- */

/* A number for all that a pass tells. -1: it failed, as it says. */
static int64_t sum_of_pass(struct trace *trace)
{
    struct pass p;
    struct pass_step s;
    struct err err = {.msg = ""};
    uint64_t sum = 0;
    int more;
    if (pass_init(&p, trace, &err)) {
        assert_non_null(strstr(err.msg, "no memory"));
        return -1;
    }
    while ((more = pass_next(&p, &s, &err)) == 1)
        for (const struct frame *f = s.frame; f; f = f->parent)
            sum = sum * 31 + f->entry + f->slot + f->kind + s.count;
    pass_deinit(&p);
    if (more < 0)
        assert_non_null(strstr(err.msg, "no memory"));
    return more < 0 ? -1 : (int64_t)(sum >> 1);
}

static void no_memory_is_told(void **state)
{
    (void)state;
    unsigned told = 0;
    struct trace_text *t = trace_text_new(FUNCTIONS "thread 1 main rsp=7000\n"
                                                    "main\n f\n"
                                                    "signal 10 at g to handler frame 6000\n"
                                                    "handler\n restorer\n sigreturn 6000 -> g\n"
                                                    "g rsp=6fe8\n f2\n main2\n f\n g\n f2\n");
    struct trace *trace = trace_text_trace(t);
    const int64_t right = sum_of_pass(trace);
    assert_true(right >= 0);
    bool failed = true;
    for (uint64_t n = 0; failed; n++) {
        failing_begin(n);
        int64_t sum = sum_of_pass(trace);
        failed = failing_end();
        told += sum == -1;
        assert_true(sum == right || sum == -1);
    }
    assert_true(told >= 8); /* frames that are made */
    trace_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_makes_a_frame_and_its_return_ends_it),
        cmocka_unit_test(a_jump_to_a_function_takes_the_frames_place),
        cmocka_unit_test(a_jump_to_what_is_no_function_stays),
        cmocka_unit_test(a_stack_that_is_torn_down_ends_what_was_on_it),
        cmocka_unit_test(a_return_over_several_frames_ends_them_all),
        cmocka_unit_test(a_signal_is_a_frame_until_its_return),
        cmocka_unit_test(threads_have_frames_of_their_own),
        cmocka_unit_test(calls_at_random_are_followed),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
