/* link.h - how bytes come from and go to a client.
 *
 * SPDX-License-Identifier: MIT
 *
 * Either standard input and output, for GDB's `target remote | drdebug serve ...`, or a socket that
 * one client after the other connects to. While one is connected, others are let in only to be
 * turned away, so that they need not wait for nothing.
 *
 *     link = link_open("unix:/tmp/s", &options, &err);
 *     while (link_accept(link, &err) > 0)
 *         while ((n = link_read(link, bytes, sizeof bytes, true)) > 0)
 *             ...
 */
#ifndef DEBUG_GDBSTUB_LINK_H
#define DEBUG_GDBSTUB_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct link;

struct link_options {
    void (*message)(void *arg, const char *line); /* without a newline; NULL: dropped */
    void *arg;
    int end_fd; /* once it can be read, or its other end is closed, all is over; -1: none */
    bool once;  /* one client, which comes within a minute or never */
};

/* `address` is unix:PATH, HOST:PORT, [HOST]:PORT or :PORT, which means 127.0.0.1; port 0 is any
 * free one. NULL: standard input and output. A message says where it listens. */
struct link *link_open(const char *address, const struct link_options *options, struct err *err);
/* A client that is there already; its descriptors stay the caller's. */
struct link *link_open_fds(int in, int out, const struct link_options *options, struct err *err);
void link_close(struct link *link); /* NULL is allowed; removes the socket */

/* Waits for a client, after the last one was dropped: 1, or 0 if none will come any more. */
int link_accept(struct link *link, struct err *err);
void link_drop(struct link *link);

/* Returns how many bytes came, at least one; 0, only without `wait`: none now; -1: the client is
 * gone. */
ssize_t link_read(struct link *link, void *bytes, size_t room, bool wait);
/* 0, or -1: the client is gone. */
int link_write(struct link *link, const void *bytes, size_t n);

#endif
