/* sink_test.c - pinball/sink.h: the log and records for the supervisor, on sinks that are watched.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/sink.h"

#include <stdlib.h>
#include <string.h>

#include "debug/target/post.h"
#include "debug/target/records.h"
#include "engine/core/engine.h"
#include "engine/os/special.h"
#include "engine/rt/range.h"
#include "logger/target/log.h"
#include "tests/unit/unit.h"

uint64_t special_now_ns(void)
{
    return 1;
}

/* ---- a sink that keeps what it takes ---- */

enum { WINDOW = 64 << 10, KEPT = 4 << 20 };

static struct {
    uint8_t window[WINDOW] __attribute__((aligned(8)));
    uint64_t committed, records;
    uint8_t kept[KEPT] __attribute__((aligned(8)));
    size_t kept_bytes;
    int windows, ends; /* so many were provided; so often it was told of the end */
    int most;          /* windows that it has */
} fake;

static void provide(struct sink_writer *w)
{
    memset(fake.window, 0, sizeof fake.window);
    fake.committed = fake.records = 0;
    fake.windows++;
    w->window = fake.window;
    w->bytes = sizeof fake.window;
    w->used = 0;
    w->committed = &fake.committed;
    w->records = &fake.records;
}

static void keep(const void *bytes, size_t n)
{
    assert_true(n <= KEPT - fake.kept_bytes);
    memcpy(fake.kept + fake.kept_bytes, bytes, n);
    fake.kept_bytes += n;
}

static bool next(struct sink_writer *w)
{
    assert_int_equal(w->used, fake.committed);
    keep(fake.window, fake.committed);
    if (fake.windows == fake.most)
        return false;
    provide(w);
    return true;
}

static void end(struct sink_writer *w)
{
    (void)w;
    fake.ends++;
}

static const struct sink fake_sink = {.begin = provide, .next = next, .end = end};

/* ---- a mailbox ---- */

static struct mailbox box;
static int told;      /* messages with records */
static int allocated; /* windows that are not freed yet */

struct mailbox *post_box(void)
{
    return &box;
}

void post_ask(enum mailbox_ask op)
{
    assert_int_equal(op, TELL_RECORDS);
    assert_in_range(box.arg[1], 1, MAILBOX_RECORDS_BYTES);
    keep(box.data, box.arg[1]);
    memset(box.data, 0xee, sizeof box.data); /* the supervisor answers, or sends a chunk */
    told++;
}

void *range_alloc(uint64_t bytes)
{
    allocated++;
    return calloc(1, bytes);
}

void range_free(void *p, uint64_t bytes)
{
    (void)bytes;
    allocated--;
    free(p);
}

/* ---- the program's memory: up to `unreadable` ---- */

static gaddr unreadable;

size_t engine_copy(void *dst, const void *src, size_t n)
{
    const gaddr from = (gaddr)src;
    const size_t can = from >= unreadable ? 0 : n < unreadable - from ? n : unreadable - from;
    memcpy(dst, src, can);
    return n - can;
}

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.most = 1000;
    told = 0;
    unreadable = UINT64_MAX;
    return 0;
}

/* ---- reading back ---- */

static const struct record *record_at(const uint8_t *bytes, size_t all, size_t *at)
{
    const struct record *r = (const struct record *)(bytes + *at);
    assert_true(all - *at >= sizeof *r && r->bytes >= sizeof *r && r->bytes <= all - *at);
    *at += r->bytes;
    return r;
}

static void is_size(const struct record *r, uint64_t number)
{
    const struct record_size *s = (const struct record_size *)r;
    assert_int_equal(r->kind, RECORD_SIZE);
    assert_int_equal(r->bytes, sizeof *s);
    assert_int_equal(r->flags, 0);
    assert_int_equal(s->object, number);
    assert_int_equal(s->size, 3 * number);
}

/* ---- the log ---- */

static void log_size(uint32_t number)
{
    struct record_size *s = log_begin(RECORD_SIZE, sizeof *s);
    s->object = number;
    s->size = 3ull * number;
    log_commit();
}

static void a_record_is_there_once_it_is_committed(void **state)
{
    (void)state;
    log_open(&fake_sink);
    struct record_size *s = log_begin(RECORD_SIZE, sizeof *s);
    s->object = 1;
    s->size = 3;
    assert_int_equal(fake.committed, 0);
    assert_int_equal(fake.records, 0);
    log_commit();
    assert_int_equal(fake.committed, sizeof *s);
    assert_int_equal(fake.records, 1);
    size_t at = 0;
    is_size(record_at(fake.window, fake.committed, &at), 1);
}

static void the_one_begun_and_left_is_overwritten(void **state)
{
    (void)state;
    log_open(&fake_sink);
    log_begin(RECORD_DATA, 4096);
    log_size(7);
    size_t at = 0;
    assert_int_equal(fake.records, 1);
    is_size(record_at(fake.window, fake.committed, &at), 7);
    assert_int_equal(at, fake.committed);
}

static void a_shortened_one_is_as_long_as_that(void **state)
{
    (void)state;
    log_open(&fake_sink);
    log_begin(RECORD_DATA, 4096);
    log_shorten(64);
    log_commit();
    log_size(2);
    size_t at = 0;
    assert_int_equal(record_at(fake.window, fake.committed, &at)->bytes, 64);
    is_size(record_at(fake.window, fake.committed, &at), 2);
}

static void a_full_window_is_taken_with_whole_records(void **state)
{
    enum { MANY = 10 * WINDOW / sizeof(struct record_size) };
    (void)state;
    log_open(&fake_sink);
    for (uint32_t i = 0; i < MANY; i++)
        log_size(i);
    assert_true(fake.windows >= 10);
    keep(fake.window, fake.committed);
    size_t at = 0;
    for (uint32_t i = 0; i < MANY; i++)
        is_size(record_at(fake.kept, fake.kept_bytes, &at), i);
    assert_int_equal(at, fake.kept_bytes);
    assert_false(log_over());
    assert_int_equal(fake.ends, 0);
}

static void is_over_when_there_is_no_window(void **state)
{
    (void)state;
    fake.most = 2;
    log_open(&fake_sink);
    while (!log_over())
        log_size(1);
    const size_t kept = fake.kept_bytes;
    assert_int_equal(fake.windows, 2);
    assert_int_equal(fake.ends, 1);
    memset(log_begin(RECORD_DATA, RECORD_MAX_BYTES), 0xaa, RECORD_MAX_BYTES);
    log_shorten(64);
    log_commit();
    log_data((gaddr)fake.window, 8, 0);
    assert_int_equal(fake.kept_bytes, kept);
    assert_int_equal(fake.ends, 1);
    for (size_t at = 0; at < kept;)
        is_size(record_at(fake.kept, kept, &at), 1);
}

static void a_child_leaves_without_a_word(void **state)
{
    (void)state;
    log_open(&fake_sink);
    log_size(1);
    log_leave();
    log_size(2);
    assert_true(log_over());
    assert_int_equal(fake.records, 1);
    assert_int_equal(fake.ends, 0);
}

static void data_comes_in_pieces_and_up_to_what_can_be_read(void **state)
{
    static uint8_t memory[100003];
    (void)state;
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (uint8_t)(i * 7 + i / 256);
    unreadable = (gaddr)memory + sizeof memory;
    log_open(&fake_sink);
    log_data((gaddr)memory, sizeof memory + 50000, DATA_AFTER);
    log_data(unreadable, 8, 0);
    keep(fake.window, fake.committed);
    size_t done = 0;
    for (size_t at = 0; at < fake.kept_bytes;) {
        const struct record_data *d =
            (const struct record_data *)record_at(fake.kept, fake.kept_bytes, &at);
        assert_int_equal(d->r.kind, RECORD_DATA);
        assert_int_equal(d->r.flags, DATA_AFTER);
        assert_int_equal(d->r.bytes, sizeof *d + ((d->bytes + 7) & ~7ull));
        assert_int_equal(d->addr, (gaddr)memory + done);
        assert_true(d->bytes <= sizeof memory - done);
        assert_memory_equal(d + 1, memory + done, d->bytes);
        done += d->bytes;
    }
    assert_int_equal(done, sizeof memory);
}

/* ---- through the mailbox ---- */

static void the_supervisor_gets_whole_records(void **state)
{
    enum { MANY = 5 * MAILBOX_RECORDS_BYTES / 2 / sizeof(struct record_size) };
    struct sink_writer w;
    (void)state;
    sink_open(&w, &records_sink);
    for (uint32_t i = 0; i < MANY; i++) {
        struct record_size *s = sink_begin(&w, RECORD_SIZE, sizeof *s);
        assert_int_equal(s->size, 0); /* also where another record was */
        s->object = i;
        s->size = 3ull * i;
        memset(box.data, (int)i, 64); /* other messages */
        sink_commit(&w);
    }
    assert_int_equal(told, 2);
    sink_end(&w);
    sink_end(&w);
    assert_int_equal(told, 3);
    assert_int_equal(allocated, 0);
    size_t at = 0;
    for (uint32_t i = 0; i < MANY; i++)
        is_size(record_at(fake.kept, fake.kept_bytes, &at), i);
    assert_int_equal(at, fake.kept_bytes);
}

static void the_supervisor_hears_nothing_of_no_records(void **state)
{
    struct sink_writer w;
    (void)state;
    sink_open(&w, &records_sink);
    sink_begin(&w, RECORD_SIZE, sizeof(struct record_size));
    sink_end(&w);
    assert_int_equal(told, 0);
    assert_int_equal(allocated, 0);
}

static void the_log_goes_through_the_mailbox(void **state)
{
    enum { MANY = 3 * MAILBOX_RECORDS_BYTES / 2 / sizeof(struct record_size) };
    (void)state;
    log_open(&records_sink);
    for (uint32_t i = 0; i < MANY; i++)
        log_size(i);
    assert_int_equal(told, 1);
    assert_false(log_over());
    size_t at = 0;
    for (uint32_t i = 0; at < fake.kept_bytes; i++)
        is_size(record_at(fake.kept, fake.kept_bytes, &at), i);
    assert_true(at > MAILBOX_RECORDS_BYTES - sizeof(struct record_size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_record_is_there_once_it_is_committed, set_up),
        cmocka_unit_test_setup(the_one_begun_and_left_is_overwritten, set_up),
        cmocka_unit_test_setup(a_shortened_one_is_as_long_as_that, set_up),
        cmocka_unit_test_setup(a_full_window_is_taken_with_whole_records, set_up),
        cmocka_unit_test_setup(is_over_when_there_is_no_window, set_up),
        cmocka_unit_test_setup(a_child_leaves_without_a_word, set_up),
        cmocka_unit_test_setup(data_comes_in_pieces_and_up_to_what_can_be_read, set_up),
        cmocka_unit_test_setup(the_supervisor_gets_whole_records, set_up),
        cmocka_unit_test_setup(the_supervisor_hears_nothing_of_no_records, set_up),
        cmocka_unit_test_setup(the_log_goes_through_the_mailbox, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
