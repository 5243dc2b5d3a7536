/* shared_memory.c - processes that share memory: process-shared mutex, futex, spinning, SysV shm.
 */
#include "subject.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/shm.h>

struct shared {
    pthread_mutex_t m;
    sem_t sem[2];
    volatile int turn;
    int total;
};

int main(void)
{
    struct shared *s = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&s->m, &a);
    for (int i = 0; i < 2; i++)
        sem_init(&s->sem[i], 1, 0);
    for (int k = 0; k < 3; k++)
        if (fork() == 0) {
            for (int i = 0; i < 5000; i++) {
                pthread_mutex_lock(&s->m);
                s->total++;
                pthread_mutex_unlock(&s->m);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    say("total %d\n", s->total);
    pid_t pid = fork();
    int me = pid == 0;
    for (int i = 0; i < 500; i++) {
        if (me)
            sem_wait(&s->sem[1]);
        s->total = s->total * 3 + me;
        sem_post(&s->sem[!me]);
        if (!me)
            sem_wait(&s->sem[0]);
    }
    for (int i = 0; i < 20; i++) {
        while (s->turn % 2 != me)
            ;
        s->turn++;
    }
    if (me)
        _exit(0);
    reap("partner", pid);
    say("total %d turns %d\n", s->total, s->turn);
    int id = shmget(IPC_PRIVATE, 8192, IPC_CREAT | 0600);
    int *shm = shmat(id, NULL, 0);
    pid = fork();
    if (pid == 0) {
        shm[2000] = 99;
        _exit(0);
    }
    reap("writer", pid);
    struct shmid_ds ds;
    check(shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_nattch == 1 && ds.shm_segsz == 8192);
    check(shm[2000] == 99 && shmdt(shm) == 0 && shmctl(id, IPC_RMID, NULL) == 0);
    return 0;
}
