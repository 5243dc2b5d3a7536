/* trace_scan_pack_test.c - scans as bytes: the same again, and damaged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "trace/scan_pack.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"

#define TEXT                                                                                       \
    "block main 1000: call f\n"                                                                    \
    "block f 2000: push rbx; jmp rax\n"                                                            \
    "block write 2100: mov [rdi],rax; jmp rax\n"                                                   \
    "block kernel 2200: nop; syscall\n"                                                            \
    "block odd 2203: nop; jmp rax\n"                                                               \
    "block loop 2300: nop; jmp rax\n"                                                              \
    "block out 2600: pop rbx; ret\n"                                                               \
    "block handled 2700: nop; syscall\n"                                                           \
    "block spin 3200: nop; jmp rax\n"                                                              \
    "thread 1 main rsp=7000\n"                                                                     \
    "main\n f\n write rdi=9000\n kernel\n call 0 w 20000 40000\n odd\n"                            \
    "signal 10 at loop to handled frame 5000\n handled\n sigreturn 5000 -> loop\n"                 \
    "loop rsp=6ff0 x 70000\n write rdi=a123\n"                                                     \
    "thread 2 spin\n spin x 70000\n thread 1\n out\n"

struct made {
    struct trace_text *text;
    struct trace *trace;
    struct scan scan;
    uint8_t *bytes;
    size_t count;
};

static void make(struct made *m)
{
    struct err err;
    m->text = trace_text_new(TEXT);
    m->trace = trace_text_trace(m->text);
    if (scan_init(&m->scan, m->trace, &(struct scan_options){.max_save = SCAN_MAX_SAVE}, &err))
        fail_msg("%s", err.msg);
    m->bytes = scan_pack(&m->scan, &m->count);
    assert_non_null(m->bytes);
}

static void drop(struct made *m)
{
    free(m->bytes);
    scan_deinit(&m->scan);
    trace_text_free(m->text);
}

static int unpack(const struct made *m, const uint8_t *bytes, size_t count, struct scan *out)
{
    return scan_unpack_all(bytes, count, m->trace, trace_code(m->trace), out);
}

static void gists_tell_what_chunks_do(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    const struct gist *first = &m.scan.chunk[0].gist, *second = &m.scan.chunk[1].gist;
    assert_int_equal(m.scan.chunks, 3);
    assert_true(first->odd);
    assert_false(second->odd);
    assert_true(gist_writes(first, 0x9007, 1));
    assert_true(gist_writes(first, 0x20000, 1) && gist_writes(first, 0x5ffff, 1));
    assert_true(gist_writes(first, 0x1000, 0x9000));
    assert_false(gist_writes(first, 0x9008, 8));
    assert_false(gist_writes(first, 0x60000, 0x1000));
    assert_false(gist_writes(first, 0xa123, 8));
    assert_true(gist_writes(second, 0xa123, 1) && gist_writes(second, 0xa12a, 1));
    assert_false(gist_writes(second, 0x9000, 8));
    assert_int_equal(second->threads, 2);
    const uint32_t carry = gist_thread(second, 0)->carry;
    assert_int_equal(code_block(trace_code(m.trace), carry - 1)->pc,
                     trace_text_place(m.text, "loop"));
    assert_null(gist_thread(&m.scan.chunk[1].gist, 2));
    drop(&m);
}

static void what_is_packed_is_the_same_again(void **state)
{
    (void)state;
    struct made m;
    struct scan again;
    size_t count;
    make(&m);
    assert_int_equal(unpack(&m, m.bytes, m.count, &again), 0);
    uint8_t *bytes = scan_pack(&again, &count);
    assert_non_null(bytes);
    assert_int_equal(count, m.count);
    assert_memory_equal(bytes, m.bytes, count);
    free(bytes);
    scan_deinit(&again);
    drop(&m);
}

static void what_ends_early_is_refused(void **state)
{
    (void)state;
    struct made m;
    struct scan s;
    make(&m);
    for (size_t n = 0; n < m.count; n++) {
        uint8_t *less = malloc(n + 1); /* so that reading behind it is seen */
        memcpy(less, m.bytes, n);
        uint8_t *fit = realloc(less, n ? n : 1);
        assert_int_equal(unpack(&m, fit, n, &s), -1);
        free(fit);
    }
    drop(&m);
}

/* Whatever is taken can be used: all that it names is there. */
static void use(const struct made *m, const struct scan *s, gaddr addr)
{
    const uint32_t blocks = code_count(trace_code(m->trace));
    struct scan_lists l = {0};
    struct err err;
    for (uint32_t i = 0; i < s->chunks; i++) {
        const struct gist *g = &s->chunk[i].gist;
        assert_int_equal(scan_unpack(&s->chunk[i], &l, &err), 0);
        gist_writes(g, addr, 8);
        for (uint32_t k = 0; k < g->threads; k++) {
            assert_true(g->thread[k].thread < trace_threads(m->trace));
            assert_true(g->thread[k].carry <= blocks);
        }
        for (uint32_t k = 0; k < g->blocks; k++)
            assert_true(g->block[k] < blocks);
        for (uint32_t k = 1; k < g->ranges; k++)
            assert_true(g->range[k].addr >= g->range[k - 1].last);
    }
    scan_lists_deinit(&l);
}

static void damaged_ones_are_refused_or_harmless(void **state)
{
    (void)state;
    enum { TRIES = 4000 };
    struct random_text *r = calloc(1, sizeof *r);
    struct made m;
    unsigned refused = 0;
    make(&m);
    r->seed = 7;
    for (unsigned i = 0; i < TRIES; i++) {
        struct scan s;
        uint8_t *bytes = malloc(m.count);
        memcpy(bytes, m.bytes, m.count);
        for (unsigned n = 1 + random_text_below(r, 3); n-- > 0;)
            bytes[random_text_below(r, (unsigned)m.count)] ^=
                (uint8_t)(1u << random_text_below(r, 8));
        if (unpack(&m, bytes, m.count, &s)) {
            refused++;
        } else {
            use(&m, &s, random_text_below(r, 1u << 20));
            scan_deinit(&s);
        }
        free(bytes);
    }
    assert_true(refused > TRIES / 10);
    free(r);
    drop(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gists_tell_what_chunks_do),
        cmocka_unit_test(what_is_packed_is_the_same_again),
        cmocka_unit_test(what_ends_early_is_refused),
        cmocka_unit_test(damaged_ones_are_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
