/* packet.h - the framing of GDB's remote protocol.
 *
 * SPDX-License-Identifier: MIT
 *
 * `$data#cc`, where cc is the sum of data's bytes as two hexadecimal digits; `}` in data stands for
 * the next byte with bit 0x20 turned. Between packets come `+` and `-` (received well or not) and
 * the byte 0x03, the interrupt. "Overview" of appendix "GDB Remote Serial Protocol" of GDB's
 * manual.
 *
 * A reader is given bytes in pieces of any size and returns what is whole. It does no input or
 * output, and its size is fixed.
 */
#ifndef DEBUG_GDBSTUB_PACKET_H
#define DEBUG_GDBSTUB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug/gdbstub/reply.h"

/* What the stub tells GDB; a reader has room for somewhat more. */
enum { PACKET_BYTES = 0x20000, PACKET_ROOM = PACKET_BYTES + 4096 };

enum packet_event {
    PACKET_NONE,      /* all bytes taken, nothing whole yet */
    PACKET_DATA,      /* data, bytes */
    PACKET_ACK,       /* + */
    PACKET_NACK,      /* -: wants the last packet again */
    PACKET_INTERRUPT, /* 0x03 */
    PACKET_BAD,       /* its sum is wrong, or it is malformed */
    PACKET_LONG,      /* longer than PACKET_ROOM */
};

struct packet_reader {
    enum { PACKET_OUTSIDE, PACKET_INSIDE, PACKET_ESCAPED, PACKET_SUM, PACKET_SUM_LOW } state;
    bool sums_ignored; /* set by the owner once nothing is acknowledged any more */
    bool is_bad, is_long;
    uint8_t sum, said;
    size_t bytes;
    char data[PACKET_ROOM + 1]; /* unescaped; NUL follows */
};

void packet_init(struct packet_reader *reader);
/* Takes bytes until something is whole; *taken says how many. After PACKET_DATA, data and bytes
 * hold until the next call. */
enum packet_event packet_feed(struct packet_reader *reader, const void *bytes, size_t n,
                              size_t *taken);
/* No packet has begun. */
bool packet_outside(const struct packet_reader *reader);

/* Appends `$data#cc`. Binary data has been escaped already (reply_binary). */
void packet_frame(struct reply *out, const void *data, size_t n);

#endif
