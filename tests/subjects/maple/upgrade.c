/* upgrade.c - a cache under a lock for readers and writers: who misses a key gives the one lock
 * back, takes the other one and adds the key without a second look. SPDX-License-Identifier: MIT */
#include "subject.h"

static struct {
    int key, value;
} entry[8];
static int entries;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static int find(int key)
{
    for (int i = 0; i < entries; i++)
        if (entry[i].key == key)
            return i;
    return -1;
}

static void *lookup(void *arg)
{
    const int key = (int)(long)arg % 2;
    pthread_rwlock_rdlock(&lock);
    int i = find(key);
    pthread_rwlock_unlock(&lock);
    if (i >= 0)
        return arg;
    pthread_rwlock_wrlock(&lock);
    if (FIX(find(key) < 0) BUG(1)) {
        entry[entries].key = key;
        entry[entries].value = key * 10;
        entries++; /* ROOT CAUSE */
    }
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(3, lookup);
    CHECK(entries == 2);
    return 0;
}
