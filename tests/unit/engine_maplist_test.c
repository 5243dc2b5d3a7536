/* engine_maplist_test.c - reading the list of a process's mappings. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/rt/maplist.h"
#include "tests/unit/unit.h"

enum { PAGE = 4096, NAME = 240 };

/* A file with a long name, mapped: [0] to be read, [1] shared and to be written. */
struct file {
    char path[NAME + 32];
    struct stat st;
    char *at[2];
};

static int map_file(void **state)
{
    static struct file f;
    int n = snprintf(f.path, sizeof f.path, "/tmp/maplist.%d.", (int)getpid());
    memset(f.path + n, 'x', NAME - 20);
    int fd = open(f.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, 4 * PAGE) || fstat(fd, &f.st))
        return -1;
    f.at[0] = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 2 * PAGE);
    f.at[1] = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
    close(fd);
    *state = &f;
    return f.at[0] == MAP_FAILED || f.at[1] == MAP_FAILED ? -1 : 0;
}

static int unmap_file(void **state)
{
    struct file *f = *state;
    munmap(f->at[0], PAGE);
    munmap(f->at[1], 2 * PAGE);
    return unlink(f->path);
}

static bool find(const void *at, char *buf, size_t size, struct maplist_entry *e)
{
    struct maplist m;
    bool found = false;
    assert_int_equal(maplist_open(&m, 0, buf, size), 0);
    while (!found && maplist_next(&m, e))
        found = e->start == (gaddr)at;
    maplist_close(&m);
    return found;
}

static void tells_what_a_mapping_is(void **state)
{
    const struct file *f = *state;
    struct maplist_entry e;
    char buf[4096];
    assert_true(find(f->at[0], buf, sizeof buf, &e));
    assert_int_equal(e.end - e.start, PAGE);
    assert_int_equal(e.prot, PROT_READ);
    assert_false(e.shared);
    assert_int_equal(e.offset, 2 * PAGE);
    assert_int_equal(e.ino, f->st.st_ino);
    assert_string_equal(e.path, f->path);
    assert_true(find(f->at[1], buf, sizeof buf, &e));
    assert_int_equal(e.end - e.start, 2 * PAGE);
    assert_int_equal(e.prot, PROT_READ | PROT_WRITE);
    assert_true(e.shared);
    assert_int_equal(e.offset, PAGE);
}

/* The same list by other means, which map nothing. */
static size_t count_lines(void)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    for (char c; read(fd, &c, 1) == 1;)
        n += c == '\n';
    close(fd);
    return n;
}

static void tells_every_line_once_with_any_buffer(void **state)
{
    static const size_t sizes[] = {MAPLIST_LEAST, 129, 200, 1000, 4096, 4097, 1 << 16};
    static char buf[1 << 16];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct maplist m;
        struct maplist_entry e;
        size_t n = 0;
        gaddr last = 0;
        assert_int_equal(maplist_open(&m, 0, buf, sizes[i]), 0);
        for (; maplist_next(&m, &e); n++) {
            assert_true(e.start >= last && e.end > e.start && e.start % PAGE == 0);
            last = e.end;
        }
        maplist_close(&m);
        assert_int_equal(n, count_lines());
    }
}

static void cuts_a_name_that_does_not_fit(void **state)
{
    const struct file *f = *state;
    struct maplist_entry e;
    char buf[MAPLIST_LEAST];
    assert_true(find(f->at[0], buf, sizeof buf, &e));
    assert_int_equal(e.offset, 2 * PAGE);
    assert_true(e.path[0] == '/' && strlen(e.path) < strlen(f->path));
    assert_memory_equal(e.path, f->path, strlen(e.path));
}

static void names_what_is_no_file(void **state)
{
    struct maplist m;
    struct maplist_entry e;
    char buf[4096];
    int here = 0;
    bool stack = false, none = false;
    (void)state;
    assert_int_equal(maplist_open(&m, (int)getpid(), buf, sizeof buf), 0);
    while (maplist_next(&m, &e)) {
        if (strcmp(e.path, "[stack]") == 0)
            stack = (gaddr)&here >= e.start && (gaddr)&here < e.end;
        none |= !e.path[0];
    }
    maplist_close(&m);
    assert_true(stack && none);
}

static void says_why_it_cannot_be_read(void **state)
{
    struct maplist m;
    char buf[MAPLIST_LEAST];
    (void)state;
    assert_int_equal(maplist_open(&m, 0x7ffffffe, buf, sizeof buf), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_a_mapping_is),
        cmocka_unit_test(tells_every_line_once_with_any_buffer),
        cmocka_unit_test(cuts_a_name_that_does_not_fit),
        cmocka_unit_test(names_what_is_no_file),
        cmocka_unit_test(says_why_it_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, map_file, unmap_file);
}
