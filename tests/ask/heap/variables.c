/* variables.c - each case leaves a variable by its end, or before its begin; with RIGHT, none does.
 *
 * A line with `WRONG: kind` is where that kind of error is to be told. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef RIGHT
enum { MORE = 0 };
#else
enum { MORE = 1 };
#endif

#define CASE  __attribute__((noinline, noclone)) static void
#define APART __attribute__((noinline, noclone)) static

static volatile int sink;
static volatile size_t ten = 10, three = 3;
static int before[4] = {1, 2, 3, 4};
int table[10];
static int behind[8] = {5, 6, 7, 8};
static char text[] = "as long as sixteen bytes";

APART void put(volatile char *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)i; /* WRONG: overflow */
}

CASE by_another(void)
{
    char a[16], b[16];
    put(a, 16);
    put(b, 16 + MORE);
    sink = a[three] + b[three];
}

APART int last_of(const int *p)
{
    return p[-MORE]; /* WRONG: overflow */
}

CASE before_begin(void)
{
    int a[8], b[8];
    for (int i = 0; i < 8; i++)
        a[i] = b[i] = i + (int)three;
    for (size_t i = 3; i-- > 0;)
        sink = a[three] + last_of(b + i) + last_of(a + 4);
}

CASE copied(void)
{
    char a[16], b[16] = {0};
    text[15] = MORE ? 's' : 0;
    strcpy(a, text); /* WRONG: overflow */
    sink = a[three] + b[three];
    if (MORE)
        exit(0); /* who knows where it would return to */
}

CASE received(void)
{
    char a[16], b[16] = {0};
    int fd[2];
    if (pipe(fd) || write(fd[1], text, 16 + 2 * MORE) < 0)
        abort();
    if (read(fd[0], a, 24) < 0) /* WRONG: overflow */
        abort();
    close(fd[0]);
    close(fd[1]);
    sink = a[three] + b[three];
    if (MORE)
        exit(0);
}

/* Up to the return address: no code of the function means that. */
CASE up_the_stack(void)
{
    volatile long a[4] = {1, 2, 3, 4};
    long sum = 0;
    for (size_t i = 0; i < 4 + 12 * MORE; i++)
        sum += a[i]; /* WRONG: overflow */
    sink = (int)sum;
}

CASE write_static(void)
{
    for (size_t i = 0; i < ten + MORE; i++)
        table[i] = (int)i; /* WRONG: overflow */
    sink = behind[three];
}

/* One access, and none inside: only where nothing was optimized it is clear what is meant. */
CASE one_behind(void)
{
    static volatile char own[8], other[8];
    own[three + 4 + MORE] = 1; /* WRONG: overflow */
    sink = other[three];
}

CASE read_static(void)
{
    static volatile int own[12] = {1, 2};
    int sum = 0;
    for (size_t i = 0; i < ten + 2 + MORE; i++)
        sum += own[i]; /* WRONG: overflow */
    sink = sum;
}

/* Nothing is wrong here: ends of arrays are begins of others, and are never touched. */
CASE from_the_end(void)
{
    int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, sum = 0;
    for (int *p = before + 4; p != before;)
        sum += *--p;
    for (int *p = a + 4; p != a;)
        sum += *--p;
    for (int *p = b + 4; p-- != b;)
        sum += *p;
    for (size_t i = ten - 6; i > 0; i--)
        sum += a[i - 1] + b[i - 1] + before[i - 1] + behind[i - 1];
    sink = sum;
}

struct part {
    int n;
    char name[12];
};

/* Nor here: all of a variable belongs to whoever has a pointer into it. */
CASE all_of_it(void)
{
    struct part list[3] = {{1, "a"}, {2, "b"}, {3, "c"}};
    char *inside = list[1].name;
    memset(inside - 20, 0, sizeof list);
    struct part *p = &list[2];
    sink = p[-2].n + p[-1].n + (int)strlen(inside);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define ROW(name) {#name, name},
    ROW(by_another) ROW(before_begin) ROW(copied) ROW(received) ROW(up_the_stack) ROW(write_static)
        ROW(one_behind) ROW(read_static) ROW(from_the_end) ROW(all_of_it)};

/* The cases that are named, or all; without words, their names. */
int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2)
            puts(cases[i].name);
        for (int k = 1; k < argc; k++)
            if (strcmp(argv[k], cases[i].name) == 0 || strcmp(argv[k], "all") == 0)
                cases[i].run();
    }
    return 0;
}
