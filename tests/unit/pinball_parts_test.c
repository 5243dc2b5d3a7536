/* pinball_parts_test.c - pinball/'s sums, texts, summary and kept files.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "pinball/ends.h"
#include "pinball/pack.h"
#include "pinball/pinball.h"
#include "pinball/record.h"
#include "pinball/sha256.h"
#include "pinball/sources.h"
#include "pinball/statements.h"
#include "pinball/summary.h"
#include "pinball/text.h"
#include "pinball/writer.h"
#include "pinball/xxh64.h"
#include "tests/unit/pinball_support.h"
#include "tests/unit/unit.h"

/* ---- sums ---- */

/* zstd ends a frame with the low half of the XXH64 of what it holds. */
static uint32_t zstd_sum(const void *data, size_t bytes)
{
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    char out[4096];
    uint32_t sum;

    ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(ctx, out, sizeof out, data, bytes);
    ZSTD_freeCCtx(ctx);
    assert_false(ZSTD_isError(n));
    memcpy(&sum, out + n - sizeof sum, sizeof sum);
    return sum;
}

static void xxh64_agrees_with_others(void **state)
{
    unsigned char data[1000];

    (void)state;
    assert_true(xxh64("", 0, 0) == 0xef46db3751d8e999);
    assert_true(xxh64("a", 1, 0) == 0xd24ec4f1a98c6e5b);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i >> 3);
    for (size_t n = 0; n < sizeof data - 1; n++)
        assert_int_equal((uint32_t)xxh64(data + 1, n, 0), zstd_sum(data + 1, n));
}

static void sha256_is(const char *text, size_t times, const char *want)
{
    char hex[SHA256_HEX];

    for (size_t step = 1; step < 200; step += 31) { /* portions do not matter */
        struct sha256 sha;
        size_t bytes = strlen(text) * times, at = 0;
        char *all = malloc(bytes + 1);
        for (size_t i = 0; i < times; i++)
            memcpy(all + i * strlen(text), text, strlen(text));
        sha256_init(&sha);
        for (; at < bytes; at += step)
            sha256_add(&sha, all + at, bytes - at < step ? bytes - at : step);
        sha256_hex(&sha, hex);
        assert_string_equal(hex, want);
        free(all);
    }
}

/* The examples of FIPS 180-4, and sha256sum's answers around the block size. */
static void sha256_agrees_with_others(void **state)
{
    (void)state;
    sha256_is("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_is("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    sha256_is("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    sha256_is("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    sha256_is("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* ---- texts ---- */

static void texts_keep_any_value(void **state)
{
    static const char *const values[] = {"", " ", "a b", "\n", "\\", "\\n", "\x01\x7f\xff\t", "ü"};
    struct text text = {0};
    struct lines lines;
    struct err err;
    size_t count = sizeof values / sizeof values[0];

    (void)state;
    for (size_t i = 0; i < count; i++)
        text_add(&text, "key_1", values[i]);
    assert_int_equal(text_parse(&lines, text.data, text.bytes, &err), 0);
    assert_int_equal(lines.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(lines.line[i].key, "key_1");
        assert_string_equal(lines.line[i].value, values[i]);
    }
    assert_string_equal(text_get(&lines, "key_1"), "ü");
    assert_null(text_get(&lines, "key_2"));
    text_free_lines(&lines);
    text_deinit(&text);
}

static void texts_refuse_what_is_none(void **state)
{
    static const char *const bad[] = {"a",         "a b",       "\n",      " b\n",    "A b\n",
                                      "a\tb\n",    "a b\n\n",   "a \\\n",  "a \\y\n", "a \\x0\n",
                                      "a \\x00\n", "a \\xAB\n", "a \x01\n"};
    struct lines lines;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (text_parse(&lines, bad[i], strlen(bad[i]), &err) == 0)
            fail_msg("text %zu was taken", i);
    assert_int_equal(text_parse(&lines, "a b\0c\n", 6, &err), -1);
    assert_int_equal(text_parse(&lines, "", 0, &err), 0);
    text_free_lines(&lines);
}

static void numbers_are_exact(void **state)
{
    uint64_t n = 0;

    (void)state;
    assert_int_equal(text_number("18446744073709551615", &n), 0);
    assert_true(n == UINT64_MAX);
    assert_int_equal(text_number("18446744073709551616", &n), -1);
    assert_int_equal(text_number("", &n), -1);
    assert_int_equal(text_number("-1", &n), -1);
    assert_int_equal(text_number("1 ", &n), -1);
}

/* ---- summary ---- */

static void summary_counts(void **state)
{
    struct {
        struct record start;
        struct record_check check;
        struct record_begin begin;
        struct record_switch to;
        struct record_check yield, earlier;
        struct record_switch back;
        struct record_signal signal;
        struct record_end end;
    } r = {
        .start = {RECORD_START, 0, 0, sizeof r.start},
        .check = {.r = {RECORD_CHECK, 0, 0, sizeof r.check}, .at = {.count = 100}},
        .begin = {.r = {RECORD_BEGIN, 0, 0, sizeof r.begin}, .thread = 1},
        .to = {.r = {RECORD_SWITCH, 0, 0, sizeof r.to}, .thread = 1},
        .yield = {.r = {RECORD_YIELD, 0, 0, sizeof r.yield}, .at = {.count = 30}},
        .earlier = {.r = {RECORD_CHECK, 0, 0, sizeof r.earlier}, .at = {.count = 20}},
        .back = {.r = {RECORD_SWITCH, 0, 0, sizeof r.back}, .thread = 0},
        .signal = {.r = {RECORD_SIGNAL, AT_TICK, 0, sizeof r.signal}, .at = {.count = 110}},
        .end = {.r = {RECORD_END, 0, 0, sizeof r.end},
                .at = {.count = 120, .pc = 0x401000},
                .ticks = 150,
                .reason = END_SIGNAL,
                .status = 11},
    };
    struct summary s = {.isa = 0xab};
    struct text text = {0};

    (void)state;
    summary_add(&s, &r, sizeof r);
    assert_true(s.ended);
    summary_text(&s, &text);
    static const char want[] = "reason signal\nstatus 11\nthreads 2\nticks 150\nlast_thread 0\n"
                               "position T0:120:401000\nrecords 9\nsignals 1\nisa ab\n";
    assert_int_equal(text.bytes, strlen(want));
    assert_memory_equal(text.data, want, strlen(want));
    text_deinit(&text);
    summary_deinit(&s);
    for (uint32_t i = END_EXIT; i <= END_REGION; i++)
        assert_int_equal(ends_reason(ends_name(i)), i);
    assert_int_equal(ends_reason(ends_name(99)), 0);
}

/* ---- kept files ---- */

static struct writer *begin(void)
{
    struct err err;
    struct writer *w = writer_new("a", &err);

    assert_non_null(w);
    assert_int_equal(writer_head(w, "a b\n", 4, &err), 0);
    return w;
}

static struct pinball *finish(struct writer *w)
{
    struct err err;

    assert_int_equal(writer_end(w, "a b\n", 4, &err), 0);
    writer_free(w);
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    assert_int_equal(pinball_check(p, NULL, NULL, &err), 0);
    return p;
}

static uint32_t keep(struct writer *w, int fd, uint64_t offset, uint64_t bytes)
{
    uint32_t number;
    uint64_t size;
    struct err err;

    if (writer_keep(w, fd, offset, bytes, &number, &size, &err))
        fail_msg("%s", err.msg);
    return number;
}

static uint32_t keep_path(struct writer *w, const char *path)
{
    int fd = open(path, O_RDONLY);
    uint32_t number = keep(w, fd, 0, 1);

    close(fd);
    return number;
}

/* A file with a ctime that is long past cannot be made; /bin/sh has one. */
static void keeps_an_unchanged_file_once(void **state)
{
    struct writer *w = begin();
    struct err err;

    (void)state;
    assert_int_equal(keep_path(w, "/bin/sh"), 0);
    assert_int_equal(keep_path(w, "/bin/sh"), 0);
    assert_int_equal(writer_keep_flush(w, &err), 0);
    assert_int_equal(keep_path(w, "/bin/sh"), 0);
    struct pinball *p = finish(w);
    assert_int_equal(pinball_files(p), 1);
    assert_non_null(pinball_file(p, 0)->build_id);
    assert_int_equal(strlen(pinball_file(p, 0)->build_id), 40);
    pinball_close(p);
}

static void keeps_a_changed_file_again(void **state)
{
    struct writer *w = begin();
    char data[2];
    struct err err;

    (void)state;
    support_store("x", "1", 1);
    assert_int_equal(keep_path(w, "x"), 0);
    support_store("x", "2", 1); /* maybe in the same tick of the file system's clock */
    assert_int_equal(keep_path(w, "x"), 1);
    support_store("x", "", 0);
    assert_int_equal(keep_path(w, "x"), 2);
    struct pinball *p = finish(w);
    for (uint32_t n = 0; n < 3; n++) {
        assert_int_equal(pinball_file_read(p, n, 0, data, 2, &err), 0);
        assert_memory_equal(data, n == 0 ? "1" : n == 1 ? "2" : "\0", 2);
        assert_true(pinball_file(p, n)->whole);
    }
    pinball_close(p);
}

static void equal_contents_are_stored_once(void **state)
{
    struct writer *w = begin();

    (void)state;
    support_store("x", "same", 4);
    support_store("y", "same", 4);
    assert_int_equal(keep_path(w, "x"), 0);
    assert_int_equal(keep_path(w, "y"), 1);
    struct pinball *p = finish(w);
    assert_string_equal(pinball_file(p, 0)->range[0].sha256, pinball_file(p, 1)->range[0].sha256);
    pinball_close(p);
}

/* Random access over several chunks. */
static void reads_anywhere_in_a_file(void **state)
{
    enum { BYTES = 2 * KEPT_CHUNK_BYTES + 12345 };
    uint32_t *data = malloc(BYTES + 8), part[64];
    struct writer *w = begin();
    struct err err;

    (void)state;
    for (uint32_t i = 0; i < BYTES / 4 + 1; i++)
        data[i] = i * (i % 3);
    support_store("x", data, BYTES);
    keep_path(w, "x");
    struct pinball *p = finish(w);
    static const uint64_t at[] = {2 * KEPT_CHUNK_BYTES - 8, 0, KEPT_CHUNK_BYTES, BYTES - 256, 4096};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        assert_int_equal(pinball_file_read(p, 0, at[i], part, sizeof part, &err), 0);
        assert_memory_equal(part, (char *)data + at[i], sizeof part);
    }
    pinball_close(p);
    free(data);
}

/* Sparse, 65 MiB, and with an old ctime as far as the writer can tell. */
static int make_large(void)
{
    int fd = open("large", O_RDWR | O_CREAT, 0666);

    assert_int_equal(ftruncate(fd, WRITER_WHOLE_BYTES + (1 << 20)), 0);
    for (off_t at = 0; at <= WRITER_WHOLE_BYTES; at += 1 << 20)
        assert_int_equal(pwrite(fd, &at, sizeof at, at), sizeof at);
    return fd;
}

static void keeps_ranges_of_large_files(void **state)
{
    enum { MB = 1 << 20 };
    int fd = make_large();
    struct writer *w = begin();
    uint64_t value;
    struct err err;

    (void)state;
    sleep(4); /* until a change would show */
    assert_int_equal(keep(w, fd, 2 * MB, MB), 0);
    assert_int_equal(keep(w, fd, 4 * MB, 2 * MB), 0);
    assert_int_equal(keep(w, fd, MB, 6 * MB), 0); /* what lies between, too */
    assert_int_equal(keep(w, fd, 4 * MB, 2 * MB), 0);
    assert_int_equal(keep(w, fd, WRITER_WHOLE_BYTES, 9 * MB), 0);
    assert_int_equal(keep(w, fd, UINT64_MAX - 4095, 4096), 0);
    struct pinball *p = finish(w);
    const struct kept_file *f = pinball_file(p, 0);
    assert_false(f->whole);
    assert_int_equal(f->size, WRITER_WHOLE_BYTES + MB);
    assert_int_equal(f->ranges, 6);
    for (uint64_t at = 0; at <= WRITER_WHOLE_BYTES; at += MB) {
        bool kept = (at >= MB && at < 7 * MB) || at == WRITER_WHOLE_BYTES;
        assert_int_equal(pinball_file_read(p, 0, at, &value, sizeof value, &err), 0);
        assert_int_equal(value, kept ? at : 0);
    }
    assert_int_equal(pinball_file_read(p, 0, 3 * MB - 8, (uint64_t[2]){0}, 16, &err), 0);
    pinball_close(p);
    close(fd);
}

static void keeps_files_without_names(void **state)
{
    struct writer *w = begin();
    int fd = memfd_create("m", 0);
    char c;
    struct err err;

    (void)state;
    assert_int_equal(write(fd, "x", 1), 1);
    keep(w, fd, 0, 1);
    writer_free(w); /* without a flush */
    close(fd);
    w = NULL;
    int ring = open("a/ring", O_WRONLY | O_CREAT, 0666);
    close(ring);
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    assert_int_equal(pinball_file_read(p, 0, 0, &c, 1, &err), 0);
    assert_int_equal(c, 'x');
    pinball_close(p);
}

/* ---- what pack adds ---- */

static int count_self(void *arg, const char *path, struct err *err)
{
    (void)err;
    *(int *)arg += strstr(path, "pinball_parts_test.c") != NULL;
    return 0;
}

static void finds_its_own_source(void **state)
{
    struct err err;
    int found = 0, fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_int_equal(sources_list(fd, count_self, &found, &err), 0);
    close(fd);
    assert_true(found > 0);
}

static void make_debug_file(const char *build_id)
{
    char path[200];

    mkdir("debug", 0777);
    mkdir("debug/.build-id", 0777);
    snprintf(path, sizeof path, "debug/.build-id/%.2s", build_id);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
    support_store(path, "debug information", 17);
}

/* The program has executed it: only then its debug information names sources. */
static void map_as_code(struct writer *w, uint32_t file)
{
    const struct record_map map = {.r = {.kind = RECORD_MAP, .bytes = sizeof map},
                                   .prot = PROT_READ | PROT_EXEC,
                                   .file = file};
    struct err err;

    assert_int_equal(writer_events(w, &map, sizeof map, 1, &err), 0);
}

static void packs_debug_files_and_sources(void **state)
{
    struct pack_options options = {.debug = true, .sources = true, .debug_root = "debug"};
    struct writer *w = begin();
    int debug = 0, self = 0, mapped = 0;
    struct err err;

    (void)state;
    map_as_code(w, keep_path(w, "/bin/sh"));
    map_as_code(w, keep_path(w, "/proc/self/exe"));
    struct pinball *p = finish(w);
    make_debug_file(pinball_file(p, 0)->build_id);
    if (pack(p, "once", &options, &err))
        fail_msg("%s", err.msg);
    pinball_close(p);
    p = pinball_open("once", &err);
    assert_int_equal(pack(p, "twice", &options, &err), 0); /* adds nothing again */
    pinball_close(p);

    p = pinball_open("twice", &err);
    assert_int_equal(pinball_check(p, NULL, NULL, &err), 0);
    for (uint32_t n = 0; n < pinball_files(p); n++) {
        const struct kept_file *f = pinball_file(p, n);
        char text[18] = "";
        mapped += f->kind == KEPT_MAPPED;
        self += f->kind == KEPT_SOURCE && strstr(f->path, "pinball_parts_test.c");
        if (f->kind != KEPT_DEBUG)
            continue;
        debug++;
        assert_string_equal(f->build_id, pinball_file(p, 0)->build_id);
        assert_int_equal(pinball_file_read(p, n, 0, text, 17, &err), 0);
        assert_string_equal(text, "debug information");
    }
    assert_int_equal(mapped, 2);
    assert_int_equal(debug, 1);
    assert_int_equal(self, 1);
    pinball_close(p);
}

/* Version 0.2 listed statements plainly; then they are packed. */
static void reads_statements_of_both_forms(void **state)
{
    static const char head[] = "relog_of b\n";
    struct {
        struct record_kept head;
        struct kept_statement list[2];
        struct record_steps steps;
        uint8_t byte[8];
    } r = {
        .head = {.r = {.kind = RECORD_KEPT, .bytes = offsetof(__typeof__(r), steps)},
                 .statements = 2},
        .list = {{.count = 3, .pc = 64, .last_count = 3, .last_pc = 68, .thread = 2, .depth = 1},
                 {.count = 4, .pc = 64, .last_count = 4, .last_pc = 68, .thread = 2, .depth = 1}},
        .steps = {.r = {.kind = RECORD_STEPS, .bytes = sizeof r.steps + sizeof r.byte},
                  .length = 1},
        .byte = {128}}; /* once more as the last one */
    struct statements s;
    struct kept_statement k;
    struct err err;
    struct writer *w = writer_new("a", &err);

    (void)state;
    assert_int_equal(writer_head(w, head, sizeof head - 1, &err), 0);
    assert_int_equal(writer_events(w, &r, sizeof r, 2, &err), 0);
    struct pinball *p = finish(w);
    if (statements_read(p, &s, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(s.count, 3);
    assert_true(statements_get(&s, 1, &k));
    assert_memory_equal(&k, &r.list[1], sizeof k);
    assert_true(statements_get(&s, 2, &k));
    assert_int_equal(k.count, 5);
    assert_true(statements_have(&s, &(struct position){.thread = 2, .count = 5, .pc = 68}));
    assert_false(statements_have(&s, &(struct position){.thread = 2, .count = 5, .pc = 69}));
    assert_false(statements_have(&s, &(struct position){.thread = 1, .count = 5, .pc = 64}));
    statements_deinit(&s);
    pinball_close(p);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, support_enter, support_leave)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xxh64_agrees_with_others),
        cmocka_unit_test(sha256_agrees_with_others),
        cmocka_unit_test(texts_keep_any_value),
        cmocka_unit_test(texts_refuse_what_is_none),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(summary_counts),
        T(keeps_an_unchanged_file_once),
        T(keeps_a_changed_file_again),
        T(equal_contents_are_stored_once),
        T(reads_anywhere_in_a_file),
        T(keeps_ranges_of_large_files),
        T(keeps_files_without_names),
        T(finds_its_own_source),
        T(packs_debug_files_and_sources),
        T(reads_statements_of_both_forms),
    };

    return cmocka_run_group_tests_name("pinball_parts", tests, NULL, NULL);
}
