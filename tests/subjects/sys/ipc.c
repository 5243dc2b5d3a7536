/* ipc.c - System V semaphores and messages, POSIX queues and shared memory, glibc aio, getrandom.
 */
#include "subject.h"
#include <aio.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sem.h>

struct message {
    long type;
    char text[16];
};

int main(void)
{
    int sem = semget(IPC_PRIVATE, 2, 0600), q = msgget(IPC_PRIVATE, 0600);
    struct sembuf take = {0, -1, 0}, give = {0, 1, 0}, now = {0, -1, IPC_NOWAIT};
    check(semop(sem, &now, 1) == -1 && errno == EAGAIN);
    pid_t pid = fork();
    if (pid == 0) {
        struct message m = {5, "hi"};
        sleep_ms(10);
        semop(sem, &give, 1);
        msgsnd(q, &m, sizeof m.text, 0);
        _exit(0);
    }
    struct message m;
    check(semop(sem, &take, 1) == 0);
    check(msgrcv(q, &m, sizeof m.text, 5, 0) == sizeof m.text && !strcmp(m.text, "hi"));
    reap("child", pid);
    check(semctl(sem, 0, GETVAL) == 0 && semctl(sem, 0, IPC_RMID) == 0);
    check(msgctl(q, IPC_RMID, NULL) == 0);

    char name[40];
    snprintf(name, sizeof name, "/subject-%d", getpid());
    int shm = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    check(shm >= 0 && ftruncate(shm, 4096) == 0 && shm_unlink(name) == 0);
    struct mq_attr at = {.mq_maxmsg = 4, .mq_msgsize = 16};
    mqd_t mq = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &at);
    if (mq != (mqd_t)-1) {
        unsigned prio = 0;
        char buf[16];
        check(mq_send(mq, "low", 4, 1) == 0 && mq_send(mq, "high", 5, 9) == 0);
        check(mq_receive(mq, buf, 16, &prio) == 5 && prio == 9);
        mq_unlink(name);
    }
    int fd = open("aio", O_RDWR | O_CREAT, 0600);
    struct aiocb cb = {.aio_fildes = fd, .aio_buf = (void *)"asynchronous", .aio_nbytes = 12};
    const struct aiocb *list[] = {&cb};
    check(aio_write(&cb) == 0);
    while (aio_suspend(list, 1, NULL))
        ;
    check(aio_error(&cb) == 0 && aio_return(&cb) == 12);
    unsigned char r[64] = {0};
    int zero = 0;
    check(getrandom(r, 64, 0) == 64 && getentropy(r, 32) == 0);
    for (int i = 0; i < 64; i++)
        zero += r[i] == 0;
    check(zero < 32);
    return 0;
}
