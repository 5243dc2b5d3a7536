/* strings.c - string instructions: repeated, downwards, with nothing to do, overlapping.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

static char a[256], b[256];

static void copy(void *to, const void *from, long n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}

static void copy_down(void *to, const void *from, long n)
{
    __asm__ volatile("std\n\trep movsw\n\tcld" : "+D"(to), "+S"(from), "+c"(n)::"memory", "cc");
}

static void copy_words(void *to, const void *from, long n)
{
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}

static void set(void *to, int what, long n)
{
    __asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(what) : "memory");
}

static long equal(const char *x, const char *y, long n)
{
    long left = n;
    __asm__ volatile("repe cmpsb" : "+S"(x), "+D"(y), "+c"(left)::"memory", "cc");
    return n - left;
}

static long find(const char *x, int what, long n)
{
    long left = n;
    __asm__ volatile("repne scasb" : "+D"(x), "+c"(left) : "a"(what) : "memory", "cc");
    return n - left;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 256; i++)
        a[i] = (char)(i * 7 + argc);
    copy(b + 10, a + 20, 100);
    copy(b + 50, b + 49, 30); /* overlapping: a pattern */
    copy(b + 3, a, 0);
    copy_down(b + 200, a + 180, 20);
    copy_words(b + 120, a + argc, 4);
    set(b + 220, argc, 5);
    long n = equal(a + 20, b + 10, 60), m = find(b, a[40], 200);
    memmove(b + 1, b, 200);
    memcpy(a, b + 30, 90);
    strcpy(a + 100, "some text");
    strcat(a + 100, " and more");
    unsigned hash = (unsigned)(n + m);
    for (int i = 0; i < 256; i++)
        hash = hash * 31 + (unsigned char)(a[i] ^ b[255 - i]);
    printf("%u %zu %d %s\n", hash, strlen(a + 100), memcmp(a, b, 40) > 0, strchr(a + 100, 't'));
    return 0;
}
