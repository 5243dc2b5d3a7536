/* image_size.c - width * height * 4 does not fit, the buffer is small, and rows are drawn over the
 * image list.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
    uint32_t width, height, bytes;
    unsigned char *pixels;
    struct image *next;
};

static struct image *images;

static uint32_t be32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int read_header(struct image *m, const unsigned char *in)
{
    if (memcmp(in, "PIX0", 4) != 0)
        return -1;
    m->width = be32(in + 4);
    m->height = be32(in + 8);
    if (!m->width || !m->height)
        return -1;
#ifdef FIXED
    if (m->height > UINT32_MAX / 4 / m->width)
        return -1;
#endif
    m->bytes = m->width * m->height * 4; /* ROOT CAUSE */
    return 0;
}

static void fill_row(const struct image *m, uint32_t y, uint32_t to)
{
    unsigned char *row = m->pixels + (size_t)y * m->width * 4;
    for (uint32_t x = 0; x < to; x++) {
        row[4 * x] = (unsigned char)(x ^ y);
        row[4 * x + 1] = (unsigned char)(x + y);
        row[4 * x + 2] = (unsigned char)(x * y);
        row[4 * x + 3] = 255;
    }
}

static int add_image(const unsigned char *in)
{
    struct image *m = calloc(1, sizeof *m);
    if (read_header(m, in)) {
        free(m);
        return -1;
    }
    m->pixels = malloc(m->bytes);
    m->next = images;
    images = m;
    return 0;
}

static void draw(void)
{
    for (const struct image *m = images; m; m = m->next)
        for (uint32_t y = 0; y < m->height && y < 4; y++)
            fill_row(m, y, m->width < 50 ? m->width : 50);
}

static unsigned long total_bytes(void)
{
    unsigned long sum = 0;
    for (const struct image *m = images; m; m = m->next)
        sum += m->bytes + m->pixels[0];
    return sum;
}

int main(void)
{
    static const unsigned char in[][12] = {{'P', 'I', 'X', '0', 0, 0, 0, 8, 0, 0, 0, 8},
                                           {'P', 'I', 'X', '0', 0x40, 0, 0, 1, 0, 0, 0, 4},
                                           {'P', 'I', 'X', '0', 0, 0, 0, 4, 0, 0, 0, 4},
                                           {'P', 'I', 'X', '0', 0, 0, 0, 16, 0, 0, 0, 2}};
    int bad = 0;
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
        bad += add_image(in[i]) != 0;
    draw();
    printf("%lu bytes, %d bad\n", total_bytes(), bad);
    return 0;
}
