/* scalars.c - numbers of all kinds, and what can be calculated with them. SPDX-License-Identifier:
 * MIT */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum color { RED, GREEN = 5, BLUE };
enum flag { READ = 1, WRITE = 2, EXECUTE = 4 };
struct bits {
    unsigned a : 3, b : 7;
    int c : 5;
    unsigned long long wide : 40;
    enum color color : 4;
    bool on : 1;
};
typedef unsigned short word_t;

static volatile long sink;

static long mix(int i, char c, unsigned char u, short s, unsigned x, long l, struct bits b)
{
    bool odd = i & 1;
    enum color color = i % 3 == 0 ? RED : i % 3 == 1 ? GREEN : BLUE;
    enum flag flag = (enum flag)(i & 7);
    word_t w = (word_t)(i * 5000);
    int8_t tiny = (int8_t)(i * 31);
    uint64_t huge = (uint64_t)l * 0x123456789abcull;
    __int128 very = (__int128)l * l * l;
    sink += (long)b.wide;
    sink += odd + color + flag + w + tiny + (long)huge + (long)very;
    sink += c + u + s + x; /* LOOK 1 */
    return sink;
}

int main(void)
{
    struct bits b;
    memset(&b, 0, sizeof b);
    for (int i = -3; i < 9; i++) {
        b.a = (unsigned)i & 7;
        b.b = (unsigned)i * 11 & 127;
        b.c = i;
        b.wide = (unsigned long long)i & 0xffffffffffull;
        b.color = i & 1 ? GREEN : BLUE;
        b.on = i > 2;
        sink += mix(i, (char)('a' + i), (unsigned char)(250 + i), (short)(i * 4000), (unsigned)i,
                    (long)i << 33, b); /* LOOK 2 */
    }
    printf("%ld\n", sink);
    return 0;
}
