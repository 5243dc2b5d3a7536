/* study_cache_test.c - which traces stay in the user's cache. SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "study/study_private.h"
#include "tests/unit/unit.h"

#define ID   "0123456789abcdef0123456789abcdef"
#define NEW  "ffffffffffffffffffffffffffffffff.trace"
#define HELD "1123456789abcdef0123456789abcdef.trace"

enum { KB = 1024, FILE_KB = 64, DAY = 24 * 3600 };

static char room[64];

static char *path_of(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", room, name);
    return path;
}

/* A file that was used so many days ago. */
static void make(const char *name, int days)
{
    static const char zeros[FILE_KB * KB] = "x";
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, zeros, sizeof zeros), (ssize_t)sizeof zeros);
    struct timespec t[2] = {{.tv_sec = time(NULL) - days * DAY},
                            {.tv_sec = time(NULL) - days * DAY}};
    assert_int_equal(futimens(fd, t), 0);
    assert_int_equal(fsync(fd), 0); /* some file systems know its blocks only then */
    close(fd);
}

static bool is_there(const char *name)
{
    struct stat st;
    return lstat(path_of(name), &st) == 0;
}

static void tidy(uint64_t kilobytes, uint64_t days)
{
    char own[400];
    snprintf(own, sizeof own, "%s", path_of(NEW));
    study_cache_tidy(own, &(struct study_cache_limits){kilobytes * KB, days * DAY});
}

static int begin(void **state)
{
    (void)state;
    snprintf(room, sizeof room, "/tmp/study_cache.XXXXXX");
    assert_non_null(mkdtemp(room));
    make(NEW, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", room);
    return system(command);
}

static void removes_what_was_not_used_for_long(void **state)
{
    (void)state;
    make(ID ".trace", 31);
    make(ID "-T1-20-401136..-T1-40-401136.trace", 31);
    make(ID ".trace.77.part", 31);
    make(HELD, 29);
    tidy(1 << 20, 30);
    assert_false(is_there(ID ".trace"));
    assert_false(is_there(ID "-T1-20-401136..-T1-40-401136.trace"));
    assert_false(is_there(ID ".trace.77.part"));
    assert_true(is_there(HELD));
    assert_true(is_there(NEW));
}

static void removes_the_oldest_of_too_many(void **state)
{
    (void)state;
    make(ID ".trace", 1);
    make(ID "-a.trace", 3);
    make(ID "-b.trace", 2);
    tidy(2 * FILE_KB + FILE_KB / 2, 30);
    assert_false(is_there(ID "-a.trace"));
    assert_false(is_there(ID "-b.trace"));
    assert_true(is_there(ID ".trace"));
    assert_true(is_there(NEW));
}

static void keeps_the_new_one_whatever_its_size(void **state)
{
    (void)state;
    make(ID ".trace", 1);
    tidy(1, 30);
    assert_false(is_there(ID ".trace"));
    assert_true(is_there(NEW));
}

static void keeps_what_is_held(void **state)
{
    (void)state;
    make(HELD, 40);
    make(ID ".trace", 39);
    int fd = study_cache_hold(path_of(HELD));
    assert_true(fd >= 0);
    /* Holding is using. */
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(st.st_mtime > time(NULL) - DAY);
    make(HELD, 40);
    tidy(1, 30);
    assert_true(is_there(HELD));
    assert_false(is_there(ID ".trace"));
    close(fd);
    tidy(1, 30);
    assert_false(is_there(HELD));
}

static void touches_nobody_elses_files(void **state)
{
    static const char *const other[] = {
        "notes.trace", ID, ID ".txt", ID "0.trace", "0123.trace", ID ".tracer", "x" ID ".trace",
    };
    (void)state;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        make(other[i], 100);
    assert_int_equal(mkdir(path_of(ID ".trace"), 0700), 0);
    assert_int_equal(symlink("/dev/null", path_of(ID "-link.trace")), 0);
    tidy(1, 30);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_true(is_there(other[i]));
    assert_true(is_there(ID ".trace"));
    assert_true(is_there(ID "-link.trace"));
}

static void names_are_its_own(void **state)
{
    (void)state;
    assert_int_equal(setenv("XDG_CACHE_HOME", room, 1), 0);
    char *path = study_cache_place(ID " T1:20:401136..");
    assert_non_null(path);
    const char *name = strrchr(path, '/') + 1;
    assert_string_equal(name, ID "-T1-20-401136...trace");
    free(path);
    assert_true(is_there("drdebug"));
    make("drdebug/" ID "-T1-20-401136...trace", 31);
    make("drdebug/" NEW, 0);
    study_cache_tidy(path_of("drdebug/" NEW), &(struct study_cache_limits){1 << 30, 30 * DAY});
    assert_false(is_there("drdebug/" ID "-T1-20-401136...trace"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(removes_what_was_not_used_for_long, begin, end),
        cmocka_unit_test_setup_teardown(removes_the_oldest_of_too_many, begin, end),
        cmocka_unit_test_setup_teardown(keeps_the_new_one_whatever_its_size, begin, end),
        cmocka_unit_test_setup_teardown(keeps_what_is_held, begin, end),
        cmocka_unit_test_setup_teardown(touches_nobody_elses_files, begin, end),
        cmocka_unit_test_setup_teardown(names_are_its_own, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
