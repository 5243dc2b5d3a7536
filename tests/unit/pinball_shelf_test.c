/* pinball_shelf_test.c - files that several writers keep are read once: pinball/shelf.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/shelf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pinball/pinball.h"
#include "pinball/writer.h"
#include "pinball/writer_private.h"
#include "tests/unit/pinball_support.h"
#include "tests/unit/unit.h"

static struct err err;

/* The first byte of the file as a recording has it that was made with this shelf. */
static char kept(struct shelf *shelf, const char *path)
{
    struct writer *w;
    uint32_t number;
    uint64_t size;
    char byte;
    int fd = open(path, O_RDONLY);

    support_remove("a");
    assert_true(fd >= 0);
    assert_non_null(w = writer_new("a", &err));
    writer_share(w, shelf);
    assert_int_equal(writer_head(w, "a b\n", 4, &err), 0);
    assert_int_equal(writer_keep(w, fd, 0, 1, &number, &size, &err), 0);
    assert_int_equal(writer_end(w, "reason exit\n", 12, &err), 0);
    writer_free(w);
    close(fd);
    struct pinball *p = pinball_open("a", &err);
    assert_non_null(p);
    assert_int_equal(pinball_file_read(p, number, 0, &byte, 1, &err), 0);
    pinball_close(p);
    return byte;
}

/* Puts something else there than the file holds, to tell who was asked. */
static void put(struct shelf *shelf, const char *path)
{
    struct stat st;
    char identity[IDENTITY_BYTES];

    assert_int_equal(stat(path, &st), 0);
    keep_identity(&st, identity);
    char *data = calloc(1, (size_t)st.st_size);
    assert_non_null(data);
    *data = '!';
    assert_true(shelf_put(shelf, identity, data, (size_t)st.st_size));
}

static void takes_an_old_file_from_the_shelf(void **state)
{
    struct shelf *shelf = shelf_new();

    (void)state;
    assert_int_equal(kept(shelf, "/bin/true"), '\x7f');
    assert_int_equal(kept(shelf, "/bin/true"), '\x7f');
    shelf_free(shelf);
    shelf = shelf_new();
    put(shelf, "/bin/true");
    assert_int_equal(kept(shelf, "/bin/true"), '!');
    shelf_free(shelf);
}

/* A change right after it was read would not show. */
static void reads_a_fresh_file_each_time(void **state)
{
    struct shelf *shelf = shelf_new();

    (void)state;
    support_store("fresh", "hello", 5);
    put(shelf, "fresh");
    assert_int_equal(kept(shelf, "fresh"), 'h');
    shelf_free(shelf);
}

static void has_its_limit(void **state)
{
    struct shelf *shelf = shelf_new();
    char *data = malloc(1);
    size_t bytes;

    (void)state;
    assert_false(shelf_put(shelf, "large", data, WRITER_WHOLE_BYTES + 1ul));
    assert_true(shelf_put(shelf, "small", data, 1));
    assert_ptr_equal(shelf_find(shelf, "small", &bytes), data);
    assert_int_equal(bytes, 1);
    assert_null(shelf_find(shelf, "large", &bytes));
    shelf_free(shelf);
}

#define T(f) cmocka_unit_test_setup_teardown(f, support_enter, support_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(takes_an_old_file_from_the_shelf),
        T(reads_a_fresh_file_each_time),
        T(has_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
