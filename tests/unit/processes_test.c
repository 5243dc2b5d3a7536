/* processes_test.c - replayer/children.h and held.h, about real children.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "replayer/children.h"
#include "replayer/held.h"
#include "tests/unit/unit.h"

enum { CHILDREN = 3, PIECE = 64 << 20, SLACK = 24 << 20 };

/* A child that says when it has done fn, and waits to be killed. */
static pid_t child(void (*fn)(void))
{
    int end[2];
    char byte;
    assert_int_equal(pipe(end), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (fn)
            fn();
        if (write(end[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(end[0], &byte, 1), 1);
    close(end[0]);
    close(end[1]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---- children ---- */

struct found {
    pid_t want[CHILDREN];
    int wanted, others;
};

static bool note(void *arg, pid_t pid)
{
    struct found *f = arg;
    for (int i = 0; i < CHILDREN; i++)
        if (f->want[i] == pid) {
            f->wanted++;
            return true;
        }
    f->others++;
    return true;
}

static void lists_all_children(void **state)
{
    (void)state;
    struct found f = {.wanted = 0};
    for (int i = 0; i < CHILDREN; i++)
        f.want[i] = child(NULL);
    kill(f.want[0], SIGKILL); /* ended, and not waited for */
    waitid(P_PID, (id_t)f.want[0], NULL, WEXITED | WNOWAIT);
    if (children_each(true, note, &f)) {
        assert_int_equal(f.wanted, CHILDREN);
        assert_int_equal(f.others, 0);
    } else
        puts("not tried: this kernel has no lists of children (CONFIG_PROC_CHILDREN)");
    f.wanted = 0;
    assert_true(children_each(false, note, &f));
    assert_int_equal(f.wanted, CHILDREN);
    for (int i = 0; i < CHILDREN; i++)
        end(f.want[i]);
}

static bool stop(void *arg, pid_t pid)
{
    (void)pid;
    ++*(int *)arg;
    return false;
}

static void stops_when_told(void **state)
{
    (void)state;
    int calls = 0;
    pid_t a = child(NULL), b = child(NULL);
    assert_true(children_each(false, stop, &calls));
    assert_int_equal(calls, 1);
    end(a);
    end(b);
}

/* ---- memory ---- */

static void *map(int flags, int fd)
{
    return mmap(NULL, PIECE, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static void take_private(void)
{
    memset(map(MAP_PRIVATE | MAP_ANONYMOUS, -1), 1, PIECE);
}

static void take_unmapped(void)
{
    int fd = memfd_create("x", MFD_CLOEXEC);
    if (ftruncate(fd, PIECE))
        _exit(1);
    void *p = map(MAP_SHARED, fd);
    memset(p, 1, PIECE);
    munmap(p, PIECE);
}

static void take_closed(void)
{
    memset(map(MAP_SHARED | MAP_ANONYMOUS, -1), 1, PIECE);
}

static void reserve(void)
{
    mmap(NULL, 1ull << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
         0);
}

/* What a child holds more than one that has done nothing; exactly, or as a bound. */
static int64_t held_by(void (*fn)(void), uint64_t enough)
{
    pid_t with = child(fn), without = child(NULL);
    int64_t more = (int64_t)held_bytes(&with, 1, enough) - (int64_t)held_bytes(&without, 1, enough);
    end(with);
    end(without);
    return more;
}

static void counts_what_is_held(void **state)
{
    (void)state;
    static void (*const kinds[])(void) = {take_private, take_unmapped, take_closed};
    for (int i = 0; i < 3; i++)
        for (int bound = 0; bound < 2; bound++) {
            int64_t more = held_by(kinds[i], bound ? UINT64_MAX : 0);
            assert_in_range(more, PIECE - SLACK, PIECE + SLACK);
        }
}

static void does_not_count_address_space(void **state)
{
    (void)state;
    assert_true(held_by(reserve, 0) < SLACK);
    assert_true(held_by(reserve, UINT64_MAX) < SLACK);
}

/* What a child and its copy share counts once, but not in the bound. */
static void counts_shared_memory_once(void **state)
{
    (void)state;
    void *p = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset(p, 1, PIECE);
    pid_t both[2] = {child(NULL), child(NULL)};
    assert_true(held_bytes(both, 2, 0) < PIECE + SLACK);
    assert_true(held_bytes(both, 2, UINT64_MAX) >= 2ull * PIECE);
    end(both[0]);
    end(both[1]);
    munmap(p, PIECE);
}

static void knows_what_there_is(void **state)
{
    (void)state;
    assert_true(memory_available() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_all_children),        cmocka_unit_test(stops_when_told),
        cmocka_unit_test(counts_what_is_held),       cmocka_unit_test(does_not_count_address_space),
        cmocka_unit_test(counts_shared_memory_once), cmocka_unit_test(knows_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
