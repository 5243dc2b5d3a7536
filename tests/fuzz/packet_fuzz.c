/* packet_fuzz.c - arbitrary bytes from a client: read the same in one piece and byte by byte.
 *
 * SPDX-License-Identifier: MIT
 *
 * A packet that was taken must, framed again, be taken again.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/gdbstub/args.h"
#include "debug/gdbstub/packet.h"

enum { MAX_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen { /* compared byte by byte: no padding */
    size_t events, packets, bytes, sum;
};

static void check_again(const struct packet_reader *reader)
{
    static struct packet_reader second;
    struct reply data = {0}, frame = {0};
    size_t taken;

    packet_init(&second);
    reply_binary(&data, reader->data, reader->bytes, SIZE_MAX);
    packet_frame(&frame, data.data ? data.data : "", data.bytes);
    if (packet_feed(&second, frame.data, frame.bytes, &taken) != PACKET_DATA ||
        taken != frame.bytes || second.bytes != reader->bytes ||
        memcmp(second.data, reader->data, reader->bytes) != 0)
        abort();
    reply_deinit(&data);
    reply_deinit(&frame);
}

static struct seen feed(const uint8_t *data, size_t size, size_t piece, bool sums)
{
    static struct packet_reader reader;
    struct seen seen = {0};

    packet_init(&reader);
    reader.sums_ignored = !sums;
    for (size_t at = 0; at < size;) {
        size_t n = size - at < piece ? size - at : piece, taken;
        enum packet_event event = packet_feed(&reader, data + at, n, &taken);
        if (taken == 0 || taken > n || reader.bytes > PACKET_ROOM)
            abort();
        at += taken;
        if (event == PACKET_NONE)
            continue;
        seen.events++;
        seen.sum = seen.sum * 31 + event;
        if (event != PACKET_DATA)
            continue;
        seen.packets++;
        seen.bytes += reader.bytes;
        if (reader.data[reader.bytes] != '\0')
            abort();
        if (piece == size)
            check_again(&reader);
    }
    return seen;
}

/* What arguments are read with never goes past their end, and takes nothing when it fails. */
static void read_arguments(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1), out[64];
    struct args args = {copy, copy + size}, part;
    uint64_t number;

    memcpy(copy, data, size);
    while (args_until(&args, ';', &part)) {
        struct args rest = part;
        if (!args_hex(&rest, &number) && rest.at != part.at)
            abort();
        args_decimal(&rest, &number);
        args_take(&rest, ',');
        args_bytes(&rest, out, sizeof out);
        args_string(&rest, out, sizeof out);
        args_copy(&rest, out, sizeof out);
        if (rest.at > rest.end || args_left(&rest) > args_left(&part))
            abort();
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MAX_BYTES)
        return -1;
    for (int sums = 0; sums < 2; sums++) {
        struct seen whole = feed(data, size, size, sums);
        struct seen single = feed(data, size, 1, sums);
        if (memcmp(&whole, &single, sizeof whole) != 0)
            abort();
    }
    read_arguments(data, size);
    return 0;
}
