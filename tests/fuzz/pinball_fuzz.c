/* pinball_fuzz.c - arbitrary bytes as a packed pinball: refused with a message or read, never more.
 *
 * SPDX-License-Identifier: MIT
 *
 * Read once as they are and once with all sums made right, for no fuzzer guesses those.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pinball/chunk.h"
#include "pinball/pinball.h"
#include "pinball/xxh64.h"

enum { MAX_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything in a packed pinball is chunks, one behind the other. */
static void reseal(uint8_t *data, size_t size)
{
    struct chunk c;

    for (size_t at = 0; size - at >= sizeof c;) {
        size_t left = size - at - sizeof c;
        memcpy(&c, data + at, sizeof c);
        c.magic = CHUNK_MAGIC;
        c.version = PINBALL_VERSION;
        c.pad = 0;
        size_t stored = c.stored < left ? c.stored : left;
        c.sum = xxh64(data + at + sizeof c, stored, 0);
        c.header_sum = xxh64(&c, offsetof(struct chunk, header_sum), 0);
        memcpy(data + at, &c, sizeof c);
        at += sizeof c + stored;
    }
}

static int read_all(struct pinball *p, struct err *err)
{
    const char *key, *value;
    char data[5000];

    for (size_t at = 0; pinball_head_line(p, &at, &key, &value);)
        if (strlen(key) + strlen(value) > MAX_BYTES)
            abort();
    pinball_end_get(p, "reason");
    pinball_bytes(p);
    for (uint32_t n = 0; n < pinball_files(p); n++) {
        const struct kept_file *f = pinball_file(p, n);
        if (pinball_file_read(p, n, 0, data, sizeof data, err) ||
            pinball_file_read(p, n, f->size / 2, data, sizeof data, err))
            return -1;
    }
    return pinball_check(p, NULL, NULL, err);
}

static void read_pinball(const uint8_t *data, size_t size)
{
    struct err err = {.msg = ""};
    char path[64];
    int fd = memfd_create("pinball", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct pinball *p = pinball_open(path, &err);
    if ((!p || read_all(p, &err)) && !strstr(err.msg, path)) {
        fprintf(stderr, "no file in the message '%s'\n", err.msg);
        abort();
    }
    pinball_close(p);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *sealed = malloc(size + 1);

    if (!sealed || size > MAX_BYTES) {
        free(sealed);
        return -1;
    }
    read_pinball(data, size);
    memcpy(sealed, data, size);
    reseal(sealed, size);
    read_pinball(sealed, size);
    free(sealed);
    return 0;
}
