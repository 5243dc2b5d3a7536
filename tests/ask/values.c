/* values.c - memory of every type, written a few times. SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum colour { RED, GREEN, BLUE };
struct point {
    int x, y;
    char name[4];
    const char *text;
};
struct parts {
    unsigned a : 3, b : 5;
    int c : 10;
};

struct point point;
struct parts parts;
double number;
float small;
long double large;
enum colour colour;
const char *text;
bool flag;
int list[3];
char letter;
unsigned long long wide;
struct point *made;
struct parts *bits;
double *real;

struct point make(int i)
{
    return (struct point){.x = i, .y = 2 * i, .name = "ab", .text = "made"};
}

enum { NO, YES } is_odd(int i)
{
    return i & 1 ? YES : NO;
}

int main(void)
{
    made = calloc(1, sizeof *made);
    bits = calloc(1, sizeof *bits);
    real = calloc(1, sizeof *real);
    for (int i = 0; i < 4; i++) {
        point.x = i;
        point.y = -i / 2;
        point.name[i & 1] = (char)('a' + i);
        point.text = i & 1 ? "odd" : NULL;
        parts.a = (unsigned)i & 7u;
        parts.b = (unsigned)(i + 4) & 31u;
        parts.c = -(i / 2);
        number = i * 1.5;
        small = (float)i * .5f;
        large = i * 2.25L;
        colour = (enum colour)(i % 3);
        text = i > 2 ? "more" : "less";
        flag = i & 1;
        list[i % 3] = i;
        letter = (char)('x' + i % 3);
        wide = -(unsigned long long)i;
        made->x = i;
        made->text = text;
        bits->c = -i;
        *real = i / 3.0;
    }
    printf("%d\n", made->x + bits->c + make(3).y + make(4).x + (int)is_odd(7)); /* LAST */
    return 0;
}
