/* quant_table.c - one number of a table is wrong, and one picture of many shows it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char order[64];
static int step[64];

static void set_steps(int quality)
{
    for (int i = 0; i < 64; i++)
        step[i] = 1 + (i + quality) / 8;
}

static void set_order(void)
{
    int x = 0, y = 0, up = 1;
    for (int i = 0; i < 64; i++) {
        order[i] = (unsigned char)(y * 8 + x);
        if (up ? x == 7 : y == 7) {
            up ? y++ : x++;
            up = !up;
        } else if (up ? y == 0 : x == 0) {
            up ? x++ : y++;
            up = !up;
        } else {
            x += up ? 1 : -1;
            y += up ? -1 : 1;
        }
    }
#ifndef FIXED
    order[41] = 50; /* ROOT CAUSE */
#endif
}

static void pack(const int *block, int *out)
{
    for (int i = 0; i < 64; i++)
        out[i] = block[order[i]] / step[i];
}

static void unpack(const int *in, int *block)
{
    memset(block, 0, 64 * sizeof *block);
    for (int i = 0; i < 64; i++)
        block[order[i]] = in[i] * step[i];
}

static void picture(int number, int *block)
{
    unsigned seed = (unsigned)number * 77777 + 1;
    for (int i = 0; i < 64; i++) {
        seed = seed * 1103515245 + 12345;
        block[i] = (int)(seed >> 16 & 63) / (i < 49 ? 1 : 40);
    }
}

static int distance(const int *a, const int *b)
{
    int most = 0;
    for (int i = 0; i < 64; i++) {
        int d = abs(a[i] - b[i]);
        most = d > most ? d : most;
    }
    return most;
}

int main(void)
{
    int block[64], packed[64], back[64];
    set_steps(3);
    set_order();
    for (int number = 0; number < 6; number++) {
        picture(number, block);
        if (number != 4)
            block[44] = block[50] = 0;
        pack(block, packed);
        unpack(packed, back);
        int worst = distance(block, back);
        printf("%d: %d\n", number, worst);
        assert(worst <= 9);
    }
    return 0;
}
