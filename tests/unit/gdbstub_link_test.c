/* gdbstub_link_test.c - sockets that GDB connects to.
 *
 * SPDX-License-Identifier: MIT
 */
#include "debug/gdbstub/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char said[1024], dir[] = "/tmp/link_test.XXXXXX";

static void note(void *arg, const char *line)
{
    (void)arg;
    snprintf(said, sizeof said, "%s", line);
}

static const struct link_options options = {.message = note, .end_fd = -1};

static const char *in_dir(const char *name)
{
    static char path[100];

    snprintf(path, sizeof path, "unix:%s/%s", dir, name);
    return path;
}

static int connect_unix(const char *address)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(a.sun_path, sizeof a.sun_path, "%s", address + 5);
    if (connect(fd, (struct sockaddr *)&a, sizeof a)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void passes_bytes_both_ways(void **state)
{
    const char *address = in_dir("a");
    struct err err;
    struct link *link = link_open(address, &options, &err);
    char buf[16];
    struct stat st;

    (void)state;
    assert_non_null(link);
    assert_int_equal(strncmp(said, "listening on unix:", 18), 0);
    assert_int_equal(stat(address + 5, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    int fd = connect_unix(address);
    assert_int_equal(link_accept(link, &err), 1);
    assert_int_equal(link_read(link, buf, sizeof buf, false), 0);
    assert_int_equal(write(fd, "ping", 4), 4);
    assert_int_equal(link_read(link, buf, sizeof buf, true), 4);
    assert_int_equal(link_write(link, "pong", 4), 0);
    assert_int_equal(read(fd, buf, sizeof buf), 4);
    close(fd);
    assert_int_equal(link_read(link, buf, sizeof buf, true), -1);
    link_close(link);
    assert_int_equal(stat(address + 5, &st), -1);
}

static void turns_others_away_and_takes_the_next(void **state)
{
    const char *address = in_dir("b");
    struct err err;
    struct link *link = link_open(address, &options, &err);
    char buf[16];

    (void)state;
    int first = connect_unix(address);
    assert_int_equal(link_accept(link, &err), 1);
    int second = connect_unix(address);
    assert_int_equal(link_read(link, buf, sizeof buf, false), 0);
    assert_string_equal(said, "another client was turned away: one at a time");
    assert_int_equal(read(second, buf, sizeof buf), 0);
    close(second);

    said[0] = '\0';
    assert_int_equal(write(first, "$qSup", 5), 5);
    close(first);
    second = connect_unix(address); /* the first one has left: this one is next */
    assert_int_equal(link_read(link, buf, sizeof buf, true), 5);
    assert_int_equal(link_read(link, buf, sizeof buf, true), -1);
    link_drop(link);
    assert_int_equal(link_accept(link, &err), 1);
    assert_string_equal(said, "");
    assert_int_equal(link_write(link, "hi", 2), 0);
    assert_int_equal(read(second, buf, sizeof buf), 2);
    close(second);
    link_close(link);
}

static void a_client_that_left_is_no_signal(void **state)
{
    const char *address = in_dir("c");
    struct err err;
    struct link *link = link_open(address, &options, &err);
    int failed = 0;

    (void)state;
    close(connect_unix(address));
    assert_int_equal(link_accept(link, &err), 1);
    for (int i = 0; i < 3; i++)
        failed |= link_write(link, "gone", 4);
    assert_int_equal(failed, -1);
    link_close(link);
}

static void replaces_a_socket_that_nobody_listens_on(void **state)
{
    const char *address = in_dir("d");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct err err;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    snprintf(a.sun_path, sizeof a.sun_path, "%s", address + 5);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    close(fd);
    struct link *link = link_open(address, &options, &err);
    assert_non_null(link);
    assert_null(link_open(address, &options, &err)); /* this one is in use */
    assert_non_null(strstr(err.msg, strerror(EADDRINUSE)));
    link_close(link);
}

static void leaves_a_file_alone(void **state)
{
    const char *address = in_dir("e");
    struct err err;
    FILE *f = fopen(address + 5, "w");

    (void)state;
    assert_non_null(f);
    fclose(f);
    assert_null(link_open(address, &options, &err));
    assert_int_equal(access(address + 5, F_OK), 0);
    unlink(address + 5);
}

static void listens_on_loopback_by_default(void **state)
{
    struct err err;
    struct link *link = link_open(":0", &options, &err);
    unsigned port;

    (void)state;
    assert_non_null(link);
    assert_int_equal(sscanf(said, "listening on 127.0.0.1:%u", &port), 1);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(link_accept(link, &err), 1);
    close(fd);
    link_close(link);
}

static void refuses_bad_addresses(void **state)
{
    static const char *const bad[] = {"",      "4711",   "localhost",  ":",
                                      ":x",    ":70000", ":-1",        ":123456",
                                      "unix:", ":1 ",    "localhost:", "unix:/none/such/place"};
    struct err err;
    char longer[400];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(link_open(bad[i], &options, &err));
    memset(longer, 'x', sizeof longer);
    memcpy(longer, "unix:", 5);
    longer[sizeof longer - 1] = '\0';
    assert_null(link_open(longer, &options, &err));
    memcpy(longer + 390, ":1", 3);
    assert_null(link_open(longer + 10, &options, &err));
}

static void ends_when_it_is_told_to(void **state)
{
    const char *address = in_dir("f");
    struct link_options ending = options;
    struct err err;
    int end[2];
    char buf[4];

    (void)state;
    assert_int_equal(pipe(end), 0);
    ending.end_fd = end[0];
    struct link *link = link_open(address, &ending, &err);
    int fd = connect_unix(address);
    assert_int_equal(link_accept(link, &err), 1);
    assert_int_equal(write(end[1], "", 1), 1);
    assert_int_equal(link_read(link, buf, sizeof buf, true), -1);
    link_drop(link);
    assert_int_equal(link_accept(link, &err), 0);
    close(fd);
    close(end[0]);
    close(end[1]);
    link_close(link);
}

static void descriptors_are_one_client(void **state)
{
    struct err err;
    int fds[2];
    char buf[4];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct link *link = link_open_fds(fds[0], fds[0], &options, &err);
    assert_int_equal(link_accept(link, &err), 1);
    close(fds[1]);
    assert_int_equal(link_read(link, buf, sizeof buf, true), -1);
    link_drop(link);
    assert_int_equal(link_accept(link, &err), 0);
    link_close(link);
    close(fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_bytes_both_ways),
        cmocka_unit_test(turns_others_away_and_takes_the_next),
        cmocka_unit_test(a_client_that_left_is_no_signal),
        cmocka_unit_test(replaces_a_socket_that_nobody_listens_on),
        cmocka_unit_test(leaves_a_file_alone),
        cmocka_unit_test(listens_on_loopback_by_default),
        cmocka_unit_test(refuses_bad_addresses),
        cmocka_unit_test(ends_when_it_is_told_to),
        cmocka_unit_test(descriptors_are_one_client),
    };

    if (!mkdtemp(dir))
        return 1;
    int failed = cmocka_run_group_tests_name("gdbstub_link", tests, NULL, NULL);
    rmdir(dir);
    return failed;
}
