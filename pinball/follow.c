/* follow.c - read a recording while it is written. SPDX-License-Identifier: MIT
 *
 * All of it but the head is read anew each time: a chunk that was cut off where a file was missing
 * becomes whole, and headers are few. Three orders make that safe:
 *
 *  1. Whether there is an end is looked at first: if there is, everything else is final.
 *  2. Events are read before the index: a file is in the index before the log names it.
 *  3. A chunk counts when the file is as long as its header says: its bytes are there then.
 */
#include "pinball/follow.h"

#include <stddef.h>

#include "pinball/beneath.h"
#include "pinball/pinball_private.h"
#include "pinball/xxh64.h"

/* A header that is wrong stays: the reader is to name it. */
void follow_trim(struct span *span)
{
    uint64_t at = 0;
    struct chunk c;

    while (span->bytes - at >= sizeof c) {
        if (chunk_pread(span, at, &c, sizeof c, NULL) || c.magic != CHUNK_MAGIC ||
            c.header_sum != xxh64(&c, offsetof(struct chunk, header_sum), 0))
            return;
        if (c.stored > span->bytes - at - sizeof c)
            break;
        at = chunk_next(at, &c);
    }
    span->bytes = at;
}

struct pinball *follow_open(const char *path, struct err *err)
{
    return pinball_open_as(path, true, err);
}

int follow_refresh(struct pinball *pinball, struct err *err)
{
    const uint64_t records = pinball->records;

    if (!pinball->growing)
        return 0;
    pinball->growing = !beneath_exists(store_fd(pinball->store), "end");
    pinball_drop_all(pinball);
    if (pinball_take_all(pinball, err))
        return -1;
    return pinball->records > records || !pinball->growing;
}

bool follow_goes_on(const struct pinball *pinball)
{
    return pinball->growing;
}
