/* slice_walk_test.c - slices of small traces, and what becomes of them without memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "slicer/slice.h"
#include "slicer/walk/edges.h"
#include "tests/unit/failing.h"
#include "tests/unit/trace_text.h"
#include "tests/unit/unit.h"
#include "trace/index.h"

/* A function that saves a register, a loop, a signal that reads what the loop writes, a call of the
 * kernel, and a thread that reads what the kernel wrote. */
static const char everything[] = "block main 1000: mov eax,1; call f\n"
                                 "block main2 100a: mov [rdi],rax; cmp rax,rbx; jne main2\n"
                                 "block main3 1016: nop; syscall\n"
                                 "block main4 1019: nop; jmp rax\n"
                                 "block f 2000: push rbx; add rax,rbx; pop rbx; ret\n"
                                 "block handler 3000: mov rcx,rax; syscall\n"
                                 "block child 4000: mov rax,[rdi]; mov [rsi],rax; jmp rax\n"
                                 "thread 1 main rsp=7000\n"
                                 "mark made\n main\n mark f\n f\n"
                                 "mark loop\n main2 rdi=5000\n main2 rdi=5008\n"
                                 "signal 10 at main2 to handler frame 6000\n handler\n"
                                 "sigreturn 6000 -> main2\n"
                                 "main2 rdi=5010 rsp=7000\n mark call\n main3\n begin 2\n"
                                 "call 0 w 5100 8\n main4\n"
                                 "thread 2 child\n mark child\n child rdi=5008 rsi=5200\n"
                                 "thread 1\n main4\n";

static struct trace_index *index_of(const struct trace_text *t)
{
    struct err err;
    struct trace_index *index = trace_index_new(trace_text_trace(t), NULL, &err);
    assert_non_null(index);
    return index;
}

static struct slice_want what_the_child_wrote(const struct trace_text *t)
{
    return (struct slice_want){
        .kind = SLICE_MEMORY, .at = trace_insns(trace_text_trace(t)), .addr = 0x5200, .bytes = 8};
}

static void a_slice_goes_through_threads_calls_and_saves(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new(everything);
    struct trace_index *index = index_of(t);
    struct slice_want want = what_the_child_wrote(t);
    struct slice_options o = {.edges = SLICE_VALUE};
    struct err err;
    struct slice *s = slice_backward(index, &want, 1, &o, &err);
    assert_non_null(s);
    uint64_t child = trace_text_mark(t, "child"), loop = trace_text_mark(t, "loop");
    assert_true(slice_has(s, child) && slice_has(s, child + 1)); /* load and store */
    assert_false(slice_has(s, loop));                            /* [5000] */
    assert_true(slice_has(s, loop + 3));                         /* [5008], in the second turn */
    assert_true(slice_has(s, trace_text_mark(t, "f") + 1));      /* add rax,rbx */
    assert_false(slice_has(s, trace_text_mark(t, "f")));         /* push rbx */
    assert_true(slice_has(s, trace_text_mark(t, "made")));       /* mov eax,1 */
    assert_false(slice_has(s, trace_text_mark(t, "made") + 1));  /* call f */
    assert_int_equal(slice_count(s), 5);
    slice_free(s);
    trace_index_free(index);
    trace_text_free(t);
}

static void what_the_kernel_wrote_is_its_calls(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new(everything);
    struct trace_index *index = index_of(t);
    struct slice_want want = what_the_child_wrote(t);
    struct slice_options o = {.edges = SLICE_VALUE};
    struct err err;
    want.addr = 0x5100;
    struct slice *s = slice_backward(index, &want, 1, &o, &err);
    assert_non_null(s);
    assert_true(slice_has(s, trace_text_mark(t, "call") + 1));
    assert_false(slice_has(s, trace_text_mark(t, "child")));
    slice_free(s);
    trace_index_free(index);
    trace_text_free(t);
}

/* ---- no memory ---- */

static int count_edge(void *arg, const struct slice_dependence *edge)
{
    (void)edge;
    ++*(unsigned *)arg;
    return 0;
}

/* A number for a slice and its edges; 0: there was no memory, as *err says. */
static uint64_t sum_of(const struct trace_text *t, bool forward, struct err *err)
{
    struct trace_index *index = trace_index_new(trace_text_trace(t), NULL, err);
    struct slice_want want = what_the_child_wrote(t);
    struct slice_options o = {0};
    unsigned edges = 0;
    uint64_t sum = 0;
    if (!index)
        return 0;
    if (forward)
        want = (struct slice_want){.kind = SLICE_USES, .at = trace_text_mark(t, "made")};
    struct slice *s = forward ? slice_forward(index, &want, 1, &o, err)
                              : slice_backward(index, &want, 1, &o, err);
    if (s && (forward || !slice_edges(index, s, &want, 1, &o, count_edge, &edges, err))) {
        sum = 1 + edges;
        for (uint64_t i = slice_next(s, 0); i != UINT64_MAX; i = slice_next(s, i + 1))
            sum = sum * 31 + i + 1;
    }
    slice_free(s);
    trace_index_free(index);
    return sum;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    for (int forward = 0; forward < 2; forward++) {
        unsigned told = 0;
        struct err err = {.msg = ""};
        struct trace_text *t = trace_text_new(everything);
        const uint64_t right = sum_of(t, forward, &err);
        bool failed = true;
        assert_true(right);
        for (uint64_t n = 0; failed; n++) {
            trace_text_free(t); /* code keeps what was asked of it: each time it is another one */
            t = trace_text_new(everything);
            err.msg[0] = 0;
            failing_begin(n);
            uint64_t sum = sum_of(t, forward, &err);
            failed = failing_end();
            told += !sum;
            if (!sum && !strstr(err.msg, " memory"))
                fail_msg("allocation %d: %s", (int)n, err.msg);
            if (sum)
                assert_int_equal(sum, right);
        }
        assert_true(told >= 40);
        trace_text_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_goes_through_threads_calls_and_saves),
        cmocka_unit_test(what_the_kernel_wrote_is_its_calls),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
