/* robust_process.c - a process-shared robust mutex whose owner process is killed. */
#include "subject.h"
#include <pthread.h>

int main(void)
{
    pthread_mutex_t *m =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(m, &a);
    int p[2];
    check(pipe(p) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_mutex_lock(m);
        write(p[1], "x", 1);
        for (;;)
            pause();
    }
    char c;
    check(read(p[0], &c, 1) == 1);
    check(pthread_mutex_trylock(m) == EBUSY);
    kill(pid, SIGKILL);
    reap("owner", pid);
    check(pthread_mutex_lock(m) == EOWNERDEAD);
    check(pthread_mutex_consistent(m) == 0 && pthread_mutex_unlock(m) == 0);
    return 0;
}
