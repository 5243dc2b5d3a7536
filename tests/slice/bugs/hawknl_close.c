/* hawknl_close.c - closing one socket and shutting down all of them take two locks in different
 * orders.
 *
 * SPDX-License-Identifier: MIT
 *
 * After HawkNL 1.6b3: nlClose() locks the list of sockets inside the socket's lock, nlShutdown()
 * each socket inside the list's.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOCKETS 6

struct socket {
    int used, sent;
    pthread_mutex_t lock;
};

static struct socket *sockets[SOCKETS];
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static int opened;

static int open_socket(void)
{
    int at = opened;
    pthread_mutex_lock(&list_lock);
    sockets[at] = calloc(1, sizeof *sockets[at]);
    pthread_mutex_init(&sockets[at]->lock, NULL);
    sockets[at]->used = 1;
    opened++;
    pthread_mutex_unlock(&list_lock);
    return at;
}

static void driver_close(struct socket *s)
{
    for (int i = 0; i < 40; i++)
        s->sent += i % 3;
    usleep(50000);
}

static void forget(int at)
{
    pthread_mutex_lock(&list_lock); /* ROOT CAUSE */
    sockets[at]->used = 0;
    opened--;
    pthread_mutex_unlock(&list_lock);
}

static void *close_socket(void *arg)
{
    int at = *(int *)arg;
    struct socket *s = sockets[at];
    pthread_mutex_lock(&s->lock); /* ROOT CAUSE */
    driver_close(s);
#ifdef FIXED
    pthread_mutex_unlock(&s->lock);
    forget(at);
#else
    forget(at);
    pthread_mutex_unlock(&s->lock);
#endif
    return NULL;
}

static void flush(struct socket *s)
{
    pthread_mutex_lock(&s->lock);
    s->sent = 0;
    pthread_mutex_unlock(&s->lock);
}

static void shut_down(void)
{
    pthread_mutex_lock(&list_lock);
    for (int i = 0; i < SOCKETS; i++)
        if (sockets[i])
            flush(sockets[i]);
    pthread_mutex_unlock(&list_lock);
}

int main(void)
{
    int last = 0;
    pthread_t closer;
    for (int i = 0; i < 4; i++)
        last = open_socket();
    pthread_create(&closer, NULL, close_socket, &last);
    usleep(20000);
    shut_down();
    pthread_join(closer, NULL);
    printf("%d open\n", opened);
    return 0;
}
