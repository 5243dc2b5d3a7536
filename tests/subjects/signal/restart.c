/* restart.c - SA_RESTART against EINTR for read, nanosleep, futex, poll, wait, and pipes' writes.
 */
#include "subject.h"
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static int p[2], sv[2];
static volatile int hits;
static pthread_t main_thread;
static sem_t start, stopped;
static volatile int then_write, quit, returned;

static void count(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    hits++;
}

/* Interrupts the main thread some time after it asked, and ends its call later if it restarted. On
 * a busy machine the signal may come before the call has begun: then it is sent again. */
static void *poker(void *arg)
{
    for (;;) {
        sem_wait(&start);
        if (quit)
            return arg;
        do {
            sleep_ms(15);
            pthread_kill(main_thread, SIGUSR1);
        } while (!then_write && !returned);
        if (then_write) {
            sleep_ms(15);
            write(p[1], "x", 1);
            write(sv[1], "x", 1);
        }
        sem_post(&stopped);
    }
}

#define TRY(what, call)                                                                            \
    do {                                                                                           \
        hits = 0;                                                                                  \
        errno = 0;                                                                                 \
        returned = 0;                                                                              \
        sem_post(&start);                                                                          \
        long r = (call);                                                                           \
        int e = errno;                                                                             \
        returned = 1;                                                                              \
        while (sem_wait(&stopped))                                                                 \
            ;                                                                                      \
        say("%s: %ld %s, handler ran: %d\n", what, r, r<0 ? strerror(e) : "", hits> 0);            \
    } while (0)

int main(void)
{
    pthread_t t;
    char c[4];
    int word = 0, ep = epoll_create1(0);
    struct timespec ts = {5, 0}, left = {9, 9};
    struct epoll_event ev = {.events = EPOLLIN};
    if (pipe(p) || socketpair(AF_UNIX, SOCK_DGRAM, 0, sv))
        return 1;
    struct pollfd pf = {p[0], POLLIN, 0};
    epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev);
    main_thread = pthread_self();
    sem_init(&start, 0, 0);
    sem_init(&stopped, 0, 0);
    pthread_create(&t, NULL, poker, NULL);

    on_signal(SIGUSR1, count, 0);
    TRY("read", read(p[0], c, 1));
    TRY("recv", recv(sv[0], c, 1, 0));
    TRY("poll", poll(&pf, 1, 2000));
    TRY("epoll_wait", epoll_wait(ep, &ev, 1, 2000));
    TRY("nanosleep", nanosleep(&ts, &left));
    check(left.tv_sec < 5 && left.tv_nsec >= 0);
    TRY("futex", syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &ts, NULL, 0));
    TRY("pause", pause());

    on_signal(SIGUSR1, count, SA_RESTART);
    TRY("poll with SA_RESTART", poll(&pf, 1, 2000));
    TRY("epoll_wait with SA_RESTART", epoll_wait(ep, &ev, 1, 2000));
    TRY("nanosleep with SA_RESTART", nanosleep(&ts, NULL));
    TRY("futex with SA_RESTART",
        syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &ts, NULL, 0));
    then_write = 1;
    TRY("recv with SA_RESTART", recv(sv[0], c, 1, 0));
    TRY("read with SA_RESTART", read(p[0], c, 1));
    then_write = 0;
    pid_t pid = fork();
    if (pid == 0) {
        sleep_ms(60);
        _exit(3);
    }
    TRY("waitpid with SA_RESTART", waitpid(pid, NULL, 0) == pid);
    quit = 1;
    sem_post(&start);
    pthread_join(t, NULL);
    return 0;
}
