/* pinball_test.c - what pinball/writer.h writes, pinball/pinball.h reads; and nothing else.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/pinball.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "pinball/chunk.h"
#include "pinball/executed.h"
#include "pinball/pack.h"
#include "pinball/records.h"
#include "pinball/summary.h"
#include "pinball/writer.h"
#include "tests/unit/pinball_support.h"
#include "tests/unit/unit.h"

/* ---- round trip ---- */

static void check_texts(const struct pinball *p)
{
    static const char *const want[][2] = {{"program", "/bin/two\nlines"},
                                          {"arg", "two"},
                                          {"arg", "\\ and \x01\xff"},
                                          {"nonce", NULL},
                                          {"seal", NULL}};
    const char *key, *value;
    size_t position = 0, n = 0;

    for (; pinball_head_line(p, &position, &key, &value); n++) {
        assert_string_equal(key, want[n][0]);
        if (want[n][1])
            assert_string_equal(value, want[n][1]);
    }
    assert_int_equal(n, 5);
    assert_string_equal(pinball_head_get(p, "program"), "/bin/two\nlines");
    assert_null(pinball_head_get(p, "none"));
    assert_string_equal(pinball_end_get(p, "reason"), "exit");
    assert_string_equal(pinball_note_get(p, "instructions"), "78");
}

static void check_events(struct pinball *p)
{
    uint64_t data[64], raw, records;
    struct err err;
    size_t bytes;

    assert_int_equal(pinball_chunks(p), SUPPORT_CHUNKS);
    for (uint64_t i = 0; i < SUPPORT_CHUNKS; i++) {
        const void *want = support_records(i, &bytes);
        pinball_chunk_info(p, i, &raw, &records);
        assert_int_equal(raw, bytes);
        assert_int_equal(records, SUPPORT_RECORDS);
        assert_int_equal(pinball_read_chunk(p, i, data, bytes - 1, &err), -1);
        assert_int_equal(pinball_read_chunk(p, i, data, sizeof data, &err), 0);
        assert_memory_equal(data, want, bytes);
    }
    assert_int_equal(pinball_read_chunk(p, SUPPORT_CHUNKS, data, sizeof data, &err), -1);
}

static void check_files(struct pinball *p)
{
    static const char *const name[] = {"first", "second"};
    unsigned char data[400], zeros[100] = {0};
    struct err err;

    assert_int_equal(pinball_files(p), 2);
    for (uint32_t n = 0; n < 2; n++) {
        const struct kept_file *f = pinball_file(p, n);
        struct bytes want = support_load(name[n]);
        assert_true(f->whole);
        assert_int_equal(f->size, 300);
        assert_non_null(strstr(f->path, name[n]));
        assert_null(f->build_id);
        assert_int_equal(pinball_file_read(p, n, 0, data, sizeof data, &err), 0);
        assert_memory_equal(data, want.data, 300);
        assert_memory_equal(data + 300, zeros, 100);
        assert_int_equal(pinball_file_read(p, n, 299, data, 2, &err), 0);
        assert_int_equal(data[0], want.data[299]);
        assert_int_equal(data[1], 0);
        assert_int_equal(pinball_file_read(p, n, UINT64_MAX, data, 2, &err), -1);
        free(want.data);
    }
    assert_null(pinball_file(p, 2));
    assert_int_equal(pinball_file_read(p, 2, 0, data, 1, &err), -1);
}

static void count_progress(void *arg, uint64_t done, uint64_t total)
{
    uint64_t *last = arg;

    assert_true(done >= *last && done <= total);
    *last = done;
}

static void check_all(const char *path)
{
    struct err err = {0};
    struct pinball *p = pinball_open(path, &err);
    uint64_t done = 0;

    assert_string_equal(err.msg, "");
    assert_non_null(p);
    assert_false(pinball_recovered(p));
    check_texts(p);
    check_events(p);
    check_files(p);
    assert_int_equal(pinball_check(p, count_progress, &done, &err), 0);
    assert_int_equal(done, SUPPORT_CHUNKS * SUPPORT_RECORDS * sizeof(struct record_check) + 600);
    assert_true(pinball_bytes(p) > 1000);
    pinball_close(p);
}

static void make_packed(void)
{
    struct pack_options options = {0};
    struct err err;

    support_make("a");
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    assert_int_equal(pack(p, "packed", &options, &err), 0);
    pinball_close(p);
}

static void reads_what_was_written(void **state)
{
    (void)state;
    support_make("a");
    check_all("a");
}

static void reads_a_packed_one_the_same(void **state)
{
    struct err err;

    (void)state;
    make_packed();
    check_all("packed");
    struct pinball *p = pinball_open("packed", &err);
    assert_true(pinball_packed(p));
    assert_int_equal(pinball_note(p, "a b\n", 4, &err), -1);
    assert_non_null(strstr(err.msg, "is packed"));
    pinball_close(p);
}

static void packs_a_packed_one_again(void **state)
{
    struct pack_options options = {0};
    struct err err;

    (void)state;
    make_packed();
    struct pinball *p = pinball_open("packed", &err);
    assert_int_equal(pack(p, "packed", &options, &err), -1);
    assert_int_equal(err.code, EEXIST);
    assert_int_equal(pack(p, "again", &options, &err), 0);
    pinball_close(p);
    struct bytes one = support_load("packed"), two = support_load("again");
    assert_int_equal(one.bytes, two.bytes);
    assert_memory_equal(one.data, two.data, one.bytes);
    free(one.data);
    free(two.data);
}

/* ---- damage ---- */

static const char *const files[] = {"a/head", "a/events", "a/index", "a/end", "a/notes"};
enum { FILES = sizeof files / sizeof files[0] };

/* What is in `files`: the first one found. */
static void contents_path(char path[128])
{
    struct err err;
    struct pinball *p = pinball_open("a", &err);

    snprintf(path, 128, "a/files/%s", pinball_file(p, 0)->range[0].sha256);
    pinball_close(p);
}

/* Each bit pattern that differs in one place is refused, with a message that names the file. */
static void flip_all(const char *pinball, const char *path)
{
    struct bytes file = support_load(path);
    char name[200];

    snprintf(name, sizeof name, "%s: ", path);
    for (size_t i = 0; i < file.bytes; i++) {
        file.data[i] ^= (unsigned char)(1u << i % 8);
        support_store(path, file.data, file.bytes);
        support_refuses(pinball, strcmp(pinball, path) ? name : "packed");
        file.data[i] ^= (unsigned char)(1u << i % 8);
    }
    support_store(path, file.data, file.bytes);
    free(file.data);
}

static void cut_all(const char *pinball, const char *path, size_t from)
{
    struct bytes file = support_load(path);

    for (size_t n = from; n < file.bytes; n++) {
        support_store(path, file.data, n);
        support_refuses(pinball, path);
    }
    support_store(path, file.data, file.bytes);
    free(file.data);
}

static void refuses_any_flipped_bit(void **state)
{
    char path[128];

    (void)state;
    support_make("a");
    for (int i = 0; i < FILES; i++)
        flip_all("a", files[i]);
    contents_path(path);
    flip_all("a", path);
    check_all("a");
}

static void refuses_any_flipped_bit_of_a_packed_one(void **state)
{
    (void)state;
    make_packed();
    flip_all("packed", "packed");
    check_all("packed");
}

static void refuses_what_is_cut_off_anywhere(void **state)
{
    char path[128];

    (void)state;
    support_make("a");
    for (int i = 0; i < FILES - 1; i++)
        cut_all("a", files[i], 0);
    contents_path(path);
    cut_all("a", path, 0);
    check_all("a");
}

static void refuses_a_packed_one_that_is_cut_off_anywhere(void **state)
{
    (void)state;
    make_packed();
    cut_all("packed", "packed", 0);
}

static void refuses_missing_files(void **state)
{
    char path[128];

    (void)state;
    support_make("a");
    contents_path(path);
    rename(path, "x");
    support_refuses("a", "is missing");
    rename("x", path);
    for (int i = 0; i < FILES - 1; i++) {
        rename(files[i], "x");
        support_refuses("a", strcmp(files[i], "a/index") ? "is missing" : "holds 0 entries, not 4");
        rename("x", files[i]);
    }
    check_all("a");
    support_refuses("none", "none: No such file or directory");
    mkdir("empty", 0777);
    support_refuses("empty", "empty: not a pinball");
    support_store("zero", "", 0);
    support_refuses("zero", "zero: is empty, not a pinball");
    support_refuses("first", "first: not a pinball");
    support_refuses("/dev/null", "neither a directory nor a file");
}

static void follows_no_links(void **state)
{
    (void)state;
    support_make("a");
    rename("a/head", "x");
    assert_int_equal(symlink("../x", "a/head"), 0);
    support_refuses("a", "a/head: is a link, not a file");
    unlink("a/head");
    mkfifo("a/head", 0666);
    support_refuses("a", "a/head: not a file");
    mkfifo("fifo", 0666);
    support_refuses("fifo", "neither a directory nor a file");
}

static void swap_chunks(const char *path, uint64_t i)
{
    struct bytes f = support_load(path);
    size_t a = support_chunk_at(f, i), b = support_chunk_at(f, i + 1);
    size_t end = support_chunk_at(f, i + 2);
    unsigned char *first = malloc(b - a);

    assert_non_null(first);
    memcpy(first, f.data + a, b - a);
    memmove(f.data + a, f.data + b, end - b);
    memcpy(f.data + a + (end - b), first, b - a);
    free(first);
    support_store(path, f.data, f.bytes);
    free(f.data);
}

static void refuses_swapped_chunks(void **state)
{
    (void)state;
    support_make("a");
    swap_chunks("a/events", 1);
    support_refuses("a", "a/events: chunk 1: is chunk 2");
    swap_chunks("a/events", 1);
    check_all("a");
    swap_chunks("a/index", 0);
    support_refuses("a", "a/index: chunk 0: is chunk 1");
}

static void refuses_files_of_other_files(void **state)
{
    (void)state;
    support_make("a");
    struct bytes end = support_load("a/end");
    support_store("a/head", end.data, end.bytes);
    free(end.data);
    support_refuses("a", "a/head: chunk 0: is of kind 5, not 1");
}

/* ---- hostile values under good sums ---- */

#define CHANGE(name, ...)                                                                          \
    static void name(struct chunk *c, unsigned char *p)                                            \
    {                                                                                              \
        (void)c, (void)p;                                                                          \
        __VA_ARGS__;                                                                               \
    }

CHANGE(unknown_version, c->version = SUPPORT_VERSION)
CHANGE(flag_2, c->flags |= 2)
CHANGE(pad_1, c->pad = 1)
CHANGE(raw_huge, c->raw = UINT64_MAX)
CHANGE(raw_over, c->raw = CHUNK_MAX_BYTES + 1)
CHANGE(raw_0, c->raw = 0)
CHANGE(raw_less, c->raw -= 8)
CHANGE(raw_more, c->raw += 8)
CHANGE(stored_huge, c->stored = UINT64_MAX)
CHANGE(stored_wrap, c->stored = (uint64_t)-64)
CHANGE(plain, c->flags = 0)
CHANGE(packed_flag, c->flags = CHUNK_ZSTD, c->raw++)
CHANGE(records_huge, c->extra = UINT64_MAX)
CHANGE(records_less, c->extra--)
CHANGE(offset_1, c->extra = 1)
CHANGE(skippable, memcpy(p, "\x50\x2a\x4d\x18", 4))
CHANGE(not_a_frame, memset(p, 'x', 8))
CHANGE(no_newline, p[c->raw - 1] = 'x')
CHANGE(bad_key, p[0] = 'A')
CHANGE(bad_escape, *(char *)memchr(p, '\\', c->raw) = 1)
CHANGE(number_9, p[7] = '9')

static void is_refused(const char *path, uint64_t i, support_change *change, const char *cause)
{
    support_remove("a");
    support_make("a");
    support_edit(path, i, change);
    support_refuses("a", cause);
}

static void refuses_hostile_headers(void **state)
{
    char path[128];

    (void)state;
    is_refused("a/head", 0, unknown_version, support_unread("a/head"));
    is_refused("a/events", 2, unknown_version, support_unread("a/events"));
    is_refused("a/events", 1, flag_2, "a/events: chunk 1: unknown flags");
    is_refused("a/events", 1, pad_1, "a/events: chunk 1: unknown flags");
    is_refused("a/events", 1, raw_huge, "a/events: chunk 1: too large");
    is_refused("a/events", 1, raw_over, "a/events: chunk 1: too large");
    is_refused("a/events", 1, raw_0, "sizes contradict");
    is_refused("a/events", 1, raw_less, "a/events: chunk 1: ");
    is_refused("a/events", 1, raw_more, "a/events: chunk 1: unpacks to 128 bytes, not 136");
    is_refused("a/events", 1, stored_huge, "sizes contradict");
    is_refused("a/events", 1, stored_wrap, "sizes contradict");
    is_refused("a/events", 1, plain, "sizes contradict");
    is_refused("a/events", 1, records_huge, "too small for its records");
    is_refused("a/events", 1, records_less, "holds 4 records, not 3");
    is_refused("a/events", 1, skippable, "is not one zstd frame");
    is_refused("a/events", 1, not_a_frame, "is not one zstd frame");
    is_refused("a/head", 0, packed_flag, "compressed, which its kind never is");
    is_refused("a/head", 0, raw_huge, "a/head: chunk 0: too large");
    support_remove("a");
    support_make("a");
    contents_path(path);
    is_refused(path, 0, offset_1, "chunk 0: is not where it should be");
    is_refused(path, 0, raw_more, "chunk 0: its sizes contradict each other");
}

static void refuses_hostile_texts(void **state)
{
    (void)state;
    is_refused("a/head", 0, no_newline, "a/head: line 5: not a key and a value");
    is_refused("a/head", 0, bad_key, "a/head: line 1: not a key and a value");
    is_refused("a/head", 0, bad_escape, "a/head: line 1: not a key and a value");
    is_refused("a/index", 0, number_9, "a/index: chunk 0: does not describe a kept file");
}

/* An index of one entry, as given; `end` is made to agree. */
static void write_index(const char *entry)
{
    struct packer packer = {0};
    struct err err;
    char end[] = "reason exit\nchunks 3\nentries 1\n";

    support_remove("a");
    support_make("a");
    for (int i = 0; i < 2; i++) {
        struct chunk_file file = {.label = "x"};
        struct chunk_new what = {.kind = i ? CHUNK_END : CHUNK_INDEX};
        const char *text = i ? end : entry;
        file.fd = open(i ? "a/end" : "a/index", O_WRONLY | O_TRUNC);
        assert_int_equal(chunk_append(&file, what, text, strlen(text), &packer, &err), 0);
        close(file.fd);
    }
    chunk_deinit_packer(&packer);
}

#define SHA   "1111111111111111111111111111111111111111111111111111111111111111"
#define ENTRY "number 0\nkind mapped\nsize 9223372036854775807\npath x\n"

static void refuses_hostile_entries(void **state)
{
    static const char *const bad[] = {
        "",
        "number 0\n",
        "number 1\nkind mapped\nsize 1\npath x\n",
        "number -1\nkind mapped\nsize 1\npath x\n",
        "number 0\nkind other\nsize 1\npath x\n",
        "number 0\nkind mapped\nsize 18446744073709551615\npath x\n",
        "number 0\nkind mapped\nsize 99999999999999999999\npath x\n",
        "number 0\nkind mapped\nsize 1\npath x\nbuild_id xyz\n",
        "number 0\nkind mapped\nsize 1\npath x\nrange 0 2 " SHA "\n",
        "number 0\nkind mapped\nsize 1\npath x\nrange 2 0 " SHA "\n",
        "number 0\nkind mapped\nsize 1\npath x\nrange 0 1 ../" SHA "\n",
        "number 0\nkind mapped\nsize 1\npath x\nrange 0 1 " SHA "0\n",
        "number 0\nkind mapped\nsize 1\npath x\nrange 0 1\n",
        "number 0\nkind mapped\nsize 1\npath x\nrange  1 " SHA "\n",
        ENTRY "range 1 18446744073709551615 " SHA "\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_index(bad[i]);
        support_refuses("a", "a/index: chunk 0: ");
    }
    write_index(ENTRY "range 0 2 " SHA "\nrange 1 2 " SHA "\n");
    support_refuses("a", "a/index: ranges of file 0 overlap");
    /* No memory is taken for what it claims. */
    write_index(ENTRY "range 0 9223372036854775807 " SHA "\n");
    support_store("a/files/" SHA, "", 0);
    support_refuses("a", "files/" SHA ": chunk 0: is missing");
    write_index(ENTRY);
    struct err err;
    assert_int_equal(support_read_all("a", &err), 0);
    write_index(ENTRY "waiting x\n");
    support_refuses("a", "the recorder was killed before it kept it");
}

/* The events of one chunk, as given. */
static void write_events(const void *data, size_t bytes, uint64_t count)
{
    struct err err;
    struct writer *w;

    support_remove("a");
    w = writer_new("a", &err);
    assert_int_equal(writer_head(w, "a b\n", 4, &err), 0);
    assert_int_equal(writer_events(w, data, bytes, count, &err), 0);
    assert_int_equal(writer_end(w, "a b\n", 4, &err), 0);
    writer_free(w);
}

static void refuses_malformed_records(void **state)
{
    static const struct record good = {.kind = RECORD_SKIPPABLE, .bytes = 8};
    static const struct record bad[] = {
        {.kind = 0, .bytes = 8},
        {.kind = 255, .bytes = 0},
        {.kind = 255, .bytes = 24},
        {.kind = 255, .bytes = RECORD_MAX_BYTES + 8},
        {.kind = 1, .bytes = 0},
        {.kind = 1, .bytes = 12},
        {.kind = 1, .bytes = 24}, /* past the end */
        {.kind = 1, .bytes = RECORD_MAX_BYTES + 8},
        {.kind = 1, .bytes = 0xfffffff8},
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct record two[2] = {good, bad[i]};
        write_events(two, sizeof two, 2);
        support_refuses("a", "a/events: chunk 0: record 1, at byte 8, is malformed");
    }
    write_events(&good, sizeof good, 1);
    assert_int_equal(support_read_all("a", &err), 0);
    write_events((char[12]){[0] = RECORD_RANGE, [4] = 8}, 12, 1);
    support_refuses("a", "record 1, at byte 8, is malformed");
}

static void refuses_unknown_kinds_by_number(void **state)
{
    static const bool is_there[256] = {
#define RECORD(name, number, type, count, text) [number] = true,
#include "pinball/records.def"
#undef RECORD
    };
    unsigned refused = 0;

    (void)state;
    for (uint8_t kind = 1; kind < RECORD_SKIPPABLE; kind++) {
        const struct record two[2] = {{.kind = RECORD_RANGE, .bytes = 8},
                                      {.kind = kind, .bytes = 8}};
        char cause[80];
        if (is_there[kind])
            continue;
        write_events(two, sizeof two, 2);
        snprintf(cause, sizeof cause,
                 "a/events: chunk 0: record 1, at byte 8, is of kind %u, which", kind);
        support_refuses("a", cause);
        refused++;
    }
    assert_true(refused > 0);
}

/* The frame is right, but there is no room for what such a record says. */
static void refuses_records_that_are_too_small(void **state)
{
    static uint8_t data[8 + RECORD_MAX_BYTES];
    struct err err;
    unsigned kinds = 0;

    (void)state;
    memcpy(data, &(struct record){.kind = RECORD_SKIPPABLE, .bytes = 8}, 8);
    for (unsigned kind = 1; kind < RECORD_KINDS; kind++) {
        const size_t least = records_least(kind);
        if (least == SIZE_MAX || kind >= RECORD_SKIPPABLE)
            continue;
        const size_t size[] = {8, least - 8, least};
        for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
            const struct record r = {.kind = (uint8_t)kind, .bytes = (uint32_t)size[i]};
            memcpy(data + 8, &r, sizeof r);
            write_events(data, 8 + size[i], 2);
            if (size[i] < least)
                support_refuses("a", "a: cannot be replayed: event 1: not a record");
            else
                assert_int_equal(support_read_all("a", &err), 0);
        }
        kinds++;
    }
    assert_true(kinds > 20);
}

static void passes_kinds_that_may_be_skipped(void **state)
{
    static const struct {
        struct record first;
        struct record_range range;
        struct record last;
    } three = {{.kind = RECORD_SKIPPABLE, .bytes = 8},
               {.r = {.kind = RECORD_RANGE, .bytes = sizeof three.range}},
               {.kind = 255, .bytes = 8}};
    const struct record_end end = {.r = {.kind = RECORD_END, .bytes = sizeof end},
                                   .reason = END_EXIT};
    struct summary s = {0};
    struct err err;

    (void)state;
    write_events(&three, sizeof three, 3);
    assert_int_equal(support_read_all("a", &err), 0);
    summary_add(&s, &end, sizeof end);
    summary_add(&s, &three.first, 8);
    assert_true(s.ended); /* it says nothing about the program */
    assert_int_equal(s.records, 2);
    summary_deinit(&s);
}

/* The last record of a chunk says that it maps a file, and ends. */
static void looks_into_whole_records_only(void **state)
{
    const struct record filler = {.kind = RECORD_RANGE, .bytes = RECORD_MAX_BYTES};
    char *data = calloc(1, CHUNK_MAX_BYTES);
    uint64_t count = 0;
    size_t at = 0;
    bool executed[1] = {false};
    struct err err;

    (void)state;
    for (; CHUNK_MAX_BYTES - at > RECORD_MAX_BYTES; at += RECORD_MAX_BYTES, count++)
        memcpy(data + at, &filler, sizeof filler);
    memcpy(data + at, &(struct record){.kind = RECORD_RANGE, .bytes = CHUNK_MAX_BYTES - at - 8}, 8);
    memcpy(data + CHUNK_MAX_BYTES - 8, &(struct record){.kind = RECORD_MAP, .bytes = 8}, 8);
    write_events(data, CHUNK_MAX_BYTES, count + 2);
    free(data);
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    assert_int_equal(executed_find(p, executed, &err), 0);
    pinball_close(p);
}

/* Notes that are holes take nothing on disk. */
static void refuses_notes_that_are_holes(void **state)
{
    char *zeros = calloc(1, CHUNK_MAX_BYTES);
    struct chunk c = {.kind = CHUNK_NOTE, .raw = CHUNK_MAX_BYTES};
    off_t each = sizeof c + CHUNK_MAX_BYTES;

    (void)state;
    support_make("a");
    int fd = open("a/notes", O_RDWR | O_TRUNC);
    assert_int_equal(ftruncate(fd, 9 * each), 0);
    for (; c.sequence < 9; c.sequence++) {
        chunk_seal(&c, zeros, CHUNK_MAX_BYTES);
        assert_int_equal(pwrite(fd, &c, sizeof c, (off_t)c.sequence * each), sizeof c);
    }
    close(fd);
    free(zeros);
    support_refuses("a", "a/notes: too large");
}

/* A frame that unpacks to more than it says stays within its room. */
static void refuses_a_bomb(void **state)
{
    static char zeros[1 << 20];
    char packed[4096];
    size_t n = ZSTD_compress(packed, sizeof packed, zeros, sizeof zeros, 1);
    struct chunk c = {.kind = CHUNK_EVENTS, .flags = CHUNK_ZSTD, .raw = n + 8};
    struct bytes file;
    struct err err;

    (void)state;
    assert_false(ZSTD_isError(n));
    chunk_seal(&c, packed, n);
    file.bytes = sizeof c + n;
    file.data = malloc(file.bytes);
    memcpy(file.data, &c, sizeof c);
    memcpy(file.data + sizeof c, packed, n);
    write_events(&(struct record){.kind = 1, .bytes = 8}, 8, 1);
    support_store("a/events", file.data, file.bytes);
    free(file.data);
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    void *room = malloc(n + 8);
    assert_int_equal(pinball_read_chunk(p, 0, room, n + 8, &err), -1);
    assert_non_null(strstr(err.msg, "a/events: chunk 0: "));
    free(room);
    pinball_close(p);
}

/* ---- the writer's errors ---- */

static void will_not_write_over_another(void **state)
{
    struct err err;

    (void)state;
    support_make("a");
    assert_null(writer_new("a", &err));
    assert_int_equal(err.code, EEXIST);
    assert_null(writer_new("none/a", &err));
    assert_int_equal(err.code, ENOENT);
}

static void stays_whole_on_a_full_disk(void **state)
{
    struct rlimit old, small = {2000, RLIM_INFINITY};
    static uint64_t noise[100];
    struct err err;
    struct writer *w = writer_new("a", &err);
    int written = 0;

    (void)state;
    assert_int_equal(writer_head(w, "a b\n", 4, &err), 0);
    for (int i = 0; i < 100; i++)
        noise[i] = (uint64_t)i * 0x9E3779B185EBCA87u;
    memcpy(noise, &(struct record){.kind = RECORD_DATA, .bytes = sizeof noise}, 8);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    while (writer_events(w, noise, sizeof noise, 1, &err) == 0)
        written++;
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(written, 2);
    assert_int_equal(err.code, EFBIG);
    assert_non_null(strstr(err.msg, "a/events: File too large"));
    struct stat st;
    stat("a/events", &st);
    assert_int_equal(st.st_size, 2 * (64 + sizeof noise));
    assert_int_equal(writer_events(w, noise, sizeof noise, 1, &err), 0);
    assert_int_equal(writer_end(w, "a b\n", 4, &err), 0);
    writer_free(w);
    assert_int_equal(support_read_all("a", &err), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, support_enter, support_leave)
    const struct CMUnitTest tests[] = {
        T(reads_what_was_written),
        T(reads_a_packed_one_the_same),
        T(packs_a_packed_one_again),
        T(refuses_any_flipped_bit),
        T(refuses_any_flipped_bit_of_a_packed_one),
        T(refuses_what_is_cut_off_anywhere),
        T(refuses_a_packed_one_that_is_cut_off_anywhere),
        T(refuses_missing_files),
        T(follows_no_links),
        T(refuses_swapped_chunks),
        T(refuses_files_of_other_files),
        T(refuses_hostile_headers),
        T(refuses_hostile_texts),
        T(refuses_hostile_entries),
        T(refuses_malformed_records),
        T(refuses_unknown_kinds_by_number),
        T(refuses_records_that_are_too_small),
        T(passes_kinds_that_may_be_skipped),
        T(looks_into_whole_records_only),
        T(refuses_notes_that_are_holes),
        T(refuses_a_bomb),
        T(will_not_write_over_another),
        T(stays_whole_on_a_full_disk),
    };

    return cmocka_run_group_tests_name("pinball", tests, NULL, NULL);
}
