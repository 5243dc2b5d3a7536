/* filled.c - memory that system calls write: at once, or after they have waited while another
 * thread wrote it, too; and memory that is written at the second try, after a fault.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 3, PAGE = 4096 };

char filled[8], large[PAGE];
__attribute__((aligned(PAGE))) volatile char guarded[PAGE];
pthread_mutex_t inherited; /* its word is written by a call that waits afterwards */
static int to[2], back[2];

__attribute__((noinline)) static void fill(void)
{
    if (read(to[0], filled, sizeof filled) < 0)
        _exit(2);
}

static void *work(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        fill(); /* WAITS */
        if (write(back[1], "", 1) < 0)
            _exit(2);
    }
    pthread_mutex_lock(&inherited); /* WAITS FOR THE LOCK */
    pthread_mutex_unlock(&inherited);
    return NULL;
}

static void prepare(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inherited, &a);
    if (pipe(to) || pipe(back))
        _exit(2);
}

static void fill_large(void)
{
    int zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 2; i++)
        if (read(zero, large, sizeof large) < 0) /* FILLS */
            _exit(2);
    close(zero);
}

static void on_segv(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    mprotect((void *)((unsigned long)info->si_addr & -(unsigned long)PAGE), PAGE,
             PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static void fault(void)
{
    struct sigaction act = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &act, NULL);
    mprotect((void *)guarded, sizeof guarded, PROT_NONE);
    guarded[0] = 1; /* FAULTS */
}

int main(void)
{
    pthread_t thread;
    char byte;
    prepare(); /* MAIN BEGINS */
    for (int i = 0; i < 2; i++) {
        if (write(to[1], "at once", sizeof filled) < 0)
            return 2;
        fill();
    }
    fill_large();
    fault();
    pthread_mutex_lock(&inherited);
    pthread_create(&thread, NULL, work, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        usleep(20000);               /* the other one is in its call by now */
        filled[0] = (char)('0' + i); /* BETWEEN */
        if (write(to[1], "later..", sizeof filled) < 0 || read(back[0], &byte, 1) < 0)
            return 2;
    }
    usleep(20000);
    pthread_mutex_unlock(&inherited);
    pthread_join(thread, NULL);
    return 0;
}
