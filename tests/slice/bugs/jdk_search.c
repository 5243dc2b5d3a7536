/* jdk_search.c - the middle of two large indices is negative.
 *
 * SPDX-License-Identifier: MIT
 *
 * After the JDK's bug 5045582: the sum of low and high in Arrays.binarySearch() is more than an int
 * for large arrays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536
#define CHUNKS                                                                                     \
    24576 /* 1.6 billion entries, most of them in chunks that are computed when asked for */

struct chunk {
    int number;
    long base;
};

static struct chunk *directory[CHUNKS];
static int loads;

static struct chunk *load(int number)
{
    if (!directory[number]) {
        directory[number] = malloc(sizeof(struct chunk));
        directory[number]->number = number;
        directory[number]->base = (long)number * CHUNK * 3;
        loads++;
    }
    return directory[number];
}

static long entry(int index)
{
    return load(index / CHUNK)->base + index % CHUNK * 3l;
}

static int search(int size, long key)
{
    int low = 0, high = size - 1;
    while (low <= high) {
#ifdef FIXED
        int mid = low + (high - low) / 2;
#else
        int mid = (int)((unsigned)low + (unsigned)high) / 2; /* ROOT CAUSE */
#endif
        long here = entry(mid);
        if (here < key)
            low = mid + 1;
        else if (here > key)
            high = mid - 1;
        else
            return mid;
    }
    return -1;
}

int main(void)
{
    static const long keys[] = {9, 300, 3000000, 2400000000, 4500000000};
    for (int i = 0; i < 5; i++)
        printf("%ld: %d\n", keys[i], search(CHUNKS * CHUNK - 1, keys[i]));
    printf("%d loads\n", loads);
    return 0;
}
