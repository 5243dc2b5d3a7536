/* trace_extend_test.c - a trace that was extended is the one that was made at once.
 *
 * SPDX-License-Identifier: MIT
 *
 * The text up to some line makes the old trace. What a replay would tell from the place on where
 * that is extended is taken from the trace of the whole text, with other numbers of blocks.
 */
#define _GNU_SOURCE /* memfd_create */
#include "trace/extend.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"
#include "trace/number.h"
#include "trace/walk.h"

enum { WORDS = 1 << 16, NOTES_BYTES = 1 << 20, SEEDS = 10 };

/* ---- what comes next ---- */

static struct {
    uint64_t word[WORDS];
    size_t words;
    uint8_t note[NOTES_BYTES] __attribute__((aligned(8)));
    size_t bytes;
} next;

static struct flow_note *tell(const struct flow_note *n, size_t bytes)
{
    struct flow_note *to = (struct flow_note *)(next.note + next.bytes);
    assert_true(next.bytes + bytes <= sizeof next.note);
    memcpy(to, n, n->bytes);
    to->bytes = (uint32_t)bytes;
    to->at = next.words;
    next.bytes += bytes;
    return to;
}

static void tell_thread(const struct position *at)
{
    const struct flow_thread n = {
        .note = {FLOW_THREAD, sizeof n, 0, at->count}, .thread = at->thread, .pc = at->pc};
    tell(&n.note, sizeof n);
}

/* The last block is the first. */
static void tell_blocks(const struct code *code)
{
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, code_count(code) - 1 - i);
        const struct flow_block n = {
            .note = {FLOW_BLOCK, sizeof n, 0, 0}, .number = i, .insns = b->insns, .pc = b->pc};
        const size_t bytes = sizeof n + b->insns + (size_t)(b->end - b->pc);
        uint8_t *len = (uint8_t *)tell(&n.note, (bytes + 7) & ~7ull) + sizeof n;
        uint8_t *byte = len + b->insns;
        for (uint32_t k = 0; k < b->insns; byte += b->insn[k++].in.len) {
            len[k] = b->insn[k].in.len;
            memcpy(byte, b->insn[k].in.bytes, len[k]);
        }
    }
}

/* All of the whole trace from an instruction on. */
static void tell_rest(struct trace *whole, uint64_t insn)
{
    const struct code *code = trace_code(whole);
    struct trace_chunk c = {0};
    struct trace_walk w;
    struct err err;
    bool begun = false;
    assert_int_equal(trace_chunks(whole), 1);
    assert_int_equal(trace_read(whole, 0, &c, &err), 0);
    trace_walk_begin(&w, whole, &c, 0);
    while (trace_walk_next(&w)) {
        begun |= w.step && w.insns == insn && w.step->insns;
        if (!begun)
            continue;
        if (w.note) {
            tell(w.note, w.note->bytes);
            continue;
        }
        const struct code_block *b = code_block(code, w.step->block);
        assert_true(next.words + 1 + b->slots <= WORDS);
        next.word[next.words++] = code_count(code) - 1 - b->number;
        memcpy(next.word + next.words, c.value + w.step->value_at, 8u * b->slots);
        next.words += b->slots;
    }
    assert_true(begun);
    trace_chunk_deinit(&c);
}

/* ---- extending ---- */

/* Returns a file, or -1 if there is nothing to go on from. */
static int extend(struct trace *old, struct trace *whole)
{
    struct err err = {.code = 0};
    struct position at;
    uint64_t insn;
    const int fd = memfd_create("extended", 0);
    const struct collect_options o = {.unnamed = true, .fd = fd};
    struct collector *c = collector_new("extended", &o, &err);
    assert_non_null(c);
    const int more = extend_begin(c, old, &at, &err);
    assert_true(more >= 0);
    if (more) {
        next.words = next.bytes = 0;
        assert_int_equal(number_find(whole, &at, &insn, &err), 1);
        tell_thread(&at);
        tell_blocks(trace_code(whole));
        tell_rest(whole, insn);
        if (collector_take(c, next.word, 8 * next.words, next.note, next.bytes, &err) ||
            collector_finish(c, NULL, 0, "from text", &err))
            fail_msg("%s", err.msg);
    }
    collector_free(c);
    if (!more)
        close(fd);
    return more ? fd : -1;
}

/* ---- comparing ---- */

static void same_chunk(const struct trace *a, const struct trace *b, const struct trace_chunk *c,
                       const struct trace_chunk *d)
{
    assert_int_equal(c->steps, d->steps);
    assert_int_equal(c->values, d->values);
    assert_int_equal(c->notes, d->notes);
    assert_int_equal(c->bytes_used, d->bytes_used);
    assert_memory_equal(c->value, d->value, 8 * c->values);
    assert_memory_equal(c->bytes, d->bytes, c->bytes_used);
    assert_memory_equal(c->note, d->note, sizeof *c->note * c->notes);
    for (uint32_t i = 0; i < c->steps; i++) {
        const struct trace_step *s = &c->step[i], *t = &d->step[i];
        assert_int_equal(code_block(trace_code((struct trace *)a), s->block)->pc,
                         code_block(trace_code((struct trace *)b), t->block)->pc);
        assert_int_equal(s->insns, t->insns);
        assert_int_equal(s->insn_at, t->insn_at);
        assert_int_equal(s->thread, t->thread);
        assert_int_equal(s->value_at, t->value_at);
    }
}

/* What all of it has shown, of every instruction. */
static void same_facts(struct trace *a, struct trace *b)
{
    const gaddr *one, *two;
    for (uint32_t i = 0; i < code_count(trace_code(a)); i++) {
        const struct code_block *k = code_block(trace_code(a), i);
        for (uint32_t n = 0; n < k->insns; n++) {
            const gaddr pc = k->insn[n].in.pc;
            assert_int_equal(trace_is_entry(a, pc), trace_is_entry(b, pc));
            assert_int_equal(trace_stays(a, pc), trace_stays(b, pc));
            const size_t targets = trace_targets(a, pc, &one);
            assert_int_equal(trace_targets(b, pc, &two), targets);
            assert_memory_equal(one, two, sizeof *one * targets);
        }
    }
    assert_int_equal(trace_threads(a), trace_threads(b));
    for (uint32_t i = 0; i < trace_threads(a); i++)
        assert_int_equal(trace_thread(a, i), trace_thread(b, i));
}

static void same_trace(struct trace *a, struct trace *b)
{
    struct trace_chunk c = {0}, d = {0};
    struct err err;
    assert_int_equal(trace_insns(a), trace_insns(b));
    assert_int_equal(trace_chunks(a), trace_chunks(b));
    assert_int_equal(trace_read(a, 0, &c, &err), 0);
    assert_int_equal(trace_read(b, 0, &d, &err), 0);
    same_chunk(a, b, &c, &d);
    same_facts(a, b);
    trace_chunk_deinit(&c);
    trace_chunk_deinit(&d);
}

/* ---- tests ---- */

/* Extends what the first `bytes` of the text make. False: there was nothing to go on from. */
static bool extends(struct trace_text *whole, const char *text, size_t bytes)
{
    struct err err;
    char *begin = strndup(text, bytes);
    assert_non_null(begin);
    struct trace_text *old = trace_text_new(begin);
    const int fd = extend(trace_text_trace(old), trace_text_trace(whole));
    if (fd >= 0) {
        struct trace *extended = trace_open_unnamed(fd, &err);
        assert_non_null(extended);
        same_trace(trace_text_trace(whole), extended);
        trace_close(extended);
        close(fd);
    }
    trace_text_free(old);
    free(begin);
    return fd >= 0;
}

static const char story[] = "block main 1000: nop; call f\n"
                            "block back 1006: mov eax,1; syscall\n"
                            "block after 100d: nop; jmp rax\n"
                            "block f 2000: push rbx; je g\n"
                            "block f2 2007: nop; jmp rax\n"
                            "block g 3000: pop rbx; ret\n"
                            "thread 1 main rsp=8000\n"
                            "main\nf\ng\nback\n call 39\nafter rax=1000\n"
                            "main\nf\nf2 rax=3000\ng\nback\n cut back+1\n begin 2\n"
                            "thread 2 f2 rax=2007\nf2\nf2\naccess f2 w 5000 8\nf2\n"
                            "signal 10 at f2 to g frame 7000\n"
                            "thread 1\n";

static void is_the_same_from_every_line_on(void **state)
{
    unsigned done = 0;
    (void)state;
    struct trace_text *whole = trace_text_new(story);
    for (const char *end = strstr(story, "main\nf"); (end = strchr(end, '\n')) && *++end;)
        done += extends(whole, story, (size_t)(end - story));
    assert_true(done > 10);
    trace_text_free(whole);
}

static void has_nothing_to_go_on_from_at_the_beginning(void **state)
{
    (void)state;
    struct trace_text *whole = trace_text_new(story);
    const char *end = strstr(story, "main\nf") + strlen("main\n");
    assert_false(extends(whole, story, (size_t)(end - story)));
    trace_text_free(whole);
}

static void is_the_same_at_random_places(void **state)
{
    static struct random_text r;
    static const char *const line[] = {"begin 9\n", "access a w 5000 8\n", "a\n call 39\nb\n",
                                       "b\n", "b\nb\nb\n"};
    unsigned done = 0;
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        r.seed = seed;
        r.used = 0;
        random_text_put(&r, "block a 1000: nop; syscall\nblock b 1003: nop; jmp rax\n");
        for (unsigned i = 1; i <= 3; i++)
            random_text_put(&r, "thread %u b\n b\n", i);
        for (unsigned i = 0; i < 200; i++) {
            if (random_text_below(&r, 3) == 0)
                random_text_put(&r, "thread %u\n", 1 + random_text_below(&r, 3));
            random_text_put(&r, "%s", line[random_text_below(&r, 5)]);
        }
        struct trace_text *whole = trace_text_new(r.text);
        for (unsigned i = 0; i < 10; i++) {
            const char *end = strchr(r.text + r.used / 4 + random_text_below(&r, 1000), '\n');
            done += extends(whole, r.text, (size_t)(end + 1 - r.text));
        }
        trace_text_free(whole);
    }
    assert_true(done > 5 * SEEDS);
}

static void refuses_a_replay_that_goes_on_elsewhere(void **state)
{
    struct err err = {.code = 0};
    struct position at;
    (void)state;
    struct trace_text *t = trace_text_new(story);
    const int fd = memfd_create("extended", 0);
    const struct collect_options o = {.unnamed = true, .fd = fd};
    for (unsigned i = 0; i < 2; i++) {
        struct collector *c = collector_new("extended", &o, &err);
        assert_int_equal(extend_begin(c, trace_text_trace(t), &at, &err), 1);
        at.thread += i;
        next.words = next.bytes = 0;
        tell_thread(&at);
        assert_int_equal(collector_take(c, NULL, 0, next.note, next.bytes, &err), i ? -1 : 0);
        collector_free(c);
    }
    assert_non_null(strstr(err.msg, "goes on elsewhere"));
    close(fd);
    trace_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_same_from_every_line_on),
        cmocka_unit_test(has_nothing_to_go_on_from_at_the_beginning),
        cmocka_unit_test(is_the_same_at_random_places),
        cmocka_unit_test(refuses_a_replay_that_goes_on_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
