/* reply.h - text that grows: replies, documents, JSON.
 *
 * SPDX-License-Identifier: MIT
 *
 * {0} is an empty one. When memory runs out it becomes empty, `failed` is set and stays so until
 * reply_clear(); the function that sends it looks.
 */
#ifndef DEBUG_GDBSTUB_REPLY_H
#define DEBUG_GDBSTUB_REPLY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply {
    char *data; /* NUL follows */
    size_t bytes, room;
    bool failed;
};

void reply_clear(struct reply *reply); /* keeps the room */
void reply_deinit(struct reply *reply);

void reply_bytes(struct reply *reply, const void *bytes, size_t n);
void reply_text(struct reply *reply, const char *text);
void reply_addf(struct reply *reply, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void reply_addv(struct reply *reply, const char *fmt, va_list args);

/* Two digits for each byte. */
void reply_hex(struct reply *reply, const void *bytes, size_t n);
/* As they are, with those escaped that a packet cannot hold; stops before the reply has more than
 * `max` bytes. Returns how many of the n were added. */
size_t reply_binary(struct reply *reply, const void *bytes, size_t n, size_t max);
/* For people (base/plain.h), inside a packet: characters that the protocol has a use for become
 * question marks. */
void reply_plain(struct reply *reply, const char *text);
/* A JSON string with its quotes; what is not UTF-8 becomes U+FFFD. */
void reply_json(struct reply *reply, const void *text, size_t n);
/* Text inside an XML element or attribute. */
void reply_xml(struct reply *reply, const char *text);

#endif
