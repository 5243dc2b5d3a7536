/* hostile.c - a recording of a slice as a stranger may have made it: relog_hostile DIR OUT SEED.
 *
 * SPDX-License-Identifier: MIT
 *
 * OUT is DIR, but in some of its records that only recordings with gaps have, a field is another,
 * or the record is gone or there twice. Checksums are right.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/derive.h"
#include "pinball/format.h"
#include "pinball/record_gap.h"
#include "pinball/records.h"
#include "pinball/text.h"

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
}

static int fail(const char *why)
{
    printf("FAILED: %s\n", why);
    return 1;
}

/* Behind a gap's head come its records: `left` of them are still to come. */
static bool is_ours(const struct record *r, uint64_t *left)
{
    const bool inside = *left > 0 && r->kind < RECORD_SKIPPABLE;
    *left -= inside;
    if (r->kind == RECORD_GAP)
        *left = ((const struct record_gap *)(const void *)r)->records;
    return inside || r->kind == RECORD_GAP || r->kind >= RECORD_SKIPPABLE ||
           r->kind == RECORD_STATE || r->kind == RECORD_PROCESS;
}

static void change(struct record *r)
{
    static const uint64_t odd[] = {0, 1, 2, UINT64_MAX, 1ull << 63, 1ull << 47, 1ull << 32, 4096};
    static const unsigned sizes[] = {1, 4, 4, 8, 8, 8};
    const unsigned bytes = sizes[draw(sizeof sizes / sizeof *sizes)];
    const uint64_t room = r->bytes < 200 ? r->bytes : 200;
    if (room < sizeof *r + bytes)
        return;
    uint8_t *at = (uint8_t *)r + sizeof *r + draw((room - sizeof *r) / bytes) * (uint64_t)bytes;
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    value = draw(3) ? odd[draw(sizeof odd / sizeof *odd)] : value + draw(64) - 32;
    memcpy(at, &value, bytes);
    if (!draw(12))
        r->flags ^= (uint8_t)(1u << draw(8));
}

/* Copies a chunk's records, changed or not; returns how many there are. */
static uint64_t copy(uint8_t *to, size_t *to_bytes, uint8_t *from, uint64_t bytes, uint64_t *left,
                     uint64_t one_of)
{
    uint64_t n = 0;
    *to_bytes = 0;
    for (struct record *r = (void *)records_first(from, bytes); r;
         r = (void *)records_next(r, from + bytes)) {
        const bool picked = is_ours(r, left) && !draw(one_of);
        unsigned times = 1;
        if (picked && !draw(6))
            times = (unsigned)draw(2) * 2;
        else if (picked)
            change(r);
        for (; times && *to_bytes + r->bytes <= CHUNK_MAX_BYTES; times--, n++) {
            memcpy(to + *to_bytes, r, r->bytes);
            *to_bytes += r->bytes;
        }
    }
    return n;
}

static uint64_t count(struct pinball *p)
{
    static uint8_t data[CHUNK_MAX_BYTES];
    uint64_t n = 0, left = 0, bytes, records;
    struct err err;
    for (uint64_t i = 0; i < pinball_chunks(p); i++) {
        pinball_chunk_info(p, i, &bytes, &records);
        if (pinball_read_chunk(p, i, data, sizeof data, &err))
            exit(fail(err.msg));
        for (const struct record *r = records_first(data, bytes); r;
             r = records_next(r, data + bytes))
            n += is_ours(r, &left);
    }
    return n;
}

int main(int argc, char *argv[])
{
    static uint8_t data[CHUNK_MAX_BYTES], out[CHUNK_MAX_BYTES];
    struct text none = {0}, end = {0};
    struct err err;
    const char *key, *value;
    uint64_t left = 0, bytes, records;
    size_t out_bytes;
    if (argc != 4)
        return 2;
    seed = strtoull(argv[3], NULL, 10) * 2654435761u + 1;
    struct pinball *p = pinball_open(argv[1], &err);
    struct writer *w = p ? derive_new(p, argv[2], &none, &err) : NULL;
    if (!w)
        return fail(err.msg);
    const uint64_t one_of = count(p) / 2 + 1;
    for (uint64_t i = 0; i < pinball_chunks(p); i++) {
        pinball_chunk_info(p, i, &bytes, &records);
        if (pinball_read_chunk(p, i, data, sizeof data, &err))
            return fail(err.msg);
        records = copy(out, &out_bytes, data, bytes, &left, one_of);
        if (out_bytes && writer_events(w, out, out_bytes, records, &err))
            return fail(err.msg);
    }
    for (size_t at = 0; pinball_end_line(p, &at, &key, &value);)
        if (strcmp(key, "chunks") != 0 && strcmp(key, "entries") != 0)
            text_add(&end, key, value);
    if (writer_end(w, end.data, end.bytes, &err))
        return fail(err.msg);
    return 0;
}
