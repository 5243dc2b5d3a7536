/* gdbstub_support.h - a stub on a program that is made up, without a client.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_GDBSTUB_SUPPORT_H
#define TESTS_UNIT_GDBSTUB_SUPPORT_H

#include "debug/gdbstub/server_private.h"
#include "tests/unit/debuggee_fake.h"
#include "tests/unit/unit.h"

extern struct server *server;
extern char said[1024]; /* the last message */

/* cmocka's setup and teardown. The client is connected and speaks for GDB 13. */
int support_start(void **state);
int support_end(void **state);

/* A packet's answer, valid until the next one; formatted. */
const char *ask(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *ask_bytes(const char *packet, size_t n);
/* The JSON that a qDrdebug is answered with. */
const char *query(const char *command);
/* What the stub has sent on its own since the last call: O packets, decoded. */
const char *shown(void);
/* What the client sends, now. */
void client_sends(const char *bytes);
/* All that a client is answered that sends these bytes and leaves. */
const char *serve(const char *bytes, size_t n);

void assert_contains(const char *text, const char *part);
/* A register of the answer to `g`. */
uint64_t general(int number);

#endif
