/* libpng_rows.c - the size of a picture's row is computed in 32 bits, and becomes zero for a wide
 * one.
 *
 * SPDX-License-Identifier: MIT
 *
 * After libpng 1.6.34, CVE-2018-13785: png_check_chunk_length() multiplied as unsigned ints, and
 * divided by the product.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct picture {
    uint32_t width, height;
    int channels, depth;
};

struct reader {
    struct picture info;
    size_t row_factor, limit;
    unsigned crc;
};

static const unsigned char files[][10] = {
    {0, 0, 1, 0, 0, 0, 0, 128, 3, 8},
    {0, 0, 0, 90, 0, 0, 0, 60, 1, 8},
    {0x55, 0x55, 0x55, 0x55, 0, 0, 0, 2, 3, 8},
};

static uint32_t get_32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void read_header(struct reader *r, const unsigned char *file)
{
    r->info = (struct picture){get_32(file), get_32(file + 4), file[8], file[9]};
}

static void set_row_factor(struct reader *r)
{
    const struct picture *p = &r->info;
#ifdef FIXED
    r->row_factor = (size_t)p->width * (size_t)p->channels * (p->depth > 8 ? 2 : 1) + 1;
#else
    r->row_factor = p->width * (unsigned)p->channels * (p->depth > 8 ? 2 : 1) + 1; /* ROOT CAUSE */
#endif
}

static unsigned crc_of(const unsigned char *file)
{
    unsigned crc = ~0u;
    for (int i = 0; i < 10; i++) {
        crc ^= file[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

static size_t check_length(struct reader *r)
{
    if (r->info.height > UINT32_MAX / r->row_factor)
        return UINT32_MAX;
    return r->info.height * r->row_factor;
}

static void read_picture(struct reader *r, const unsigned char *file)
{
    read_header(r, file);
    set_row_factor(r);
    r->crc ^= crc_of(file);
    r->limit += check_length(r);
}

int main(void)
{
    struct reader r = {0};
    for (int i = 0; i < 3; i++)
        read_picture(&r, files[i]);
    printf("%zu bytes at most, %08x\n", r.limit, r.crc);
    return 0;
}
