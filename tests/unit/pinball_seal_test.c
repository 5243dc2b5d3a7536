/* pinball_seal_test.c - pinball/seal.c: whose recording it is.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/pack.h"
#include "pinball/pinball.h"
#include "tests/unit/pinball_support.h"
#include "tests/unit/unit.h"

static bool is_own(const char *path)
{
    struct err err;
    struct pinball *p = pinball_open(path, &err);

    assert_non_null(p);
    bool own = pinball_is_own(p);
    pinball_close(p);
    return own;
}

static void make_twice(void)
{
    support_remove("a");
    support_remove("b");
    support_make("a");
    support_make("b");
}

static void copy_file(const char *from, const char *to)
{
    struct bytes file = support_load(from);

    support_store(to, file.data, file.bytes);
    free(file.data);
}

static void knows_what_was_made_here(void **state)
{
    struct stat st;

    (void)state;
    make_twice();
    assert_true(is_own("a"));
    assert_true(is_own("b"));
    assert_int_equal(stat("drdebug/key", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(st.st_size, 32);
}

static void another_key_makes_it_a_strangers(void **state)
{
    char key[32] = "not the key that it was made by";

    (void)state;
    make_twice();
    copy_file("drdebug/key", "kept");
    support_store("drdebug/key", key, sizeof key);
    assert_false(is_own("a"));
    copy_file("kept", "drdebug/key");
    assert_true(is_own("a"));
}

/* A key that others read, or that is no plain file, proves nothing, and is not used for new ones.
 */
static void refuses_a_key_that_others_have(void **state)
{
    (void)state;
    make_twice();
    chmod("drdebug/key", 0640);
    assert_false(is_own("a"));
    support_remove("a");
    support_make("a");
    chmod("drdebug/key", 0600);
    assert_false(is_own("a"));
    assert_true(is_own("b"));
    rename("drdebug/key", "drdebug/other");
    assert_int_equal(symlink("other", "drdebug/key"), 0);
    assert_false(is_own("b"));
    unlink("drdebug/key");
    rename("drdebug/other", "drdebug/key");
    assert_true(is_own("b"));
}

static void works_without_a_place_for_a_key(void **state)
{
    char state_home[256];

    (void)state;
    snprintf(state_home, sizeof state_home, "%s", getenv("XDG_STATE_HOME"));
    support_remove("a");
    setenv("XDG_STATE_HOME", "/dev/null/none", 1);
    support_make("a");
    assert_false(is_own("a"));
    setenv("XDG_STATE_HOME", state_home, 1);
    assert_false(is_own("a"));
}

/* An entry's path: `first` becomes `fIrst`. */
static void change_path(struct chunk *chunk, unsigned char *payload)
{
    unsigned char *at = memmem(payload, chunk->stored, "/first", 6);

    assert_non_null(at);
    at[2] = 'I';
}

static void change_head(struct chunk *chunk, unsigned char *payload)
{
    unsigned char *at = memmem(payload, chunk->stored, "two", 3);

    assert_non_null(at);
    *at = 'T';
}

static void a_change_breaks_the_seal(void **state)
{
    (void)state;
    make_twice();
    support_edit("a/head", 0, change_head);
    assert_false(is_own("a"));
    support_edit("b/index", 0, change_path);
    assert_false(is_own("b"));
}

/* A stranger has recordings of ours and mixes them. */
static void parts_of_two_recordings_are_no_recording(void **state)
{
    (void)state;
    make_twice();
    copy_file("a/index", "b/index");
    assert_false(is_own("b"));
    make_twice();
    copy_file("a/head", "b/head");
    assert_false(is_own("b"));
}

/* The entries are ours, the contents are not: their sums tell. */
static void change_contents(struct chunk *chunk, unsigned char *payload)
{
    (void)chunk;
    payload[chunk->stored - 1] ^= 1;
}

static void contents_are_checked_when_asked(void **state)
{
    struct err err;
    char path[128];

    (void)state;
    make_twice();
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    assert_int_equal(pinball_file_check(p, 0, &err), 0);
    snprintf(path, sizeof path, "a/files/%s", pinball_file(p, 0)->range[0].sha256);
    pinball_close(p);
    support_edit(path, 0, change_contents);
    p = pinball_open("a", &err);
    assert_non_null(p);
    assert_true(pinball_is_own(p));
    assert_int_equal(pinball_file_check(p, 0, &err), -1);
    assert_int_equal(pinball_file_check(p, 2, &err), -1);
    assert_int_equal(pinball_file_check(p, 1, &err), 0);
    pinball_close(p);
}

static void a_packed_one_is_still_our_own(void **state)
{
    static const struct pack_options options = {.debug = true, .sources = true};
    struct err err;

    (void)state;
    make_twice();
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    unlink("packed");
    assert_int_equal(pack(p, "packed", &options, &err), 0);
    pinball_close(p);
    assert_true(is_own("packed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_was_made_here),
        cmocka_unit_test(another_key_makes_it_a_strangers),
        cmocka_unit_test(refuses_a_key_that_others_have),
        cmocka_unit_test(works_without_a_place_for_a_key),
        cmocka_unit_test(a_change_breaks_the_seal),
        cmocka_unit_test(parts_of_two_recordings_are_no_recording),
        cmocka_unit_test(contents_are_checked_when_asked),
        cmocka_unit_test(a_packed_one_is_still_our_own),
    };

    return cmocka_run_group_tests_name("pinball_seal", tests, support_enter, support_leave);
}
