/* pool.c - a program with an allocator of its own, in blocks of malloc. SPDX-License-Identifier:
 * MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16, ITEM = 64 };

struct pool {
    char *memory;
    size_t used;
    void *free_list;
};

static struct pool pool;
static volatile int sink;

__attribute__((noinline)) void *pool_alloc(struct pool *p, size_t bytes)
{
    void *item = p->free_list;
    if (!p->memory)
        p->memory = malloc(ROOM);
    if (item) {
        memcpy(&p->free_list, item, sizeof item);
        return item;
    }
    item = p->memory + p->used;
    p->used += bytes < ITEM ? ITEM : bytes;
    return item;
}

__attribute__((noinline)) void pool_free(struct pool *p, void *item)
{
    memcpy(item, &p->free_list, sizeof item);
    p->free_list = item;
}

int main(void)
{
    volatile int *a = pool_alloc(&pool, 40), *b = pool_alloc(&pool, 40);
    a[3] = 1;
    b[3] = 2;
    pool_free(&pool, (void *)a);
    b[10] = 1;   /* WRONG: overflow */
    sink = a[3]; /* WRONG: use after free */
    if (b[5])    /* WRONG: undefined branch */
        sink = 1;
    pool_free(&pool, (void *)b);
    free(pool.memory);
    return 0;
}
