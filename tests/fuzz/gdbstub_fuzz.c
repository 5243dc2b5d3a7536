/* gdbstub_fuzz.c - arbitrary packets, one after the other: each gets an answer, and no more
 * happens.
 *
 * SPDX-License-Identifier: MIT
 *
 * An input is packets without their frames, one on each line. The program is made up
 * (tests/unit/debuggee_fake.h).
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug/gdbstub/server_private.h"
#include "tests/unit/debuggee_fake.h"

enum { MAX_BYTES = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any answer is one that a packet can hold. */
static void check_answer(const struct reply *reply)
{
    bool escaped = false;

    for (size_t i = 0; i < reply->bytes; i++) {
        if (reply->data[i] == '#' || reply->data[i] == '$' || reply->data[i] == '*')
            abort();
        escaped = reply->data[i] == '}' && !escaped;
    }
    if (escaped)
        abort();
}

static void answer_all(struct server *s, const uint8_t *data, size_t size)
{
    while (size) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) : size;
        char *copy = malloc(n ? n : 1);
        memcpy(copy, data, n);
        server_answer(s, copy, n);
        free(copy);
        check_answer(&s->reply);
        n += end != NULL;
        data += n;
        size -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct link_options link_options = {.end_fd = -1};
    static const struct server_options options = {.open = fake_open, .end_fd = -1};
    static int null = -1;
    struct err err;

    if (size > MAX_BYTES)
        return -1;
    if (null < 0)
        null = open("/dev/null", O_RDWR);
    struct link *link = link_open_fds(null, null, &link_options, &err);
    struct server *s = link ? server_new(&options, link, &err) : NULL;
    if (!s)
        abort();
    answer_all(s, data, size);
    server_free(s);
    link_close(link);
    return 0;
}
