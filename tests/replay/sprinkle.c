/* sprinkle.c - a pinball with records of another kind among its own: sprinkle FROM TO KIND [FIRST].
 *
 * SPDX-License-Identifier: MIT
 *
 * As a later version may write them: before every record, or those from number FIRST on, of
 * different lengths.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/derive.h"
#include "pinball/format.h"
#include "pinball/records.h"
#include "pinball/summary.h"
#include "pinball/text.h"

enum { LONGEST = 64 }; /* of what is added */

static struct {
    uint8_t data[CHUNK_MAX_BYTES];
    size_t bytes;
    uint64_t count;
} out;

static struct writer *writer;
static struct summary summary;
static struct err err;

static void check(int bad)
{
    if (!bad)
        return;
    printf("FAILED: %s\n", err.msg);
    exit(1);
}

static void flush(void)
{
    if (out.count == 0)
        return;
    check(writer_events(writer, out.data, out.bytes, out.count, &err));
    summary_add(&summary, out.data, out.bytes);
    out.bytes = out.count = 0;
}

static void put(const struct record *r)
{
    memcpy(out.data + out.bytes, r, r->bytes);
    out.bytes += r->bytes;
    out.count++;
}

static void put_other(uint8_t kind, uint64_t n)
{
    union {
        struct record r;
        uint8_t bytes[LONGEST];
    } other;
    memset(&other, 0xa5, sizeof other);
    other.r = (struct record){.kind = kind, .bytes = (uint32_t)(8 + n % (LONGEST / 8) * 8)};
    put(&other.r);
}

static void copy_events(struct pinball *p, uint8_t kind, uint64_t first)
{
    uint64_t n = 0;
    uint8_t *data = malloc(CHUNK_MAX_BYTES);
    for (uint64_t i = 0; data && i < pinball_chunks(p); i++) {
        uint64_t bytes, records;
        pinball_chunk_info(p, i, &bytes, &records);
        check(pinball_read_chunk(p, i, data, CHUNK_MAX_BYTES, &err));
        for (const struct record *r = records_first(data, bytes); r;
             r = records_next(r, data + bytes)) {
            if (out.bytes + r->bytes + LONGEST > sizeof out.data)
                flush();
            if (n++ >= first)
                put_other(kind, out.count);
            put(r);
        }
        put_other(kind, 0); /* a chunk may end with one, too */
        flush();
    }
    free(data);
}

int main(int argc, char **argv)
{
    struct pinball *p = argc == 4 || argc == 5 ? pinball_open(argv[1], &err) : NULL;
    struct text none = {0}, end = {0};
    check(!p || !(writer = derive_new(p, argv[2], &none, &err)));
    copy_events(p, (uint8_t)atoi(argv[3]), argc == 5 ? strtoull(argv[4], NULL, 10) : 0);
    const char *isa = pinball_end_get(p, "isa");
    summary.isa = isa ? strtoull(isa, NULL, 16) : 0;
    summary_text(&summary, &end);
    check(writer_end(writer, end.data, end.bytes, &err));
    text_deinit(&end);
    summary_deinit(&summary);
    writer_free(writer);
    pinball_close(p);
    return 0;
}
