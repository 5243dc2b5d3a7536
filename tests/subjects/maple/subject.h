/* subject.h - what the programs of this folder share. SPDX-License-Identifier: MIT
 *
 * Loads and stores are relaxed atomics, so that the compiler makes one instruction of each and the
 * order of threads alone decides. With -DFIXED a program is correct.
 */
#ifndef TESTS_SUBJECTS_MAPLE_SUBJECT_H
#define TESTS_SUBJECTS_MAPLE_SUBJECT_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GET(x)    __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define LOCK(m)   pthread_mutex_lock(&(m))
#define UNLOCK(m) pthread_mutex_unlock(&(m))
#define MUTEX     PTHREAD_MUTEX_INITIALIZER

#ifdef FIXED
#define BUG(...)
#define FIX(...) __VA_ARGS__
#else
#define BUG(...) __VA_ARGS__
#define FIX(...)
#endif

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST = 256 };

typedef void *body(void *arg);

/* Runs `n` threads; thread i is fn[i], or the last one that there is. */
static inline void run(int n, body *const fn[], int fns)
{
    pthread_t t[MOST];
    for (int i = 0; i < n; i++)
        if (pthread_create(&t[i], NULL, fn[i < fns ? i : fns - 1], (void *)(long)i))
            exit(77);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

#define RUN(n, ...)                                                                                \
    do {                                                                                           \
        body *const list[] = {__VA_ARGS__};                                                        \
        run(n, list, (int)(sizeof list / sizeof list[0]));                                         \
    } while (0)

static inline int argument(int argc, char *argv[], int otherwise)
{
    int n = argc > 1 ? atoi(argv[1]) : otherwise;
    return n < 2 ? 2 : n > MOST - 2 ? MOST - 2 : n;
}

#endif
