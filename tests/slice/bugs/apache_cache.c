/* apache_cache.c - two threads both see a cached object's count at zero, and both free it.
 *
 * SPDX-License-Identifier: MIT
 *
 * After Apache httpd's bug 21287: mod_mem_cache's decrement_refcount() counted down with an atomic
 * instruction, and looked at the count in a second step.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct object {
    struct object *older;
    long length;
    char body[40];
    atomic_int users;
    int shared;
};

struct visitor {
    struct object *uses;
    const char *then;
    int slow_us, linger_us;
    struct object *made;
};

static int closing;

static struct object *make(const char *text, int users)
{
    struct object *o = malloc(sizeof *o);
    o->older = NULL;
    o->length = (long)strlen(text);
    memcpy(o->body, text, (size_t)o->length + 1);
    o->shared = users > 1;
    atomic_init(&o->users, users);
    return o;
}

static void send_rest(const struct visitor *v)
{
    if (v->slow_us)
        usleep((useconds_t)v->slow_us);
}

static void release(struct visitor *v)
{
    struct object *o = v->uses;
#ifdef FIXED
    int left = atomic_fetch_sub(&o->users, 1) - 1;
    send_rest(v);
    if (!left)
        free(o);
#else
    atomic_fetch_sub(&o->users, 1); /* ROOT CAUSE */
    send_rest(v);
    if (!atomic_load(&o->users)) /* ROOT CAUSE */
        free(o);
#endif
    v->uses = NULL;
}

static void *visit(void *arg)
{
    struct visitor *v = arg;
    release(v);
    if (v->linger_us)
        usleep((useconds_t)v->linger_us);
    v->made = make(v->then, 1);
    while (!__atomic_load_n(&closing, __ATOMIC_ACQUIRE))
        usleep(1000);
    return NULL;
}

static long checksum(const struct object *o)
{
    long sum = 0;
    for (int round = 0; round < 20; round++)
        for (long i = 0; i < o->length; i++)
            sum = sum * 31 + o->body[i];
    return sum;
}

int main(void)
{
    struct object *page = make("<html>the page that both visitors have", 2);
    struct visitor slow = {page, "first visitor's cookie", 60000, 0, NULL},
                   quick = {page, "the second one's", 0, 80000, NULL};
    pthread_t a, b;
    pthread_create(&a, NULL, visit, &slow);
    usleep(20000);
    pthread_create(&b, NULL, visit, &quick);
    usleep(150000);
    __atomic_store_n(&closing, 1, __ATOMIC_RELEASE);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    struct object *wanted = make("the second one's", 1);
    printf("%s, %s\n", slow.made->body, quick.made->body);
    assert(checksum(quick.made) == checksum(wanted));
    return 0;
}
