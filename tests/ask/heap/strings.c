/* strings.c - strings that fill their blocks to the last byte, read by the C library's functions,
 * which read more than a byte at a time. SPDX-License-Identifier: MIT
 *
 * Without RIGHT, one of them has no end in its block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 70 };

static char *full(size_t bytes)
{
    char *text = malloc(bytes);
    memset(text, 'x', bytes - 1);
    text[bytes - 1] = 0;
    return text;
}

int main(void)
{
    size_t sum = 0;
    for (size_t bytes = 1; bytes <= LONGEST; bytes++) {
        char *a = full(bytes), *b = full(bytes), room[2 * LONGEST];
        strcpy(room, a);
        strcat(room, b);
        sum += strlen(room) + strlen(a) + (size_t)strcmp(a, b) + (strchr(a, 'y') != NULL);
        sum += strspn(a, "x") + (strstr(a, "xy") != NULL) + strnlen(a, bytes);
        free(stpcpy(b, a) - strlen(a));
        free(a);
    }
#ifndef RIGHT
    char *open = full(100), room[200];
    memset(open, 'x', 104); /* WRONG: overflow */
    strcpy(room, open);     /* WRONG: overflow */
    sum += strlen(room);
#endif
    printf("%zu\n", sum);
    return 0;
}
