/* header_sum.c - a header's words are written as 32 bits and summed up as 16 bits, which the
 * compiler may reorder. Only at -O2.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 5

struct packet {
    uint32_t header[WORDS];
    int checked;
};

#ifdef FIXED
static uint16_t sum_words(const void *from, int halves)
{
    uint32_t sum = 0;
    for (int i = 0; i < halves; i++) {
        uint16_t half;
        memcpy(&half, (const char *)from + 2 * i, 2);
        sum += half;
    }
#else
static uint16_t sum_words(const uint16_t *half, int halves)
{
    uint32_t sum = 0;
    for (int i = 0; i < halves; i++)
        sum += half[i]; /* ROOT CAUSE */
#endif
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static void build(struct packet *p, uint32_t from, uint32_t to, uint32_t length)
{
    uint32_t h[WORDS];
    h[0] = 0x45000000 | length;
    h[1] = 0x00004000;
    h[2] = 0x40060000;
    h[3] = from;
    h[4] = to;
    h[2] |= sum_words((const void *)h, 2 * WORDS);
    for (int i = 0; i < WORDS; i++)
        p->header[i] = h[i];
}

static int is_good(const struct packet *p)
{
    uint32_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum += (p->header[i] & 0xffff) + (p->header[i] >> 16);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

static int route(struct packet *queue, int count)
{
    int good = 0;
    for (int hop = 0; hop < 8; hop++)
        for (int i = 0; i < count; i++)
            queue[i].checked += hop == 0 || queue[i].header[3] % 8 == (uint32_t)hop;
    for (int i = 0; i < count; i++)
        good += queue[i].checked && is_good(&queue[i]);
    return good;
}

int main(void)
{
    static struct packet queue[6];
    for (uint32_t i = 0; i < 6; i++)
        build(&queue[i], 0x0a000001 + i, 0xc0a80001 + 77 * i, 40 + i);
    int good = route(queue, 6);
    printf("%d of 6 good\n", good);
    assert(good == 6);
    return 0;
}
