/* journal_test.c - replayer/journal.h: what was done is found again. SPDX-License-Identifier: MIT
 */
#include "replayer/journal.h"

#include <string.h>

#include "tests/unit/unit.h"

static void finds_what_was_added(void **state)
{
    struct journal j = {0};
    struct debuggee_event event;
    size_t place = 0;

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        struct mailbox_entry e = {.kind = EVENT_OUTPUT, .a = 1, .text_bytes = 5, .at.events = i};
        assert_true(journal_add(&j, &e, "hello"));
        assert_false(journal_add(&j, &(struct mailbox_entry){.at.events = 0}, ""));
    }
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(journal_next(&j, &place, &event), 1);
        assert_int_equal(event.number, i);
        assert_int_equal(event.text_bytes, 5);
        assert_memory_equal(event.text, "hello", 5);
    }
    assert_int_equal(journal_next(&j, &place, &event), 0);
    journal_deinit(&j);
}

/* A program prints what looks like an event, and somebody names the place of that. */
static void stays_inside_whatever_the_place(void **state)
{
    struct mailbox_entry fake = {.kind = EVENT_OUTPUT, .a = 1, .text_bytes = UINT32_MAX};
    struct mailbox_entry e = {
        .kind = EVENT_OUTPUT, .a = 1, .text_bytes = sizeof fake, .at.events = 1};
    struct journal j = {0};
    struct debuggee_event event;

    (void)state;
    assert_true(journal_add(&j, &e, &fake));
    for (size_t from = 0; from < 3 * sizeof e; from++) {
        size_t place = from;
        if (journal_next(&j, &place, &event) == 1)
            assert_true(event.text + event.text_bytes <= j.bytes + j.used);
    }
    journal_deinit(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added),
        cmocka_unit_test(stays_inside_whatever_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
