/* mysql_procinfo.c - what a thread does is there when it is looked at, and gone when it is printed.
 *
 * SPDX-License-Identifier: MIT
 *
 * After MySQL's bug 3596: the monitor asked whether thd->proc_info is set, and read it again to
 * print it, while the connection's thread sets it to NULL.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct connection {
    int id;
    const char *proc_info;
    long rows;
    struct connection *next;
};

static struct connection *connections;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static char report[512];

static void connect(struct connection *c, int id)
{
    *c = (struct connection){.id = id};
    pthread_mutex_lock(&list_lock);
    c->next = connections;
    connections = c;
    pthread_mutex_unlock(&list_lock);
}

static void set_info(struct connection *c, const char *info)
{
    __atomic_store_n(&c->proc_info, info, __ATOMIC_RELAXED); /* ROOT CAUSE */
}

static void *execute(void *arg)
{
    static const char *const phases[] = {"parsing", "opening tables", "sorting result"};
    struct connection *c = arg;
    for (int phase = 0; phase < 3; phase++) {
        set_info(c, phases[phase]);
        for (int i = 0; i < 400; i++)
            c->rows += i % 3;
    }
    usleep(60000);
    set_info(c, NULL);
    return NULL;
}

static size_t append(size_t at, const char *text)
{
    size_t n = strlen(text);
    memcpy(report + at, text, n);
    return at + n;
}

static void take_time(char *text, size_t size)
{
    usleep(80000);
    snprintf(text, size, "%d s ", 3);
}

static void monitor(void)
{
    size_t at = 0;
    pthread_mutex_lock(&list_lock);
    for (struct connection *c = connections; c; c = c->next) {
        char head[32];
        snprintf(head, sizeof head, "%d: ", c->id);
        at = append(at, head);
#ifdef FIXED
        const char *info = __atomic_load_n(&c->proc_info, __ATOMIC_RELAXED);
        if (info) {
            take_time(head, sizeof head);
            at = append(at, head);
            at = append(at, info);
        }
#else
        if (__atomic_load_n(&c->proc_info, __ATOMIC_RELAXED)) { /* ROOT CAUSE */
            take_time(head, sizeof head);
            at = append(at, head);
            at = append(at, __atomic_load_n(&c->proc_info, __ATOMIC_RELAXED));
        }
#endif
    }
    pthread_mutex_unlock(&list_lock);
}

int main(void)
{
    static struct connection c[3];
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        connect(&c[i], i + 1);
    pthread_create(&thread, NULL, execute, &c[1]);
    usleep(20000);
    monitor();
    pthread_join(thread, NULL);
    puts(report);
    return 0;
}
