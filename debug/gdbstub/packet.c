/* packet.c - the framing of GDB's remote protocol. SPDX-License-Identifier: MIT */
#include "debug/gdbstub/packet.h"

#include "debug/gdbstub/args.h"

void packet_init(struct packet_reader *reader)
{
    reader->state = PACKET_OUTSIDE;
    reader->sums_ignored = false;
    reader->bytes = 0;
}

bool packet_outside(const struct packet_reader *reader)
{
    return reader->state == PACKET_OUTSIDE;
}

static void begin(struct packet_reader *r)
{
    r->state = PACKET_INSIDE;
    r->is_bad = r->is_long = false;
    r->sum = 0;
    r->bytes = 0;
}

static enum packet_event outside(struct packet_reader *r, uint8_t c)
{
    switch (c) {
    case '$':
        begin(r);
        return PACKET_NONE;
    case '+':
        return PACKET_ACK;
    case '-':
        return PACKET_NACK;
    case 0x03:
        return PACKET_INTERRUPT;
    default:
        return PACKET_NONE; /* noise */
    }
}

static void add(struct packet_reader *r, uint8_t c)
{
    if (r->bytes < PACKET_ROOM)
        r->data[r->bytes++] = (char)c;
    else
        r->is_long = true;
}

/* `#` and `$` are never data, not even after `}`: the sender was cut off, or is none. */
static void inside(struct packet_reader *r, uint8_t c)
{
    bool escaped = r->state == PACKET_ESCAPED;

    if (c == '$') {
        begin(r);
        return;
    }
    if (c == '#') {
        r->is_bad |= escaped;
        r->state = PACKET_SUM;
        return;
    }
    r->sum = (uint8_t)(r->sum + c);
    if (escaped || c != '}') {
        add(r, escaped ? c ^ 0x20 : c);
        r->state = PACKET_INSIDE;
    } else {
        r->state = PACKET_ESCAPED;
    }
}

static enum packet_event sum(struct packet_reader *r, uint8_t c)
{
    int digit = args_digit((char)c);

    if (c == '$') {
        begin(r);
        return PACKET_NONE;
    }
    if (digit < 0)
        r->is_bad |= !r->sums_ignored;
    r->said = (uint8_t)(r->said << 4 | (digit < 0 ? 0 : digit));
    if (r->state == PACKET_SUM) {
        r->state = PACKET_SUM_LOW;
        return PACKET_NONE;
    }
    r->state = PACKET_OUTSIDE;
    r->data[r->bytes] = '\0';
    if (r->is_bad || (r->said != r->sum && !r->sums_ignored))
        return PACKET_BAD;
    return r->is_long ? PACKET_LONG : PACKET_DATA;
}

enum packet_event packet_feed(struct packet_reader *reader, const void *bytes, size_t n,
                              size_t *taken)
{
    const uint8_t *p = bytes;

    for (*taken = 0; *taken < n;) {
        uint8_t c = p[(*taken)++];
        enum packet_event event = PACKET_NONE;
        if (reader->state == PACKET_OUTSIDE)
            event = outside(reader, c);
        else if (reader->state <= PACKET_ESCAPED)
            inside(reader, c);
        else
            event = sum(reader, c);
        if (event != PACKET_NONE)
            return event;
    }
    return PACKET_NONE;
}

void packet_frame(struct reply *out, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint8_t total = 0;

    for (size_t i = 0; i < n; i++)
        total = (uint8_t)(total + p[i]);
    reply_text(out, "$");
    reply_bytes(out, data, n);
    reply_addf(out, "#%02x", total);
}
