/* pinball_recover_test.c - what is left after kill -9, and pinball/recover.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/pinball.h"
#include "pinball/record.h"
#include "pinball/ring.h"
#include "pinball/writer.h"
#include "tests/unit/pinball_support.h"
#include "tests/unit/unit.h"

enum { SEGMENT = 4096, RING = RING_HEAD_BYTES + RING_SEGMENTS * SEGMENT };

/* A ring in memory, to be stored in a/ring. */
static struct {
    union {
        struct ring head;
        char room[RING_HEAD_BYTES];
    };
    char segment[RING_SEGMENTS][SEGMENT];
} ring;

static void reset_ring(void)
{
    memset(&ring, 0, sizeof ring);
    ring.head.magic = RING_MAGIC;
    ring.head.version = PINBALL_VERSION;
    ring.head.segment_bytes = SEGMENT;
}

/* Chunk `sequence`'s records in a segment. */
static void fill(int i, uint64_t sequence, uint32_t state)
{
    size_t bytes;
    const void *records = support_records(sequence, &bytes);

    memcpy(ring.segment[i], records, bytes);
    ring.head.segment[i] = (struct ring_segment){sequence, bytes, SUPPORT_RECORDS, state, 0};
}

/* A recording that was killed with so many chunks written. */
static void killed_at(uint64_t chunks)
{
    struct err err;

    support_remove("a");
    struct writer *w = writer_new("a", &err);
    assert_non_null(w);
    assert_int_equal(writer_head(w, "a b\n", 4, &err), 0);
    for (uint64_t i = 0; i < chunks; i++) {
        size_t bytes;
        const void *records = support_records(i, &bytes);
        assert_int_equal(writer_events(w, records, bytes, SUPPORT_RECORDS, &err), 0);
    }
    writer_free(w);
    reset_ring();
}

/* Opens it; it must hold the first `chunks` chunks, whole but for the last `fewer` records. */
static void recovers(uint64_t chunks, uint64_t fewer, const char *reason)
{
    struct err err = {0};
    uint64_t data[256];
    size_t bytes;

    support_store("a/ring", &ring, sizeof ring);
    struct pinball *p = pinball_open("a", &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_true(pinball_recovered(p));
    assert_int_equal(pinball_chunks(p), chunks);
    for (uint64_t i = 0; i < chunks; i++) {
        const void *want = support_records(i, &bytes);
        assert_int_equal(pinball_read_chunk(p, i, data, sizeof data, &err), 0);
        if (i == chunks - 1)
            bytes -= fewer * sizeof(struct record_check);
        assert_memory_equal(data, want, bytes);
    }
    assert_int_equal(pinball_end_number(p, "records", 0), chunks * SUPPORT_RECORDS - fewer);
    assert_string_equal(pinball_end_get(p, "reason"), reason);
    pinball_close(p);
    assert_int_equal(access("a/ring", F_OK), -1);
    p = pinball_open("a", &err);
    assert_non_null(p);
    assert_false(pinball_recovered(p));
    pinball_close(p);
}

static void moves_segments_in_order(void **state)
{
    (void)state;
    killed_at(2);
    fill(0, 4, SEGMENT_FILLING);
    fill(1, 2, SEGMENT_FULL);
    fill(5, 1, SEGMENT_FULL); /* written, but not yet set free */
    fill(6, 3, SEGMENT_FULL);
    fill(7, 5, SEGMENT_FREE); /* nothing */
    recovers(5, 0, "lost");
}

/* A record that may be skipped is moved as any other; an unknown one that may not ends a segment.
 */
static void moves_kinds_that_may_be_skipped(void **state)
{
    static const struct {
        uint8_t kind;
        uint64_t chunks, records;
    } way[] = {{200, 3, 3 * SUPPORT_RECORDS}, {100, 2, 2 * SUPPORT_RECORDS - 1}};
    struct err err;

    (void)state;
    for (int i = 0; i < 2; i++) {
        killed_at(1);
        fill(0, 1, SEGMENT_FULL);
        memcpy(&ring.segment[0][3 * sizeof(struct record_check)], &way[i].kind, 1); /* the last */
        fill(1, 2, SEGMENT_FILLING);
        support_store("a/ring", &ring, sizeof ring);
        struct pinball *p = pinball_open("a", &err);
        assert_non_null(p);
        assert_int_equal(pinball_chunks(p), way[i].chunks);
        assert_int_equal(pinball_records(p), way[i].records);
        pinball_close(p);
        assert_int_equal(support_read_all("a", &err), 0);
    }
}

static void works_without_segments(void **state)
{
    (void)state;
    killed_at(2);
    recovers(2, 0, "lost");
    killed_at(0);
    memset(&ring, 0, sizeof ring); /* made, but not set up */
    recovers(0, 0, "lost");
}

static void keeps_the_reason_that_is_known(void **state)
{
    (void)state;
    killed_at(1);
    ring.head.stop = END_FULL;
    ring.head.stop_status = ENOSPC;
    recovers(1, 0, "full");
    killed_at(1);
    ring.head.stop = 12345;
    recovers(1, 0, "lost");

    struct record_end end = {.r = {RECORD_END, 0, 0, sizeof end}, .reason = END_EXIT, .status = 3};
    killed_at(0);
    memcpy(ring.segment[0], &end, sizeof end);
    ring.head.segment[0] = (struct ring_segment){0, sizeof end, 1, SEGMENT_FULL, 0};
    support_store("a/ring", &ring, sizeof ring);
    struct err err;
    struct pinball *p = pinball_open("a", &err);
    assert_string_equal(pinball_end_get(p, "reason"), "exit");
    assert_string_equal(pinball_end_get(p, "status"), "3");
    pinball_close(p);
}

static void stops_at_a_gap(void **state)
{
    (void)state;
    killed_at(1);
    fill(0, 1, SEGMENT_FULL);
    fill(1, 3, SEGMENT_FULL);
    recovers(2, 0, "lost");
}

/* A part's memory, which comes from no segment, is not all there: nothing can follow it. */
static void moves_nothing_behind_missing_memory(void **state)
{
    static const uint64_t sequences[] = {0, 1, 2, UINT64_MAX - 1, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        killed_at(1);
        ring.head.memory.chunks = UINT64_MAX - i;
        fill(0, 1, SEGMENT_FULL);
        ring.head.segment[0].sequence = sequences[i];
        recovers(1, 0, "lost");
    }
}

static void keeps_the_good_part_of_a_torn_segment(void **state)
{
    (void)state;
    killed_at(1);
    fill(0, 1, SEGMENT_FULL);
    fill(1, 2, SEGMENT_FILLING);
    ring.segment[0][3 * sizeof(struct record_check)] = 0; /* the kind of the last record */
    recovers(2, 1, "lost");

    killed_at(1);
    fill(0, 1, SEGMENT_FILLING);
    ring.head.segment[0].committed -= 8;
    recovers(2, 1, "lost");

    killed_at(1);
    fill(0, 1, SEGMENT_FILLING);
    ring.head.segment[0].committed = UINT64_MAX;
    recovers(2, 0, "lost");

    killed_at(1);
    fill(0, 1, SEGMENT_FILLING);
    ring.segment[0][0] = 0;
    recovers(1, 0, "lost");
}

static void refuses(const char *cause)
{
    support_store("a/ring", &ring, sizeof ring);
    support_refuses("a", cause);
    assert_int_equal(access("a/ring", F_OK), 0);
    assert_int_equal(access("a/end", F_OK), -1);
}

static void refuses_hostile_rings(void **state)
{
    (void)state;
    killed_at(1);
    ring.head.magic = 1;
    refuses("a/ring: not a ring");
    reset_ring();
    ring.head.version = SUPPORT_VERSION;
    refuses(support_unread("a/ring"));
    static const uint64_t sizes[] = {UINT64_MAX, SEGMENT + 8, SEGMENT - 1, CHUNK_MAX_BYTES + 8,
                                     UINT64_MAX / RING_SEGMENTS + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        reset_ring();
        ring.head.segment_bytes = sizes[i];
        refuses("a/ring: segments of ");
    }
    unlink("a/ring");
    assert_int_equal(symlink("../x", "a/ring"), 0);
    support_refuses("a", "a/ring: cannot put the recording in order");
    unlink("a/ring");
    mkfifo("a/ring", 0666);
    support_refuses("a", "a/ring: cannot put the recording in order: not a file");
}

static void cuts_off_a_torn_chunk(void **state)
{
    (void)state;
    killed_at(3);
    struct bytes whole = support_load("a/events");
    size_t two = support_chunk_at(whole, 2);
    for (size_t n = two; n < whole.bytes; n += 3) {
        killed_at(3);
        support_store("a/events", whole.data, n);
        fill(3, 2, SEGMENT_FULL);
        fill(4, 3, SEGMENT_FILLING);
        recovers(4, 0, "lost");
    }
    /* As after a power cut: the length is there, the bytes are not. */
    killed_at(3);
    memset(whole.data + two + 64, 0, whole.bytes - two - 64);
    support_store("a/events", whole.data, whole.bytes);
    fill(3, 2, SEGMENT_FULL);
    recovers(3, 0, "lost");
    killed_at(3);
    memset(whole.data + two, 0, whole.bytes - two);
    support_store("a/events", whole.data, whole.bytes);
    recovers(2, 0, "lost");
    /* A hole of terabytes, which would take hours to read. */
    killed_at(3);
    support_store("a/events", whole.data, two);
    assert_int_equal(truncate("a/events", 8ll << 40), 0);
    recovers(2, 0, "lost");
    free(whole.data);
}

static void touches_nothing_if_the_damage_is_elsewhere(void **state)
{
    (void)state;
    killed_at(3);
    struct bytes whole = support_load("a/events");
    for (size_t n = 0; n < support_chunk_at(whole, 2); n += 5) {
        whole.data[n] ^= 1;
        support_store("a/events", whole.data, whole.bytes);
        refuses("a/events: ");
        whole.data[n] ^= 1;
    }
    support_store("a/events", whole.data, whole.bytes);
    recovers(3, 0, "lost");
    free(whole.data);
}

static void waits_for_a_live_recorder(void **state)
{
    struct recovery what;
    struct err err;

    (void)state;
    killed_at(1);
    support_store("a/ring", &ring, sizeof ring);
    int fd = open("a/ring", O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    support_refuses("a", "a: is being recorded right now");
    assert_int_equal(recover("a", &what, &err), -1);
    assert_int_equal(err.code, EBUSY);
    close(fd);
    fill(0, 1, SEGMENT_FILLING);
    support_store("a/ring", &ring, sizeof ring);
    assert_int_equal(recover("a", &what, &err), 0);
    assert_int_equal(what.chunks, 1);
    assert_int_equal(what.records, SUPPORT_RECORDS);
    assert_false(what.torn);
    assert_int_equal(recover("a", &what, &err), 0);
    assert_int_equal(what.chunks, 0);
}

/* Two files that were asked for but not written when the recorder was killed. */
static void keeps_files_that_waited(void **state)
{
    uint32_t number;
    uint64_t size;
    struct err err;
    char data[4];

    (void)state;
    struct writer *w = writer_new("a", &err);
    assert_int_equal(writer_head(w, "a b\n", 4, &err), 0);
    for (int i = 0; i < 2; i++) {
        support_store(i ? "y" : "x", "abc", 3);
        int fd = open(i ? "y" : "x", O_RDONLY);
        assert_int_equal(writer_keep(w, fd, 0, 3, &number, &size, &err), 0);
        close(fd);
    }
    writer_free(w);
    support_store("y", "abcd", 4);
    reset_ring();
    support_store("a/ring", &ring, sizeof ring);
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    assert_int_equal(pinball_files(p), 2);
    assert_int_equal(pinball_file_read(p, 0, 0, data, 4, &err), 0);
    assert_memory_equal(data, "abc", 4);
    assert_int_equal(pinball_file_read(p, 1, 0, data, 4, &err), -1);
    assert_non_null(strstr(err.msg, "the recorder was killed before it kept it"));
    pinball_close(p);
}

/* The same, of a recorder that was somebody else's: no file of this machine is read for it. */
static void reads_no_files_for_a_stranger(void **state)
{
    uint32_t number;
    uint64_t size;
    struct err err;
    char data[4];

    (void)state;
    struct writer *w = writer_new("a", &err);
    assert_int_equal(writer_head(w, "a b\n", 4, &err), 0);
    support_store("x", "abc", 3);
    int fd = open("x", O_RDONLY);
    assert_int_equal(writer_keep(w, fd, 0, 3, &number, &size, &err), 0);
    close(fd);
    writer_free(w);
    reset_ring();
    support_store("a/ring", &ring, sizeof ring);
    support_store("drdebug/key", "another key, of the same 32 bytes", 32);
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    assert_false(pinball_is_own(p));
    assert_int_equal(pinball_file_read(p, 0, 0, data, 4, &err), -1);
    pinball_close(p);
}

/* The index may end anywhere. */
static void cuts_off_a_torn_entry(void **state)
{
    struct err err;

    (void)state;
    support_make("b");
    struct bytes index = support_load("b/index");
    for (size_t n = 0; n < index.bytes; n += 7) {
        size_t entries = 0;
        while (entries < 4 && support_chunk_at(index, entries + 1) <= n)
            entries++;
        support_remove("b");
        support_make("b");
        unlink("b/end");
        support_store("b/index", index.data, n);
        reset_ring();
        support_store("b/ring", &ring, sizeof ring);
        struct pinball *p = pinball_open("b", &err);
        assert_non_null(p);
        assert_int_equal(pinball_files(p), entries < 2 ? entries : 2);
        pinball_close(p);
    }
    free(index.data);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, support_enter, support_leave)
    const struct CMUnitTest tests[] = {
        T(moves_segments_in_order),
        T(moves_kinds_that_may_be_skipped),
        T(works_without_segments),
        T(keeps_the_reason_that_is_known),
        T(stops_at_a_gap),
        T(moves_nothing_behind_missing_memory),
        T(keeps_the_good_part_of_a_torn_segment),
        T(refuses_hostile_rings),
        T(cuts_off_a_torn_chunk),
        T(touches_nothing_if_the_damage_is_elsewhere),
        T(waits_for_a_live_recorder),
        T(keeps_files_that_waited),
        T(reads_no_files_for_a_stranger),
        T(cuts_off_a_torn_entry),
    };

    return cmocka_run_group_tests_name("pinball_recover", tests, NULL, NULL);
}
