/* mysql_binlog.c - a change is made while the log is between its old and its new file, and is in
 * neither.
 *
 * SPDX-License-Identifier: MIT
 *
 * After MySQL's bug 791: new_file() closes the log and opens the next; a statement that asks in
 * between whether the log is open does not log.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct log {
    pthread_mutex_t lock;
    int open, number, used;
    int entry[64];
};

struct table {
    pthread_mutex_t lock;
    int row[64], rows;
};

static struct log binlog = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = 1};
static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void sync_file(void)
{
    usleep(50000);
}

static void new_file(struct log *l)
{
#ifdef FIXED
    pthread_mutex_lock(&l->lock);
#endif
    __atomic_store_n(&l->open, 0, __ATOMIC_SEQ_CST); /* ROOT CAUSE */
    sync_file();
    l->number++;
    __atomic_store_n(&l->open, 1, __ATOMIC_SEQ_CST);
#ifdef FIXED
    pthread_mutex_unlock(&l->lock);
#endif
}

static void log_change(struct log *l, int value)
{
#ifdef FIXED
    pthread_mutex_lock(&l->lock);
#endif
    if (__atomic_load_n(&l->open, __ATOMIC_SEQ_CST)) /* ROOT CAUSE */
        l->entry[l->used++] = value;
#ifdef FIXED
    pthread_mutex_unlock(&l->lock);
#endif
}

static void insert(struct table *t, int value)
{
    pthread_mutex_lock(&t->lock);
    t->row[t->rows++] = value;
    log_change(&binlog, value);
    pthread_mutex_unlock(&t->lock);
}

static void *client(void *arg)
{
    int first = *(int *)arg;
    for (int i = 0; i < 5; i++) {
        insert(&table, first + i);
        if (i == 1)
            usleep(40000);
    }
    return NULL;
}

static void *rotate(void *arg)
{
    usleep(20000);
    new_file(&binlog);
    return arg;
}

static long replay(const struct log *l)
{
    long sum = 0;
    for (int i = 0; i < l->used; i++)
        sum = sum * 31 % 65521 + l->entry[i];
    return sum;
}

static long contents(const struct table *t)
{
    long sum = 0;
    for (int i = 0; i < t->rows; i++)
        sum = sum * 31 % 65521 + t->row[i];
    return sum;
}

int main(void)
{
    int first = 100;
    pthread_t a, b;
    for (int i = 0; i < 8; i++)
        insert(&table, i * i);
    pthread_create(&a, NULL, client, &first);
    pthread_create(&b, NULL, rotate, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d rows, %d entries\n", table.rows, binlog.used);
    assert(replay(&binlog) == contents(&table));
    return 0;
}
