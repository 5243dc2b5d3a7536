/* chase.c - a chained hash table, filled and searched: dependent loads and short loops.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 1 << 16, BUCKETS = 1 << 15, SEARCHES = 30000000 };

struct node {
    struct node *next;
    uint64_t key, hits;
};

static struct node nodes[NODES], *buckets[BUCKETS];

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15;
    return x ^ (x >> 29);
}

static struct node *find(uint64_t key)
{
    struct node *n = buckets[mix(key) % BUCKETS];

    while (n && n->key != key)
        n = n->next;
    return n;
}

static void insert(struct node *n, uint64_t key)
{
    struct node **head = &buckets[mix(key) % BUCKETS];

    n->key = key;
    n->next = *head;
    *head = n;
}

int main(void)
{
    uint64_t found = 0, state = 1, sum = 0;

    for (uint64_t i = 0; i < NODES; i++)
        insert(&nodes[i], i * 2);
    for (long i = 0; i < SEARCHES; i++) {
        struct node *n;

        state = state * 6364136223846793005u + 1442695040888963407u;
        n = find((state >> 33) % (NODES * 3)); /* two of three searches miss */
        if (n) {
            n->hits++;
            found++;
        }
    }
    for (long i = 0; i < NODES; i++)
        sum += nodes[i].hits * nodes[i].key;
    printf("%llu %llu\n", (unsigned long long)found, (unsigned long long)sum);
    return 0;
}
