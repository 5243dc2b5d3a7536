/* destroyed_table.c - one thread destroys a hash table, another looks something up in it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct entry {
    struct entry *next;
    unsigned key, value;
};

struct table {
    struct entry **bucket;
    unsigned buckets, users;
};

static struct table atoms;
static sem_t half, destroyed;
static unsigned noise;

static void insert(struct table *t, unsigned key)
{
    struct entry *e = malloc(sizeof *e);
    *e = (struct entry){t->bucket[key % t->buckets], key, key * 7};
    t->bucket[key % t->buckets] = e;
}

static unsigned lookup(const struct table *t, unsigned key)
{
    struct entry *e = t->bucket[key % t->buckets]; /* CRASH */
    while (e && e->key != key)
        e = e->next;
    return e ? e->value : 0;
}

static void destroy(struct table *t)
{
    for (unsigned i = 0; i < t->buckets; i++)
        while (t->bucket[i]) {
            struct entry *e = t->bucket[i];
            t->bucket[i] = e->next;
            free(e);
        }
    free(t->bucket);
    t->bucket = NULL; /* ROOT CAUSE */
}

static void *script(void *arg)
{
    unsigned *sum = arg;
    for (unsigned key = 0; key < 20; key++) {
        if (key == 10) {
            sem_post(&half);
            sem_wait(&destroyed);
        }
        *sum += lookup(&atoms, key);
    }
    return NULL;
}

int main(void)
{
    pthread_t id;
    unsigned sum = 0;
    sem_init(&half, 0, 0);
    sem_init(&destroyed, 0, 0);
    atoms = (struct table){calloc(8, sizeof *atoms.bucket), 8, 2};
    for (unsigned key = 0; key < 20; key++)
        insert(&atoms, key);
    pthread_create(&id, NULL, script, &sum);
    sem_wait(&half);
    for (unsigned i = 0; i < 50; i++)
        noise ^= i << 3; /* UNRELATED */
    if (--atoms.users == 1)
        destroy(&atoms);
    sem_post(&destroyed);
    pthread_join(id, NULL);
    return (int)(sum + noise) & 1;
}
