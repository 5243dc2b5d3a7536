/* order_clocks_test.c - what happened before what. SPDX-License-Identifier: MIT */
#include "facts/order/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/failing.h"
#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"

#define CODE                                                                                       \
    "block go 1000: nop; jmp rax\n"                                                                \
    "block lock 1100: lock inc [rdi]; jmp rax\n"                                                   \
    "block load 1200: mov rax,[rdi]; jmp rax\n"                                                    \
    "block store 1300: mov [rdi],rax; jmp rax\n"                                                   \
    "block kernel 1400: nop; syscall\n"                                                            \
    "block behind 1403: nop; jmp rax\n"

struct ordered {
    struct trace_text *t;
    struct study study;
    struct sync sync;
    struct clocks *clocks;
};

static void ordered_init(struct ordered *o, const char *text)
{
    struct err err;
    *o = (struct ordered){.t = trace_text_new(text)};
    o->study = (struct study){.trace = trace_text_trace(o->t), .source = source_new()};
    if (sync_init(&o->sync, &o->study, &err) ||
        !(o->clocks = clocks_new(&o->study, &o->sync, NULL, &err)))
        fail_msg("%s", err.msg);
}

static void ordered_deinit(struct ordered *o)
{
    clocks_free(o->clocks);
    sync_deinit(&o->sync);
    source_free(o->study.source);
    trace_text_free(o->t);
}

/* Is what is marked `a`, of the first thread, before what is marked `b`, of the second? */
static bool before(const char *text)
{
    struct ordered o;
    ordered_init(&o, text);
    bool is = clocks_before(o.clocks, (struct clocks_point){0, trace_text_mark(o.t, "a")},
                            (struct clocks_point){1, trace_text_mark(o.t, "b")});
    ordered_deinit(&o);
    return is;
}

static void threads_alone_have_no_order(void **state)
{
    (void)state;
    assert_false(before(CODE "thread 1 go\n mark a\n go\n thread 2 go\n mark b\n go\n"));
}

static void a_lock_orders(void **state)
{
    (void)state;
    assert_true(before(CODE "thread 1 go\n mark a\n go\n lock rdi=5000\n"
                            "thread 2 go\n go\n lock rdi=5000\n mark b\n go\n"));
    /* ... but not what comes behind it, ... */
    assert_false(before(CODE "thread 1 go\n go\n lock rdi=5000\n mark a\n go\n"
                             "thread 2 go\n go\n lock rdi=5000\n mark b\n go\n"));
    /* ... nor what came before the other had it, ... */
    assert_false(before(CODE "thread 1 go\n mark a\n go\n lock rdi=5000\n"
                             "thread 2 go\n go\n mark b\n go\n lock rdi=5000\n"));
    /* ... nor by another one. */
    assert_false(before(CODE "thread 1 go\n mark a\n go\n lock rdi=5000\n"
                             "thread 2 go\n go\n lock rdi=5008\n mark b\n go\n"));
}

static void memory_that_nobody_locks_does_not_order(void **state)
{
    (void)state;
    assert_false(before(CODE "thread 1 go\n mark a\n go\n store rdi=5000\n"
                             "thread 2 go\n go\n load rdi=5000\n mark b\n go\n"));
    assert_true(before(CODE "thread 1 lock\n lock rdi=5000\n mark a\n go\n store rdi=5000\n"
                            "thread 2 go\n go\n load rdi=5000\n mark b\n go\n"));
}

static void order_passes_through_a_third_thread(void **state)
{
    (void)state;
    assert_true(before(CODE "thread 1 go\n mark a\n go\n lock rdi=5000\n"
                            "thread 2 go\n go\n"
                            "thread 3 go\n go\n lock rdi=5000\n lock rdi=6000\n"
                            "thread 2\n lock rdi=6000\n mark b\n go\n"));
}

static void who_makes_a_thread_is_before_it(void **state)
{
    (void)state;
    assert_true(before(CODE "thread 1 go\n mark a\n go\n kernel\n call 56\n begin 2\n"
                            "thread 2 go\n mark b\n go\n"));
    assert_false(before(CODE "thread 1 go\n go\n kernel\n begin 2\n call 56\n mark a\n behind\n"
                             "thread 2 go\n mark b\n go\n"));
}

static void a_threads_end_is_before_who_waited_for_it(void **state)
{
    (void)state;
    /* The kernel clears the word that set_tid_address() named; the other thread reads it. */
    assert_true(before(CODE "thread 1 go\n go\n kernel\n call 218 5000\n behind\n mark a\n go\n"
                            "thread 2 go\n go\n load rdi=5000\n mark b\n go\n"));
}

static void messages_order_and_files_do_not(void **state)
{
    (void)state;
    assert_true(before(CODE "thread 1 kernel\n mark a\n kernel\n call 1 5\n behind\n"
                            "thread 2 kernel\n kernel\n call 0 5\n mark b\n behind\n"));
    assert_false(before(CODE "thread 1 kernel\n mark a\n kernel\n call 1 1\n behind\n"
                             "thread 2 kernel\n kernel\n call 0 0\n mark b\n behind\n"));
}

/* ---- at random ---- */

enum { VARIABLES = 4, THREADS_MADE = 4, EVENTS = 300, NODES = 2 * EVENTS + 64, SEEDS = 12 };

/* Instructions in order, and for each which others are before it: by the rule, taken literally. */
struct naive {
    struct random_text text;
    unsigned nodes;
    unsigned thread[NODES];
    bool before[NODES][NODES];  /* [b][a] */
    int last[THREADS_MADE];     /* instruction of each thread, -1: none */
    int written[VARIABLES + 1]; /* who wrote the variable last; the last one is the messages */
    int made_by[THREADS_MADE];  /* the instruction that is before all of the thread; -1: none */
    unsigned now;
};

static void comes_before(struct naive *n, int a, unsigned b)
{
    if (a < 0)
        return;
    n->before[b][a] = true;
    for (unsigned i = 0; i < n->nodes; i++)
        n->before[b][i] |= n->before[a][i];
}

/* An instruction of the thread that runs; it reads and writes a variable, or -1: none. */
static void execute(struct naive *n, int variable, bool reads, bool writes)
{
    unsigned b = n->nodes++;
    assert_true(b < NODES);
    n->thread[b] = n->now;
    comes_before(n, n->last[n->now] >= 0 ? n->last[n->now] : n->made_by[n->now], b);
    if (variable >= 0 && reads)
        comes_before(n, n->written[variable], b);
    if (variable >= 0 && writes)
        n->written[variable] = (int)b;
    n->last[n->now] = (int)b;
}

static void access(struct naive *n, const char *block, unsigned variable, bool reads, bool writes)
{
    random_text_put(&n->text, "%s rdi=%x\n", block, 0x5000 + 8 * variable);
    execute(n, (int)variable, reads, writes);
    execute(n, -1, false, false);
}

static void system_call(struct naive *n, bool sends)
{
    random_text_put(&n->text, "kernel\n call %d 5\n behind\n", sends ? 1 : 0);
    execute(n, -1, false, false);
    execute(n, VARIABLES, true, sends);
    execute(n, -1, false, false);
    execute(n, -1, false, false);
}

/* Another thread runs, which is made if it is new. */
static void change_thread(struct naive *n)
{
    unsigned next = random_text_below(&n->text, THREADS_MADE);
    bool new = next && n->last[next] < 0;
    if (new &&random_text_below(&n->text, 3)) {
        n->made_by[next] = n->last[n->now];
        random_text_put(&n->text, "begin %u\n", next + 1);
    }
    random_text_put(&n->text, new ? "thread %u go\n" : "thread %u\n", next + 1);
    n->now = next;
    if (!new)
        return;
    random_text_put(&n->text, "go\n");
    execute(n, -1, false, false);
    execute(n, -1, false, false);
}

static void make_random(struct naive *n)
{
    for (unsigned i = 0; i < THREADS_MADE; i++)
        n->last[i] = n->made_by[i] = -1;
    for (unsigned i = 0; i <= VARIABLES; i++)
        n->written[i] = -1;
    random_text_put(&n->text, CODE "thread 1 lock\n");
    for (unsigned v = 0; v < VARIABLES; v++)
        access(n, "lock", v, true, true);
    while (n->nodes + 8 < 2 * EVENTS) {
        unsigned v = random_text_below(&n->text, VARIABLES);
        switch (random_text_below(&n->text, 8)) {
        case 0:
            access(n, "lock", v, true, true);
            break;
        case 1:
            access(n, "store", v, false, true);
            break;
        case 2:
            access(n, "load", v, true, false);
            break;
        case 3:
            system_call(n, random_text_below(&n->text, 2));
            break;
        default:
            change_thread(n);
            break;
        }
    }
}

static void orders_at_random_are_those_by_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct naive *n = calloc(1, sizeof *n);
        struct ordered o;
        unsigned pairs = 0, ordered = 0;
        n->text.seed = seed;
        make_random(n);
        ordered_init(&o, n->text.text);
        assert_int_equal(trace_insns(o.study.trace), n->nodes);
        for (unsigned b = 0; b < n->nodes; b++)
            for (unsigned a = 0; a < b; a++) {
                if (n->thread[a] == n->thread[b])
                    continue;
                uint32_t ta = trace_thread_find(o.study.trace, n->thread[a] + 1);
                uint32_t tb = trace_thread_find(o.study.trace, n->thread[b] + 1);
                bool is = clocks_before(o.clocks, (struct clocks_point){ta, a},
                                        (struct clocks_point){tb, b});
                pairs++;
                ordered += is;
                if (is != n->before[b][a])
                    fail_msg("seed %d: %u of thread %u before %u of thread %u: %d", (int)seed, a,
                             n->thread[a] + 1, b, n->thread[b] + 1, is);
            }
        assert_true(ordered > pairs / 10 && ordered < pairs);
        ordered_deinit(&o);
        free(n);
    }
}

/* ---- no memory ---- */

static void no_memory_is_told(void **state)
{
    (void)state;
    struct ordered o;
    unsigned told = 0;
    struct err err = {.msg = ""};
    ordered_init(&o, CODE "thread 1 go\n mark a\n go\n kernel\n call 56\n begin 2\n behind\n"
                          "lock rdi=5000\n thread 2 go\n go\n lock rdi=5000\n mark b\n go\n"
                          "thread 1\n lock rdi=5000\n kernel\n call 1 5\n behind\n");
    struct clocks_point a = {0, trace_text_mark(o.t, "a")}, b = {1, trace_text_mark(o.t, "b")};
    bool failed = true;
    for (uint64_t n = 0; failed; n++) {
        struct sync sync = {0};
        struct clocks *c = NULL;
        failing_begin(n);
        if (!sync_init(&sync, &o.study, &err))
            c = clocks_new(&o.study, &sync, NULL, &err);
        failed = failing_end();
        told += !c;
        if (c)
            assert_true(clocks_before(c, a, b) && clocks_changes(c) == clocks_changes(o.clocks));
        else
            assert_non_null(strstr(err.msg, "no memory"));
        clocks_free(c);
        sync_deinit(&sync);
    }
    assert_true(told >= 10);
    ordered_deinit(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_alone_have_no_order),
        cmocka_unit_test(a_lock_orders),
        cmocka_unit_test(memory_that_nobody_locks_does_not_order),
        cmocka_unit_test(order_passes_through_a_third_thread),
        cmocka_unit_test(who_makes_a_thread_is_before_it),
        cmocka_unit_test(a_threads_end_is_before_who_waited_for_it),
        cmocka_unit_test(messages_order_and_files_do_not),
        cmocka_unit_test(orders_at_random_are_those_by_definition),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
