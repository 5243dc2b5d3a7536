/* engine_kinds_test.c - what syscalls.def says of descriptors against what the kernel does.
 *
 * SPDX-License-Identifier: MIT
 *
 * Real calls are made, and the descriptors that are open afterwards are counted.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/os/kinds.h"
#include "tests/unit/unit.h"

enum { FDS = 256 };

static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < FDS; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

struct made {
    long nr;
    long a[6];
};

static long make(const struct made *c)
{
    return syscall(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
}

/* How many more there are after a call, as the table has it. */
static int told(const struct made *c)
{
    const struct call_kind k = kinds_of(c->nr);
    switch (k.does) {
    case DOES_OPENS:
    case DOES_OPENS_ANYHOW:
    case DOES_MAKES_FILE:
    case DOES_MAKES:
    case DOES_FETCHES:
        return 1;
    case DOES_DUPLICATES:
    case DOES_CONTROLS:
        return kinds_duplicates(k, c->a) ? 1 : 0;
    case DOES_MAKES_TWO:
        return 2;
    case DOES_CLOSES:
        return -1;
    case DOES_CLOSES_RANGE:
        return -(int)(c->a[1] - c->a[0] + 1);
    default:
        return 0;
    }
}

static void makes_and_closes_the_descriptors_that_it_says(void **state)
{
    static int two[2];
    static uint64_t set;
    static char text[8];
    static struct itimerspec soon;
    int scratch = open("/dev/null", O_RDWR);
    const long buffer = (long)text, pair = (long)two, signals = (long)&set;
    const long null = (long)"/dev/null", how[3] = {O_RDONLY};
    const struct made list[] = {
        {SYS_open, {null, O_RDONLY}},
        {SYS_openat, {AT_FDCWD, null, O_WRONLY}},
        {SYS_openat2, {AT_FDCWD, null, (long)how, sizeof how}},
        {SYS_creat, {null, 0600}},
        {SYS_memfd_create, {(long)"kinds", 0}},
        {SYS_socket, {AF_UNIX, SOCK_STREAM, 0}},
        {SYS_eventfd, {0}},
        {SYS_eventfd2, {0, 0}},
        {SYS_epoll_create, {1}},
        {SYS_epoll_create1, {0}},
        {SYS_timerfd_create, {CLOCK_MONOTONIC, 0}},
        {SYS_signalfd, {-1, signals, 8}},
        {SYS_signalfd4, {-1, signals, 8, 0}},
        {SYS_inotify_init, {0}},
        {SYS_inotify_init1, {0}},
        {SYS_pidfd_open, {getpid(), 0}},
        {SYS_pipe, {pair}},
        {SYS_pipe2, {pair, 0}},
        {SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, pair}},
        {SYS_dup, {scratch}},
        {SYS_dup2, {scratch, 200}},
        {SYS_dup3, {scratch, 201, 0}},
        {SYS_fcntl, {scratch, F_DUPFD, 100}},
        {SYS_fcntl, {scratch, F_DUPFD_CLOEXEC, 100}},
        {SYS_fcntl, {scratch, F_GETFL, 0}},
        {SYS_close, {200}},
        {SYS_close_range, {201, 201, 0}},
        {SYS_read, {scratch, buffer, 1}},
        {SYS_write, {scratch, buffer, 1}},
        {SYS_lseek, {scratch, 0, SEEK_SET}},
        {SYS_getpid, {0}},
        {SYS_nanosleep, {(long)&soon}},
    };
    (void)state;
    assert_true(scratch >= 0);
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        const int before = open_descriptors();
        two[0] = two[1] = -1;
        if (make(&list[i]) < 0)
            fail_msg("call %ld cannot be made", list[i].nr);
        const int more = open_descriptors() - before;
        if (more != told(&list[i]))
            fail_msg("call %ld: %d descriptors, not %d", list[i].nr, more, told(&list[i]));
        if (kinds_of(list[i].nr).does == DOES_MAKES_TWO) {
            assert_int_equal(list[i].a[kinds_of(list[i].nr).arg], pair);
            assert_true(two[0] >= 0 && two[1] >= 0);
        }
    }
    close_range(3, ~0u, 0);
}

static void opens_to_write_by_the_flags_where_they_are(void **state)
{
    const long a[6] = {0, O_WRONLY, O_RDONLY};
    (void)state;
    assert_true(kinds_opens_to_write(kinds_of(SYS_open), a));
    assert_false(kinds_opens_to_write(kinds_of(SYS_openat), a));
    assert_true(kinds_opens_to_write(kinds_of(SYS_creat), a));
    assert_false(kinds_opens_to_write(kinds_of(SYS_memfd_create), a));
    assert_true(kinds_opens(kinds_of(SYS_open)) && kinds_opens(kinds_of(SYS_openat2)));
    assert_false(kinds_opens(kinds_of(SYS_socket)) || kinds_opens(kinds_of(SYS_dup)));
}

static void tells_who_sends_and_who_receives(void **state)
{
    static const long sends[] = {SYS_write, SYS_writev, SYS_sendto, SYS_sendmsg, SYS_close};
    static const long receives[] = {SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_poll};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sends); i++)
        assert_true(kinds_of(sends[i]).message & MESSAGE_SENDS);
    for (size_t i = 0; i < ARRAY_LEN(receives); i++)
        assert_int_equal(kinds_of(receives[i]).message & MESSAGE_EXCHANGES, MESSAGE_RECEIVES);
    assert_int_equal(kinds_of(SYS_flock).message, MESSAGE_EXCHANGES);
    assert_int_equal(kinds_of(SYS_getpid).message, MESSAGE_0);
    assert_true(kinds_of(SYS_read).message & MESSAGE_BY_DESCRIPTOR);
    assert_false(kinds_of(SYS_recvfrom).message & MESSAGE_BY_DESCRIPTOR);
}

static void a_number_without_a_row_may_use_all_arguments(void **state)
{
    static const int64_t none[] = {-1, 335, 423, KINDS_CALLS, INT64_MAX, INT64_MIN};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        const struct call_kind k = kinds_of(none[i]);
        assert_int_equal(k.args, KINDS_ARGS);
        assert_int_equal(k.does, DOES_0);
        assert_int_equal(k.message, MESSAGE_0);
    }
    assert_int_equal(kinds_of(SYS_getpid).args, 0);
    assert_int_equal(kinds_of(SYS_mmap).args, 6);
    assert_int_equal(kinds_of(SYS_clone).args, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_and_closes_the_descriptors_that_it_says),
        cmocka_unit_test(opens_to_write_by_the_flags_where_they_are),
        cmocka_unit_test(tells_who_sends_and_who_receives),
        cmocka_unit_test(a_number_without_a_row_may_use_all_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
