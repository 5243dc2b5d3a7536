/* kinds.c - every function that allocates, each with a size of its own; with OWN, the program's own
 * malloc.
 *
 * It prints what each gave out: name, address, size. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OWN
static _Alignas(16) char arena[1 << 20];
static size_t used;

void *malloc(size_t n)
{
    size_t *head = (size_t *)(void *)(arena + used);
    used += (n + 31) & ~(size_t)15;
    *head = n;
    return head + 2;
}

void free(void *p)
{
    if (p)
        ((size_t *)p)[-1] = 1;
}

void *calloc(size_t n, size_t m)
{
    return memset(malloc(n * m), 0, n * m);
}

void *realloc(void *p, size_t n)
{
    void *new = malloc(n);
    if (p)
        memcpy(new, p, ((size_t *)p)[-2] < n ? ((size_t *)p)[-2] : n);
    free(p);
    return new;
}
#endif

static void say(const char *name, void *p, size_t n)
{
    printf("%s %p %zu\n", name, p, n);
}

int main(void)
{
    static char buffer[1 << 16]; /* stdout allocates nothing */
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    void *p = malloc(11), *q = NULL;
    say("malloc", p, 11);
    say("realloc", p = realloc(p, 1234), 1234);
    free(p);
    say("calloc", p = calloc(3, 5), 15);
    free(p);
    say("malloc", p = strdup("12345"), 6);
    free(p);
#ifndef OWN
    say("reallocarray", p = reallocarray(NULL, 4, 7), 28);
    free(p);
    say("memalign", p = memalign(64, 77), 77);
    free(p);
    say("aligned_alloc", p = aligned_alloc(32, 96), 96);
    free(p);
    if (posix_memalign(&q, 128, 321) == 0)
        say("posix_memalign", q, 321);
    memset(q, 0, 321);
    free(q);
    say("valloc", p = valloc(55), 55);
    free(p);
#endif
    return q && p == q;
}
