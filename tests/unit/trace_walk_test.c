/* trace_walk_test.c - a chunk's notes and steps, in both directions. SPDX-License-Identifier: MIT
 */
#include "trace/walk.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"

enum { MET = 4096, SEEDS = 20 };

/* What was met. */
struct met {
    const struct trace_step *step;
    const struct flow_note *note;
    uint32_t thread, steps;
    uint64_t insns;
};

static struct met what(const struct trace_walk *w)
{
    return (struct met){w->step, w->note, w->thread, trace_walk_steps(w), w->insns};
}

static void assert_same(const struct met *a, const struct met *b)
{
    assert_ptr_equal(a->step, b->step);
    assert_ptr_equal(a->note, b->note);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->insns, b->insns);
}

static void read_first(const struct trace_text *t, struct trace_chunk *c)
{
    struct err err;
    assert_int_equal(trace_read(trace_text_trace(t), 0, c, &err), 0);
}

static void tells_threads_and_instructions(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new("block a 1000: nop; syscall\n"
                                          "block b 1003: nop; nop; jmp rax\n"
                                          "thread 1 a\n"
                                          "a\n call 39\n begin 2\n"
                                          "thread 2 b\n begin 3\n b\n"
                                          "thread 1\n begin 4\n");
    static const struct {
        uint32_t kind, thread; /* 0: a step */
        uint64_t insns;
    } right[] = {{FLOW_THREAD, 1, 0}, {0, 1, 0},           {FLOW_CALL, 1, 2},
                 {FLOW_BEGIN, 1, 2},  {FLOW_THREAD, 2, 2}, {FLOW_BEGIN, 2, 2},
                 {0, 2, 2},           {FLOW_THREAD, 1, 5}, {FLOW_BEGIN, 1, 5}};
    enum { COUNT = sizeof right / sizeof *right };
    struct trace_chunk c = {0};
    struct trace_walk w;
    read_first(t, &c);
    trace_walk_end(&w, trace_text_trace(t), &c, 0);
    for (unsigned i = COUNT; i-- > 0;) {
        assert_true(trace_walk_prev(&w));
        assert_int_equal(w.note ? w.note->kind : 0, right[i].kind);
        assert_int_equal(trace_thread(w.trace, w.thread), right[i].thread);
        assert_int_equal(w.insns, right[i].insns);
    }
    assert_false(trace_walk_prev(&w));
    for (unsigned i = 0; i < COUNT; i++) {
        assert_true(trace_walk_next(&w));
        assert_int_equal(w.note ? w.note->kind : 0, right[i].kind);
        assert_int_equal(trace_thread(w.trace, w.thread), right[i].thread);
        assert_int_equal(w.insns, right[i].insns);
    }
    assert_false(trace_walk_next(&w));
    trace_chunk_deinit(&c);
    trace_text_free(t);
}

static void tells_what_is_ahead(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new("block a 1000: nop; syscall\n"
                                          "block b 1003: nop; jmp rax\n"
                                          "thread 1 a\n a\n call 39\n begin 2\n b\n");
    struct trace_chunk c = {0};
    struct trace_walk w;
    read_first(t, &c);
    trace_walk_begin(&w, trace_text_trace(t), &c, 0);
    while (trace_walk_next(&w) && !w.step)
        ;
    assert_int_equal(trace_walk_ahead(&w, 0)->kind, FLOW_CALL);
    assert_int_equal(trace_walk_ahead(&w, 1)->kind, FLOW_BEGIN);
    assert_null(trace_walk_ahead(&w, 2));
    assert_true(trace_walk_next(&w) && trace_walk_next(&w) && trace_walk_next(&w));
    assert_non_null(w.step);
    assert_null(trace_walk_ahead(&w, 0));
    trace_chunk_deinit(&c);
    trace_text_free(t);
}

static void make_random(struct random_text *r)
{
    static const char *const line[] = {"begin 9\n", "access a w 5000 8\n", "a\n call 39\n", "b\n"};
    random_text_put(r, "block a 1000: nop; syscall\nblock b 1003: nop; jmp rax\n");
    for (unsigned i = 1; i <= 3; i++)
        random_text_put(r, "thread %u b\n b\n", i);
    for (unsigned i = 0; i < 400; i++) {
        if (random_text_below(r, 3) == 0)
            random_text_put(r, "thread %u\n", 1 + random_text_below(r, 3));
        /* Anything may follow a jump through a register; a call goes on behind it. */
        const char *text = line[random_text_below(r, 4)];
        random_text_put(r, "%s", text);
        if (text[0] == 'a' && text[1] == '\n')
            random_text_put(r, "b\n");
    }
}

/* All that is met, forwards; the number of it. */
static unsigned forwards(const struct trace *trace, const struct trace_chunk *c, struct met *out)
{
    struct trace_walk w;
    unsigned n = 0;
    trace_walk_begin(&w, trace, c, 0);
    while (trace_walk_next(&w) && n < MET)
        out[n++] = what(&w);
    return n;
}

static void backwards_is_the_same_in_reverse(void **state)
{
    (void)state;
    struct random_text *r = calloc(1, sizeof *r);
    struct met *met = calloc(MET, sizeof *met);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        *r = (struct random_text){.seed = seed};
        make_random(r);
        struct trace_text *t = trace_text_new(r->text);
        struct trace_chunk c = {0};
        struct trace_walk w;
        read_first(t, &c);
        unsigned n = forwards(trace_text_trace(t), &c, met);
        assert_true(n > 400 && n < MET);
        trace_walk_end(&w, trace_text_trace(t), &c, 0);
        for (unsigned i = n; i-- > 0;) {
            assert_true(trace_walk_prev(&w));
            struct met now = what(&w);
            assert_same(&met[i], &now);
            if (random_text_below(r, 4))
                continue;
            /* It may turn round anywhere. */
            assert_true(trace_walk_next(&w));
            now = what(&w);
            assert_same(&met[i], &now);
            assert_true(trace_walk_prev(&w));
            now = what(&w);
            assert_same(&met[i], &now);
        }
        assert_false(trace_walk_prev(&w));
        trace_chunk_deinit(&c);
        trace_text_free(t);
    }
    free(met);
    free(r);
}

/* ---- visitors ---- */

struct visits {
    unsigned steps, notes, most;
    uint32_t last_chunk;
};

static int visit_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct visits *v = arg;
    v->last_chunk = w->chunk->number;
    return ++v->steps == v->most ? err_set(err, "enough") : 0;
}

static int visit_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct visits *v = arg;
    (void)w;
    (void)err;
    v->notes++;
    return 0;
}

static void a_visitor_sees_all_chunks_or_ends_it(void **state)
{
    (void)state;
    static const struct trace_visitor visitor = {visit_step, visit_note};
    struct trace_text *t = trace_text_new("block a 1000: nop; jmp rax\n"
                                          "thread 1 a\n a x 70000\n begin 2\n a\n");
    struct err err = {.msg = ""};
    struct visits v = {0};
    assert_int_equal(trace_chunks(trace_text_trace(t)), 2);
    assert_int_equal(trace_walk_all(trace_text_trace(t), 0, &visitor, &v, &err), 0);
    assert_int_equal(v.steps, 70001);
    assert_int_equal(v.notes, 2);
    assert_int_equal(v.last_chunk, 1);
    v = (struct visits){.most = 5};
    assert_int_equal(trace_walk_all(trace_text_trace(t), 0, &visitor, &v, &err), -1);
    assert_string_equal(err.msg, "enough");
    assert_int_equal(v.steps, 5);
    trace_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_threads_and_instructions),
        cmocka_unit_test(tells_what_is_ahead),
        cmocka_unit_test(backwards_is_the_same_in_reverse),
        cmocka_unit_test(a_visitor_sees_all_chunks_or_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
