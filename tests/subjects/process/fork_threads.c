/* fork_threads.c - fork in a program with threads: the child has one, can make more; atfork order.
 */
#include "subject.h"
#include <dirent.h>
#include <pthread.h>

static volatile int stop;

static void *spin(void *arg)
{
    while (!stop)
        ;
    return arg;
}

static void *forker(void *arg)
{
    (void)arg;
    int ok = 0;
    for (int i = 0; i < 15; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pthread_t t;
            void *r = NULL;
            stop = 1;
            pthread_create(&t, NULL, spin, (void *)5);
            pthread_join(t, &r);
            free(malloc(100));
            _exit(r == (void *)5 && gettid() == getpid() ? 7 : 8);
        }
        int st;
        ok += waitpid(pid, &st, 0) == pid && WIFEXITED(st) && WEXITSTATUS(st) == 7;
    }
    return (void *)(long)ok;
}

static void before(void)
{
    say("prepare\n");
}

static void in_parent(void)
{
    say("parent\n");
}

int main(void)
{
    pthread_t s[2], f[2];
    void *r;
    for (int i = 0; i < 2; i++)
        pthread_create(&s[i], NULL, spin, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&f[i], NULL, forker, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(f[i], &r);
        say("forker %d: %ld good\n", i, (long)r);
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(s[i], NULL);
    pthread_atfork(before, in_parent, NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    reap("atfork", pid);
    return 0;
}
