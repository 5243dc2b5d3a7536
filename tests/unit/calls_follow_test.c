/* calls_follow_test.c - executions of functions: begins, ends, instructions in them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "facts/calls/follow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/failing.h"
#include "tests/unit/trace_text.h"
#include "tests/unit/unit.h"

struct seen {
    const char *const *name; /* of the blocks that begin functions; NULL ends it */
    char text[2048];
};

__attribute__((format(printf, 2, 3))) static void put(struct seen *s, const char *fmt, ...)
{
    size_t used = strlen(s->text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(s->text + used, sizeof s->text - used, fmt, args);
    va_end(args);
}

static int begin(void *arg, struct follow *f, uint32_t thread, struct follow_call *c,
                 struct err *err)
{
    static const char how[] = {
        [FOLLOW_CALLED] = ' ', [FOLLOW_JUMPED] = '~', [FOLLOW_SIGNAL] = '!', [FOLLOW_THREAD] = '*'};
    struct seen *s = arg;
    (void)err;
    put(s, "%c%s", how[c->how], s->name[c->function]);
    if (c->depth)
        put(s, "@%u", c->depth);
    if (c->again)
        put(s, "#%u", c->again);
    assert_int_equal(follow_position(f).thread, trace_thread(f->trace, thread));
    assert_int_equal(follow_position(f).pc, c->entry);
    return 0;
}

static int over(void *arg, struct follow *f, uint32_t thread, struct follow_call *c,
                enum follow_end end, struct err *err)
{
    static const char *const how[] = {[FOLLOW_RETURNED] = "",
                                      [FOLLOW_TAIL] = "~",
                                      [FOLLOW_UNWOUND] = "^",
                                      [FOLLOW_RUNNING] = "..."};
    struct seen *s = arg;
    const struct follow_thread *t = &f->thread[thread];
    (void)err;
    put(s, " /%s%s=%llu,%llu", s->name[c->function], how[end],
        (unsigned long long)follow_inclusive(t, c), (unsigned long long)follow_self(t, c));
    return 0;
}

static void want(struct follow *f, const struct trace_text *t, const char *const *name)
{
    const struct code *code = trace_code(f->trace);
    for (uint32_t n = 0; name[n]; n++, f->functions = n)
        for (uint32_t i = 0; i < code_count(code); i++)
            if (code_block(code, i)->pc == trace_text_place(t, name[n])) {
                f->block[i].function = n;
                f->block[i].flags |= FOLLOW_START;
            }
}

static void pass(const struct trace_text *t, struct seen *s, struct follow_odd **odd, size_t *odds)
{
    struct follow f;
    struct err err;
    const struct follow_visitor v = {.arg = s, .begin = begin, .end = over};
    assert_int_equal(follow_init(&f, trace_text_trace(t), &err), 0);
    f.odd = *odd;
    f.odds = *odds;
    f.odds_known = *odd;
    want(&f, t, s->name);
    assert_int_equal(follow_pass(&f, &v, &err), 0);
    *odd = realloc(f.odd, sizeof **odd * (f.odds + 1));
    *odds = f.odds;
    f.odd = NULL;
    follow_deinit(&f);
}

/* What happened, as text: begins with how, depth and recursion, ends with how, inclusive, self. The
 * same must come out without values. */
static const char *followed(const char *text, const char *const *name)
{
    static struct seen s, without;
    struct trace_text *t = trace_text_new(text);
    struct follow_odd *odd = NULL;
    size_t odds = 0;
    s = without = (struct seen){.name = name};
    pass(t, &s, &odd, &odds);
    pass(t, &without, &odd, &odds);
    assert_string_equal(without.text, s.text);
    free(odd);
    trace_text_free(t);
    return s.text;
}

static const char *const F[] = {"f", NULL}, *const FG[] = {"f", "g", NULL},
                         *const FGH[] = {"f", "g", "h", NULL};

static void calls_nest(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block main2 1005: nop; ret\n"
                                 "block f 2000: push rbx; call g\n"
                                 "block f2 2006: pop rbx; ret\n"
                                 "block g 3000: nop; ret\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f\n g\n f2\n main2\n",
                                 FG),
                        " f@1 g@2 /g=2,2 /f=6,4");
}

/* What nobody asked for is not told, but counts in what called it. */
static void only_wanted_functions_are_told(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block main2 1005: nop; ret\n"
                                 "block f 2000: push rbx; call g\n"
                                 "block f2 2006: pop rbx; ret\n"
                                 "block g 3000: nop; ret\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f\n g\n f2\n main2\n",
                                 F),
                        " f@1 /f=6,4");
}

static void recursion_is_numbered(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block main2 1005: nop; ret\n"
                                 "block f 2000: nop; jmp rax\n"
                                 "block again 2100: call f\n"
                                 "block back 2105: nop; ret\n"
                                 "block end 2200: ret\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f\n again\n f\n end\n back\n main2\n",
                                 F),
                        " f@1 f@2#1 /f=3,3 /f=8,5");
}

static void a_tail_call_returns_with_its_caller(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block main2 1005: nop; call g\n"
                                 "block main3 100b: nop; ret\n"
                                 "block f 2000: nop; jmp g\n"
                                 "block g 3000: nop; nop; ret\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f\n g\n main2\n g\n main3\n",
                                 FG),
                        " f@1~g@1 /g=3,3 /f~=5,2 g@1 /g=3,3");
}

/* It is never called: the trace does not know it as a function. */
static void a_function_that_is_only_jumped_to_is_told(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block main2 1005: nop; ret\n"
                                 "block f 2000: nop; jmp g\n"
                                 "block g 3000: nop; jmp h\n"
                                 "block h 4000: nop; ret\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f\n g\n h\n main2\n",
                                 FGH),
                        " f@1~g@1~h@1 /h=2,2 /g~=4,2 /f~=6,2");
}

static void a_loop_to_the_first_instruction_is_no_call(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block main2 1005: nop; ret\n"
                                 "block f 2000: nop; jmp f\n"
                                 "block f2 2006: nop; ret\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f x 3\n",
                                 F),
                        " f@1 /f...=6,6");
}

static void longjmp_unwinds(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block main2 1005: nop; ret\n"
                                 "block f 2000: push rbx; call g\n"
                                 "block g 3000: nop; call h\n"
                                 "block h 4000: nop; mov rsp,rbx; jmp main2\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f\n g\n h then rsp=7000\n main2\n",
                                 FGH),
                        " f@1 g@2 h@3 /h^=3,3 /g^=5,2 /f^=7,2");
}

static void a_return_over_several_frames_unwinds_those_above(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block main2 1005: nop; ret\n"
                                 "block f 2000: push rbx; call g\n"
                                 "block g 3000: nop; add rsp,16; ret\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f\n g\n main2\n",
                                 FG),
                        " f@1 g@2 /g^=3,3 /f=5,2");
}

/* The function that was about to begin when the signal came begins when the handler is over. */
static void a_handler_is_an_execution(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block f 2000: push rbx; call g\n"
                                 "block f2 2006: pop rbx; ret\n"
                                 "block g 3000: nop; ret\n"
                                 "block h 4000: nop; ret\n"
                                 "block restorer 4010: nop; syscall\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n f\n"
                                 "signal 10 at g to h frame 6000\n"
                                 "h\n restorer\n"
                                 "sigreturn 6000 -> g\n"
                                 "g rsp=6fe8\n f2\n",
                                 FGH),
                        " f@1!h@3 /h=2,2 g@2 /g=6,2 /f...=10,4");
}

static void threads_are_followed_apart(void **state)
{
    (void)state;
    assert_string_equal(followed("block main 1000: call f\n"
                                 "block f 2000: push rbx; call g\n"
                                 "block g 3000: nop; ret\n"
                                 "block f2 2006: pop rbx; ret\n"
                                 "thread 1 main rsp=7000\n"
                                 "main\n"
                                 "thread 2 g rsp=9000\n"
                                 "thread 1\n"
                                 "f\n"
                                 "thread 2\n"
                                 "g\n"
                                 "thread 1\n"
                                 "g\n f2\n",
                                 FG),
                        " f@1*g g@2 /g=2,2 /f...=6,4 /g...=2,2");
}

static void no_memory_is_told(void **state)
{
    (void)state;
    static const char *const names[] = {"f", "g", NULL};
    struct trace_text *t = trace_text_new("block main 1000: call f\n"
                                          "block main2 1005: nop; ret\n"
                                          "block f 2000: push rbx; call g\n"
                                          "block g 3000: nop; add rsp,16; ret\n"
                                          "thread 1 main rsp=7000\n"
                                          "main\n f\n g\n main2\n");
    unsigned told = 0;
    bool failed = true;
    for (uint64_t n = 0; failed; n++) {
        struct seen s = {.name = names};
        const struct follow_visitor v = {.arg = &s, .begin = begin, .end = over};
        struct follow f = {0};
        struct err err = {.msg = ""};
        failing_begin(n);
        int end = follow_init(&f, trace_text_trace(t), &err);
        if (!end) {
            want(&f, t, names);
            end = follow_pass(&f, &v, &err);
        }
        failed = failing_end();
        follow_deinit(&f);
        told += end == -1;
        if (end)
            assert_non_null(strstr(err.msg, "no memory"));
        else
            assert_string_equal(s.text, " f@1 g@2 /g^=3,3 /f=5,2");
    }
    assert_true(told >= 8);
    trace_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_nest),
        cmocka_unit_test(only_wanted_functions_are_told),
        cmocka_unit_test(recursion_is_numbered),
        cmocka_unit_test(a_tail_call_returns_with_its_caller),
        cmocka_unit_test(a_function_that_is_only_jumped_to_is_told),
        cmocka_unit_test(a_loop_to_the_first_instruction_is_no_call),
        cmocka_unit_test(longjmp_unwinds),
        cmocka_unit_test(a_return_over_several_frames_unwinds_those_above),
        cmocka_unit_test(a_handler_is_an_execution),
        cmocka_unit_test(threads_are_followed_apart),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
