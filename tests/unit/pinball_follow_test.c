/* pinball_follow_test.c - a reader beside a writer: pinball/follow.h. SPDX-License-Identifier: MIT
 */
#include "pinball/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pinball/record.h"
#include "pinball/writer.h"
#include "tests/unit/pinball_support.h"
#include "tests/unit/unit.h"

static struct err err;

static struct writer *begin(void)
{
    support_remove("a");
    struct writer *w = writer_new("a", &err);
    assert_non_null(w);
    assert_int_equal(writer_head(w, "a b\n", 4, &err), 0);
    return w;
}

static void write_chunk(struct writer *w, uint64_t i)
{
    size_t bytes;
    const void *records = support_records(i, &bytes);
    assert_int_equal(writer_events(w, records, bytes, SUPPORT_RECORDS, &err), 0);
}

static void holds(struct pinball *p, uint64_t chunks)
{
    uint64_t data[256];
    size_t bytes;

    assert_int_equal(pinball_chunks(p), chunks);
    assert_int_equal(pinball_records(p), chunks * SUPPORT_RECORDS);
    for (uint64_t i = 0; i < chunks; i++) {
        const void *want = support_records(i, &bytes);
        assert_int_equal(pinball_read_chunk(p, i, data, sizeof data, &err), 0);
        assert_memory_equal(data, want, bytes);
    }
}

static void takes_in_what_was_written_since(void **state)
{
    (void)state;
    struct writer *w = begin();
    struct pinball *p = follow_open("a", &err);
    assert_non_null(p);
    assert_true(follow_goes_on(p));
    holds(p, 0);
    assert_int_equal(follow_refresh(p, &err), 0);
    for (uint64_t i = 0; i < SUPPORT_CHUNKS; i++) {
        write_chunk(w, i);
        holds(p, i);
        assert_int_equal(follow_refresh(p, &err), 1);
        holds(p, i + 1);
        assert_null(pinball_end_get(p, "c"));
    }
    assert_int_equal(writer_end(w, "c d\n", 4, &err), 0);
    writer_free(w);
    assert_true(follow_goes_on(p));
    assert_int_equal(follow_refresh(p, &err), 1);
    assert_false(follow_goes_on(p));
    holds(p, SUPPORT_CHUNKS);
    assert_string_equal(pinball_end_get(p, "c"), "d");
    assert_string_equal(pinball_head_get(p, "a"), "b");
    assert_int_equal(follow_refresh(p, &err), 0);
    pinball_close(p);
}

/* A chunk of which a part is there is left for the next time, whatever the part. */
static void leaves_a_chunk_that_is_being_written(void **state)
{
    (void)state;
    struct writer *w = begin();
    write_chunk(w, 0);
    write_chunk(w, 1);
    struct bytes file = support_load("a/events");
    size_t second = support_chunk_at(file, 1);
    for (size_t bytes = second; bytes <= file.bytes; bytes++) {
        support_store("a/events", file.data, bytes);
        struct pinball *p = follow_open("a", &err);
        assert_non_null(p);
        holds(p, bytes == file.bytes ? 2 : 1);
        pinball_close(p);
    }
    free(file.data);
    writer_free(w);
}

/* The log is read up to where the program maps a file that waits to be kept. */
static void goes_on_when_a_file_is_kept(void **state)
{
    struct record_map map = {.r = {.kind = RECORD_MAP, .bytes = sizeof map}, .bytes = 4096};
    uint64_t size;
    char byte;

    (void)state;
    support_store("mapped", "hello", 5);
    struct writer *w = begin();
    int fd = open("mapped", O_RDONLY);
    assert_true(fd >= 0);
    write_chunk(w, 0);
    assert_int_equal(writer_keep(w, fd, 0, 5, &map.file, &size, &err), 0);
    assert_int_equal(writer_events(w, &map, sizeof map, 1, &err), 0);
    struct pinball *p = follow_open("a", &err);
    assert_non_null(p);
    holds(p, 1);
    assert_non_null(pinball_missing(p));
    assert_int_equal(writer_keep_flush(w, &err), 0);
    assert_int_equal(follow_refresh(p, &err), 1);
    assert_null(pinball_missing(p));
    assert_int_equal(pinball_chunks(p), 2);
    assert_int_equal(pinball_file_read(p, map.file, 1, &byte, 1, &err), 0);
    assert_int_equal(byte, 'e');
    pinball_close(p);
    close(fd);
    writer_free(w);
}

static void damage_of_first(struct chunk *chunk, unsigned char *payload)
{
    (void)payload;
    chunk->kind = CHUNK_FILE;
}

static void names_what_is_damaged(void **state)
{
    (void)state;
    struct writer *w = begin();
    write_chunk(w, 0);
    write_chunk(w, 1);
    support_edit("a/events", 0, damage_of_first);
    assert_null(follow_open("a", &err));
    assert_non_null(strstr(err.msg, "a/events: chunk 0: is of kind 4, not 2"));
    writer_free(w);
    assert_null(follow_open("nothing", &err));
    assert_int_equal(err.code, ENOENT);
}

/* Of one that has an end it is pinball_open(). */
static void opens_what_is_complete(void **state)
{
    (void)state;
    support_make("whole");
    struct pinball *p = follow_open("whole", &err);
    assert_non_null(p);
    assert_false(follow_goes_on(p));
    holds(p, SUPPORT_CHUNKS);
    pinball_close(p);
}

#define T(f) cmocka_unit_test_setup_teardown(f, support_enter, support_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(takes_in_what_was_written_since), T(leaves_a_chunk_that_is_being_written),
        T(goes_on_when_a_file_is_kept),     T(names_what_is_damaged),
        T(opens_what_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
