/* link.c - how bytes come from and go to a client. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* accept4 */
#include "debug/gdbstub/link.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct link {
    struct link_options options;
    int listener; /* -1: none, there is one client only */
    int in, out;  /* the client's; -1: there is none */
    bool over;
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* "": nothing to remove */
};

static void say(const struct link *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct link *l, const char *fmt, ...)
{
    char line[512];
    va_list args;

    if (!l->options.message)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    l->options.message(l->options.arg, line);
}

/* ---- where to listen ---- */

/* A socket that nobody listens on any more may be replaced, as its owner was killed. */
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat st;
    bool refused = false;

    if (lstat(address->sun_path, &st) || !S_ISSOCK(st.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        refused =
            connect(fd, (const struct sockaddr *)address, sizeof *address) && errno == ECONNREFUSED;
        close(fd);
    }
    return refused;
}

static int listen_unix(struct link *l, const char *path, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (*path == '\0' || strlen(path) >= sizeof address.sun_path)
        return err_set(err, "unix:%s: a path has 1 to %zu characters", path,
                       sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    l->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->listener < 0)
        return err_set(err, "unix:%s: %s", path, strerror(errno));
    fchmod(l->listener, 0600); /* only for its owner, from the first moment on */
    int bad = bind(l->listener, (const struct sockaddr *)&address, sizeof address);
    if (bad && errno == EADDRINUSE && is_stale(&address) && unlink(path) == 0)
        bad = bind(l->listener, (const struct sockaddr *)&address, sizeof address);
    if (bad)
        return err_set(err, "unix:%s: %s", path, strerror(errno));
    strcpy(l->path, path);
    if (listen(l->listener, 8))
        return err_set(err, "unix:%s: %s", path, strerror(errno));
    say(l, "listening on unix:%s", path);
    return 0;
}

/* Splits HOST:PORT. */
static int split(const char *address, char *host, size_t room, const char **port, struct err *err)
{
    const char *colon = strrchr(address, ':'), *end = colon;

    if (!colon)
        return err_set(err, "%s: not an address such as :4711, localhost:4711 or unix:PATH",
                       address);
    if (*address == '[' && colon > address && colon[-1] == ']')
        address++, end--;
    size_t n = (size_t)(end - address);
    if (n >= room)
        return err_set(err, "%s: the name is too long", address);
    memcpy(host, address, n);
    host[n] = '\0';
    if (n == 0)
        strcpy(host, "127.0.0.1");
    *port = colon + 1;
    if (**port == '\0' || strlen(*port) > 5 || (*port)[strspn(*port, "0123456789")] ||
        atoi(*port) > 65535)
        return err_set(err, "%s: a port is a number from 0 to 65535", *port);
    return 0;
}

static void say_where(const struct link *l)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    char host[64], port[16];

    if (getsockname(l->listener, (struct sockaddr *)&address, &bytes) == 0 &&
        getnameinfo((struct sockaddr *)&address, bytes, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        say(l, address.ss_family == AF_INET6 ? "listening on [%s]:%s" : "listening on %s:%s", host,
            port);
}

static int listen_tcp(struct link *l, const char *text, struct err *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found, *a;
    char host[256];
    const char *port = NULL;
    int cause = 0;

    if (split(text, host, sizeof host, &port, err))
        return -1;
    int failed = getaddrinfo(host, port, &hints, &found);
    if (failed)
        return err_set(err, "%s: %s", text, gai_strerror(failed));
    for (a = found; a; a = a->ai_next) {
        l->listener = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (l->listener >= 0) {
            setsockopt(l->listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
            if (bind(l->listener, a->ai_addr, a->ai_addrlen) == 0 && listen(l->listener, 8) == 0)
                break;
        }
        cause = errno;
        if (l->listener >= 0)
            close(l->listener);
        l->listener = -1;
    }
    freeaddrinfo(found);
    if (l->listener < 0)
        return err_set(err, "%s: %s", text, strerror(cause));
    say_where(l);
    return 0;
}

/* ---- opening ---- */

struct link *link_open_fds(int in, int out, const struct link_options *options, struct err *err)
{
    struct link *l = calloc(1, sizeof *l);

    if (!l) {
        err_set(err, "no memory");
        return NULL;
    }
    l->options = *options;
    l->listener = -1;
    l->in = in;
    l->out = out;
    return l;
}

struct link *link_open(const char *address, const struct link_options *options, struct err *err)
{
    if (!address)
        return link_open_fds(STDIN_FILENO, STDOUT_FILENO, options, err);
    struct link *l = link_open_fds(-1, -1, options, err);
    if (!l)
        return NULL;
    bool local = strncmp(address, "unix:", 5) == 0;
    if (local ? listen_unix(l, address + 5, err) : listen_tcp(l, address, err)) {
        link_close(l);
        return NULL;
    }
    return l;
}

void link_close(struct link *link)
{
    if (!link)
        return;
    link_drop(link);
    if (link->listener >= 0)
        close(link->listener);
    if (link->path[0])
        unlink(link->path);
    free(link);
}

/* ---- clients ---- */

void link_drop(struct link *link)
{
    if (link->in >= 0 && link->listener >= 0)
        close(link->in);
    link->in = link->out = -1;
    if (link->listener < 0 || link->options.once)
        link->over = true;
}

/* The next client's descriptor, -1: gone again already. */
static int take_client(struct link *l)
{
    int fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); /* fails on unix: fine */
    return fd;
}

static void turn_away(struct link *l)
{
    int fd = take_client(l);

    if (fd < 0)
        return;
    say(l, "another client was turned away: one at a time");
    close(fd);
}

enum ready { READY_CLIENT = 1, READY_LISTENER = 2 };

/* Which of client and listener have something; 0: none within the time, -1: it is all over. */
static int wait_for(struct link *l, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = l->in, .events = POLLIN},
                           {.fd = l->listener, .events = POLLIN},
                           {.fd = l->options.end_fd, .events = POLLIN}};
    int n;

    do
        n = poll(fds, 3, timeout_ms);
    while (n < 0 && errno == EINTR);
    if (n < 0 || fds[2].revents)
        l->over = true;
    if (l->over)
        return -1;
    return (fds[0].revents ? READY_CLIENT : 0) | (fds[1].revents ? READY_LISTENER : 0);
}

int link_accept(struct link *link, struct err *err)
{
    enum { MINUTE_MS = 60000 };

    while (!link->over && link->in < 0) {
        int ready = wait_for(link, link->options.once ? MINUTE_MS : -1);
        if (ready == 0)
            link->over = true;
        if (ready <= 0)
            break;
        if (!(ready & READY_LISTENER))
            continue;
        link->in = link->out = take_client(link);
        if (link->in < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
            return err_set(err, "a client cannot be let in: %s", strerror(errno));
    }
    return !link->over;
}

ssize_t link_read(struct link *link, void *bytes, size_t room, bool wait)
{
    for (;;) {
        int ready = link->in < 0 ? -1 : wait_for(link, wait ? -1 : 0);
        if (ready < 0)
            return -1;
        if (ready & READY_CLIENT) { /* first: it may have left, and the other one be the next */
            ssize_t n = read(link->in, bytes, room);
            if (n > 0)
                return n;
            if (n == 0 || (errno != EINTR && errno != EAGAIN))
                return -1;
        } else if (ready & READY_LISTENER) {
            turn_away(link);
        } else if (!wait) {
            return 0;
        }
    }
}

/* A client that does not read must not keep the server from ending. */
static bool can_write(struct link *l)
{
    struct pollfd fds[] = {{.fd = l->out, .events = POLLOUT},
                           {.fd = l->options.end_fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return false;
    l->over |= fds[1].revents != 0;
    return !l->over;
}

int link_write(struct link *link, const void *bytes, size_t n)
{
    enum { PIECE = 4096 }; /* of a pipe that can be written so much is free */
    const char *p = bytes;
    bool is_socket = link->listener >= 0;

    while (n) {
        if (!can_write(link))
            return -1;
        ssize_t done = is_socket ? send(link->out, p, n, MSG_NOSIGNAL | MSG_DONTWAIT)
                                 : write(link->out, p, n < PIECE ? n : PIECE);
        if (done < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (done <= 0)
            return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}
