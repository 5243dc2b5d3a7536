/* values.c - values of all kinds flow into one. SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum color { RED, GREEN = 7, BLUE };

struct wide {
    long part[3];
};

static int count;
static unsigned char small;
static char letter;
static bool flag;
static float single;
static double twice;
static long double most;
static enum color color;
static int *pointer;
static struct wide wide, copy;
static long sum;
static unsigned many;

int main(int argc, char **argv)
{
    for (int i = 0; i < 5; i++)
        count -= i;                      /* COUNT */
    small = 200 + argc - 2;              /* SMALL */
    letter = 'a' + argc - 2;             /* LETTER */
    flag = argc > 1;                     /* FLAG */
    single = 0.5f * argc;                /* SINGLE */
    twice = argc * 1.25;                 /* TWICE */
    most = argc * 3.0L;                  /* MOST */
    color = argc == 2 ? GREEN : BLUE;    /* ENUM */
    pointer = argc == 2 ? &count : NULL; /* POINTER */
    many = 0u - argc;                    /* MANY */
    wide.part[1] = argc;                 /* WIDE */
    copy = wide;                         /* COPY */
    sum = count;
    sum += small;
    sum += letter;
    sum += flag;
    sum += (long)single;
    sum += (long)twice;
    sum += (long)most;
    sum += color;
    sum += *pointer;
    sum += many;
    sum += copy.part[1];
    return sum == 0; /* END */
}
