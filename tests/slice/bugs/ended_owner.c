/* ended_owner.c - a thread that finds a bad record ends itself, deep in a call, and takes the
 * list's lock along.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct record {
    const char *text;
    struct record *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct record *list;
static int sums[4];

static void add(const char *text)
{
    struct record *r = malloc(sizeof *r);
    pthread_mutex_lock(&list_lock);
    *r = (struct record){text, list};
    list = r;
    pthread_mutex_unlock(&list_lock);
}

static void give_up(const char *text)
{
    fprintf(stderr, "bad record: %s\n", text);
#ifdef FIXED
    pthread_mutex_unlock(&list_lock);
#endif
    pthread_exit(NULL); /* ROOT CAUSE */
}

static int parse(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (*end)
        give_up(text);
    return (int)n;
}

static void *summer(void *arg)
{
    int *sum = arg;
    pthread_mutex_lock(&list_lock); /* ROOT CAUSE */
    for (struct record *r = list; r; r = r->next)
        *sum += parse(r->text);
    pthread_mutex_unlock(&list_lock);
    return NULL;
}

static void *longest(void *arg)
{
    int *most = arg;
    pthread_mutex_lock(&list_lock);
    for (struct record *r = list; r; r = r->next)
        if ((int)strlen(r->text) > *most)
            *most = (int)strlen(r->text);
    pthread_mutex_unlock(&list_lock);
    return NULL;
}

int main(void)
{
    static const char *const texts[] = {"12", "77", "4x", "1000", "5"};
    pthread_t a, b;
    for (int i = 0; i < 5; i++)
        add(texts[i]);
    pthread_create(&a, NULL, summer, &sums[0]);
    pthread_join(a, NULL);
    pthread_create(&b, NULL, longest, &sums[1]);
    pthread_join(b, NULL);
    printf("%d %d\n", sums[0], sums[1]);
    return 0;
}
