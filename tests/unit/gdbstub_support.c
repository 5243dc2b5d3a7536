/* gdbstub_support.c - a stub on a program that is made up, without a client.
 * SPDX-License-Identifier: MIT */
#include "tests/unit/gdbstub_support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct server *server;
char said[1024];

static int fds[2];
static struct link *wire;

static void note(void *arg, const char *line)
{
    (void)arg;
    snprintf(said, sizeof said, "%s", line);
}

int support_start(void **state)
{
    static const struct link_options link_options = {.message = note, .end_fd = -1};
    static const struct server_options options = {.open = fake_open, .message = note, .end_fd = -1};
    struct err err;

    (void)state;
    said[0] = '\0';
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || fcntl(fds[1], F_SETFL, O_NONBLOCK))
        return -1;
    wire = link_open_fds(fds[0], fds[0], &link_options, &err);
    server = server_new(&options, wire, &err);
    if (!server)
        return -1;
    ask("qSupported:multiprocess+;swbreak+;hwbreak+;exec-events+;xmlRegisters=i386");
    return 0;
}

int support_end(void **state)
{
    (void)state;
    server_free(server);
    link_close(wire);
    close(fds[0]);
    close(fds[1]);
    return 0;
}

const char *ask_bytes(const char *packet, size_t n)
{
    /* A copy of its own size, so that a read past the end is found. */
    char *copy = malloc(n ? n : 1);

    memcpy(copy, packet, n);
    server_answer(server, copy, n);
    free(copy);
    return server->reply.data ? server->reply.data : "";
}

const char *ask(const char *fmt, ...)
{
    char packet[2000];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(packet, sizeof packet, fmt, args);
    va_end(args);
    return ask_bytes(packet, (size_t)n);
}

const char *query(const char *command)
{
    static char text[100000];
    const char *hex = ask("qDrdebug,%s", command);
    struct args args = {hex, hex + strlen(hex)};

    assert_true(args_string(&args, text, sizeof text));
    return text;
}

/* Takes `$O...#cc` apart. */
const char *shown(void)
{
    static char text[4096];
    char bytes[4096];
    size_t n = 0;
    ssize_t got = read(fds[1], bytes, sizeof bytes);

    for (char *p = bytes; got > 0 && p < bytes + got; p++)
        if (*p == 'O') {
            struct args args = {p + 1, bytes + got};
            n += args_bytes(&args, text + n, sizeof text - 1 - n);
        }
    text[n] = '\0';
    return text;
}

void client_sends(const char *bytes)
{
    assert_int_equal(write(fds[1], bytes, strlen(bytes)), strlen(bytes));
}

const char *serve(const char *bytes, size_t n)
{
    static char answers[65536];
    size_t got = 0;
    ssize_t more;

    assert_int_equal(write(fds[1], bytes, n), n);
    shutdown(fds[1], SHUT_WR);
    server_serve(server);
    while ((more = read(fds[1], answers + got, sizeof answers - 1 - got)) > 0)
        got += (size_t)more;
    answers[got] = '\0';
    return answers;
}

void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        print_error("'%s' is not in '%s'\n", part, text);
        fail();
    }
}

uint64_t general(int number)
{
    const char *hex = ask("p%x", (unsigned)number);
    struct args args = {hex, hex + strlen(hex)};
    uint64_t value = 0;

    assert_true(args_bytes(&args, &value, sizeof value) > 0);
    return value;
}
