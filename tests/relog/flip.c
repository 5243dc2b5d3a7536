/* flip.c - changes a byte that a gap puts in: relog_flip DIR FROM TO, the int FROM becomes TO.
 *
 * SPDX-License-Identifier: MIT
 *
 * DIR2 is DIR.flipped: the same recording, but in the first data of a gap in which a word is FROM
 * at the address that the environment's FLIP_AT names, it is TO.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/derive.h"
#include "pinball/format.h"
#include "pinball/record_gap.h"
#include "pinball/records.h"
#include "pinball/text.h"

static int fail(const char *why)
{
    printf("FAILED: %s\n", why);
    return 1;
}

/* True: the word was there. */
static int flip(struct record *r, uint64_t at, int from, int to)
{
    struct record_data *d = (struct record_data *)r;
    int word;
    if (r->kind != RECORD_DATA || at < d->addr || at + sizeof word > d->addr + d->bytes)
        return 0;
    uint8_t *place = (uint8_t *)(d + 1) + (at - d->addr);
    memcpy(&word, place, sizeof word);
    if (word != from)
        return 0;
    memcpy(place, &to, sizeof to);
    return 1;
}

int main(int argc, char *argv[])
{
    static uint8_t data[CHUNK_MAX_BYTES];
    struct text none = {0}, end = {0};
    struct err err;
    char dir[4096];
    const char *place = getenv("FLIP_AT"), *key, *value;
    int gaps = 0, flipped = 0;
    if (argc != 4 || !place)
        return 2;
    struct pinball *p = pinball_open(argv[1], &err);
    if (!p)
        return fail(err.msg);
    snprintf(dir, sizeof dir, "%s.flipped", argv[1]);
    struct writer *w = derive_new(p, dir, &none, &err);
    if (!w)
        return fail(err.msg);
    for (uint64_t i = 0; i < pinball_chunks(p); i++) {
        uint64_t bytes, records;
        pinball_chunk_info(p, i, &bytes, &records);
        if (pinball_read_chunk(p, i, data, sizeof data, &err))
            return fail(err.msg);
        for (const struct record *r = records_first(data, bytes); r;
             r = records_next(r, data + bytes)) {
            gaps += r->kind == RECORD_GAP;
            if (gaps)
                flipped |= flip((struct record *)r, strtoull(place, NULL, 16), atoi(argv[2]),
                                atoi(argv[3]));
        }
        if (writer_events(w, data, bytes, records, &err))
            return fail(err.msg);
    }
    for (size_t at = 0; pinball_end_line(p, &at, &key, &value);)
        if (strcmp(key, "chunks") != 0 && strcmp(key, "entries") != 0)
            text_add(&end, key, value);
    if (writer_end(w, end.data, end.bytes, &err))
        return fail(err.msg);
    return flipped ? 0 : fail("no gap puts that in");
}
