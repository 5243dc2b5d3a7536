/* zlib_fixed.c - what is written overtakes what is still to be read, in a buffer that both share.
 *
 * SPDX-License-Identifier: MIT
 *
 * After zlib 1.2.11, CVE-2018-25032: the output that was not flushed lies in the same block as the
 * symbols it is made of. A code of fixed lengths may need more bytes than were left for a symbol.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS 512

struct encoder {
    unsigned char *pending, *lengths;
    unsigned short *distances;
    unsigned used, count;
    unsigned long bits, have;
};

static void encoder_open(struct encoder *e)
{
    memset(e, 0, sizeof *e);
#ifdef FIXED
    e->pending = calloc(SYMBOLS, 8);
    e->distances = (unsigned short *)(e->pending + 5 * SYMBOLS);
#else
    e->pending = calloc(SYMBOLS, 4);                         /* ROOT CAUSE */
    e->distances = (unsigned short *)(e->pending + SYMBOLS); /* ROOT CAUSE */
#endif
    e->lengths = (unsigned char *)(e->distances + SYMBOLS);
}

static void tally(struct encoder *e, unsigned distance, unsigned length)
{
    e->distances[e->count] = (unsigned short)distance;
    e->lengths[e->count++] = (unsigned char)length;
}

static void put(struct encoder *e, unsigned value, unsigned bits)
{
    e->bits |= (unsigned long)value << e->have;
    for (e->have += bits; e->have >= 8; e->have -= 8, e->bits >>= 8)
        e->pending[e->used++] = (unsigned char)e->bits;
}

static unsigned code_of(unsigned distance)
{
    unsigned code = 0;
    while (distance > 1) {
        distance >>= 1;
        code++;
    }
    assert(code < 13);
    return code;
}

static void flush(struct encoder *e)
{
    for (unsigned i = 0; i < e->count; i++) {
        unsigned distance = e->distances[i], code = code_of(distance);
        put(e, e->lengths[i], 9);
        put(e, code, 5);
        put(e, distance, 16);
    }
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    return *seed >> 16;
}

int main(void)
{
    struct encoder e;
    unsigned seed = 7;
    encoder_open(&e);
    for (int i = 0; i < SYMBOLS; i++)
        tally(&e, 1 + next(&seed) % 8000, next(&seed) % 256);
    flush(&e);
    printf("%u bytes\n", e.used);
    free(e.pending);
    return 0;
}
