/* transmission_start.c - the thread is started before the member that it uses is set.
 *
 * SPDX-License-Identifier: MIT
 *
 * After Transmission 1.42: tr_sessionInitFull() started the event thread, and set the session's
 * bandwidth afterwards.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bandwidth {
    int magic;
    long limit, used;
};

struct session {
    struct bandwidth *bandwidth;
    pthread_t thread;
    long turns;
    char peer_id[21];
};

static int is_bandwidth(const struct bandwidth *b)
{
    return b && b->magic == 43143;
}

static void allocate(struct bandwidth *b, long bytes)
{
    assert(is_bandwidth(b));
    b->used += bytes < b->limit ? bytes : b->limit;
}

static void pulse(struct session *s)
{
    for (int i = 0; i < 300; i++)
        s->turns += i & 1;
    usleep(20000);
    allocate(s->bandwidth, s->turns);
}

static void *events(void *arg)
{
    struct session *s = arg;
    for (int i = 0; i < 3; i++)
        pulse(s);
    return NULL;
}

static void load_settings(struct session *s)
{
    for (int i = 0; i < 20; i++)
        s->peer_id[i] = (char)('a' + i * 7 % 26);
    usleep(60000);
}

static struct bandwidth *bandwidth_new(long limit)
{
    struct bandwidth *b = malloc(sizeof *b);
    *b = (struct bandwidth){43143, limit, 0};
    return b;
}

static struct session *session_init(void)
{
    struct session *s = calloc(1, sizeof *s);
#ifdef FIXED
    s->bandwidth = bandwidth_new(100);
    load_settings(s);
    pthread_create(&s->thread, NULL, events, s);
#else
    pthread_create(&s->thread, NULL, events, s); /* ROOT CAUSE */
    load_settings(s);
    s->bandwidth = bandwidth_new(100); /* ROOT CAUSE */
#endif
    return s;
}

int main(void)
{
    struct session *s = session_init();
    pthread_join(s->thread, NULL);
    printf("%ld\n", s->bandwidth->used);
    return 0;
}
