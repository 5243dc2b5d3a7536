/* zlib_extra.c - a header's field that comes in pieces is copied to its place beyond the place's
 * end.
 *
 * SPDX-License-Identifier: MIT
 *
 * After zlib 1.2.12, CVE-2022-37434: inflate() copied each piece of a gzip header's extra
 * field as far as there is room, and counted the room from a place that may be behind the end.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct header {
    unsigned char *extra;
    unsigned extra_max, extra_len;
};

struct window {
    unsigned used;
    unsigned char bytes[60];
};

struct stream {
    const unsigned char *next;
    unsigned have, length;
    struct header *head;
    struct window *window;
};

static unsigned take(struct stream *z, unsigned most)
{
    return z->have < most ? z->have : most;
}

static void inflate_extra(struct stream *z)
{
    struct header *h = z->head;
    unsigned copy = take(z, z->length);
    if (copy) {
        unsigned len = h->extra_len - z->length;
#ifdef FIXED
        if (h->extra && len < h->extra_max)
#else
        if (h->extra) /* ROOT CAUSE */
#endif
            for (unsigned i = 0; i < copy && len + i != h->extra_max; i++)
                h->extra[len + i] = z->next[i];
        z->have -= copy;
        z->next += copy;
        z->length -= copy;
    }
}

static void fill_window(struct window *w, const char *text)
{
    for (; *text && w->used < sizeof w->bytes; text++)
        w->bytes[w->used++] = (unsigned char)*text;
}

static unsigned adler(const struct window *w)
{
    unsigned a = 1, b = 0;
    for (int round = 0; round < 4; round++)
        for (unsigned i = 0; i < w->used && i < sizeof w->bytes; i++) {
            a = (a + w->bytes[i]) % 65521;
            b = (b + a) % 65521;
        }
    return b << 16 | a;
}

static void feed(struct stream *z, const unsigned char *data, unsigned size, unsigned piece)
{
    for (unsigned at = 0; at < size; at += piece) {
        z->next = data + at;
        z->have = size - at < piece ? size - at : piece;
        inflate_extra(z);
    }
}

int main(void)
{
    unsigned char data[56];
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + 1);
    struct header head = {malloc(24), 24, sizeof data};
    struct stream z = {NULL, 0, head.extra_len, &head, calloc(1, sizeof(struct window))};
    fill_window(z.window, "the last bytes that were written, which later ones may repeat");
    unsigned before = adler(z.window);
    feed(&z, data, sizeof data, 8);
    unsigned after = adler(z.window);
    printf("%08x %08x\n", before, after);
    assert(before == after);
    return 0;
}
