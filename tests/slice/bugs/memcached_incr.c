/* memcached_incr.c - two clients count the same key up, and a count is lost.
 *
 * SPDX-License-Identifier: MIT
 *
 * After memcached's issue 127: `incr' took the item's lock for the lookup only, not from reading
 * the number to writing it back.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUCKETS 16

struct item {
    struct item *next;
    char key[16];
    char data[24];
};

struct client {
    const char *const *command;
    int verbose;
};

static struct item *bucket[BUCKETS];
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef FIXED
static pthread_mutex_t item_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static unsigned hash_of(const char *key)
{
    unsigned h = 5381;
    while (*key)
        h = h * 33 + (unsigned char)*key++;
    return h;
}

static struct item *item_get(const char *key, int make)
{
    struct item **slot = &bucket[hash_of(key) % BUCKETS], *it;
    pthread_mutex_lock(&cache_lock);
    for (it = *slot; it && strcmp(it->key, key) != 0; it = it->next)
        ;
    if (!it && make) {
        it = calloc(1, sizeof *it);
        strcpy(it->key, key);
        it->next = *slot;
        *slot = it;
    }
    pthread_mutex_unlock(&cache_lock);
    return it;
}

/* A verbose client's terminal is slow. */
static void say(const struct client *c, const char *reply)
{
    if (c->verbose) {
        fprintf(stderr, "> %s\n", reply);
        usleep(50000);
    }
}

static void add_delta(const struct client *c, const char *key, long delta)
{
    char reply[24];
    struct item *it = item_get(key, 0);
#ifdef FIXED
    pthread_mutex_lock(&item_lock);
#endif
    long value = strtol(it->data, NULL, 10); /* ROOT CAUSE */
    int n = snprintf(reply, sizeof reply, "%ld", value + delta);
    say(c, reply);
    memcpy(it->data, reply, (size_t)n + 1); /* ROOT CAUSE */
#ifdef FIXED
    pthread_mutex_unlock(&item_lock);
#endif
}

static void process_command(const struct client *c, const char *line)
{
    char verb[8], key[16];
    long n = 0;
    int got = sscanf(line, "%7s %15s %ld", verb, key, &n);
    if (got == 3 && strcmp(verb, "incr") == 0)
        add_delta(c, key, n);
    else if (got == 3 && strcmp(verb, "set") == 0)
        snprintf(item_get(key, 1)->data, 24, "%ld", n);
}

static void *serve(void *arg)
{
    struct client *c = arg;
    for (int i = 0; c->command[i]; i++)
        process_command(c, c->command[i]);
    return NULL;
}

int main(void)
{
    static const char *const setup[] = {"set hits 0", "set misses 0", "set bytes 0", NULL};
    static const char *const one[] = {"incr misses 1", "incr hits 10", "incr bytes 77", NULL};
    static const char *const two[] = {"incr bytes 500", "incr hits 3", "incr misses 1", NULL};
    struct client first = {setup, 0}, slow = {one, 1}, quick = {two, 0};
    pthread_t a, b;
    serve(&first);
    pthread_create(&a, NULL, serve, &slow);
    usleep(75000);
    pthread_create(&b, NULL, serve, &quick);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    long sum = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (struct item *it = bucket[i]; it; it = it->next)
            sum += atol(it->data);
    printf("%ld\n", sum);
    assert(sum == 592);
    return 0;
}
