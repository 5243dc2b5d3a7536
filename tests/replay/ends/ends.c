/* ends.c HOW - a program that says a few words and then ends in the way it is told. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static __attribute__((noinline)) int overflow(int n)
{
    volatile char frame[2000];
    frame[n % 2000] = (char)n;
    return overflow(n + 1) + frame[(n + 1) % 2000];
}

static void end(const char *how)
{
    volatile int zero = 0, seven = 7;
    if (!strncmp(how, "exit=", 5))
        exit(atoi(how + 5));
    if (!strncmp(how, "_exit=", 6))
        _exit(atoi(how + 6));
    if (!strncmp(how, "group=", 6))
        syscall(SYS_exit_group, atoi(how + 6));
    if (!strncmp(how, "signal=", 7))
        kill(getpid(), atoi(how + 7));
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "assert"))
        assert(zero == 1);
    if (!strcmp(how, "null"))
        *(volatile int *)0 = 1;
    if (!strcmp(how, "divide"))
        zero = seven / zero;
    if (!strcmp(how, "ud2"))
        __asm__ volatile("ud2");
    if (!strcmp(how, "int3"))
        __asm__ volatile("int3");
    if (!strcmp(how, "bus")) {
        int fd = memfd_create("empty", 0);
        *(volatile char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) = 1;
    }
    if (!strcmp(how, "overflow"))
        overflow(0);
    if (!strcmp(how, "jump"))
        ((void (*)(void))0x123456)();
    if (!strcmp(how, "smash"))
        __asm__ volatile("xor %rsp, %rsp; push %rax");
    if (!strcmp(how, "pthread_exit"))
        pthread_exit(NULL);
}

static void *spin(void *arg)
{
    for (volatile long i = 0;; i++)
        if (i % 100000 == 0)
            usleep(100);
    return arg;
}

static void *other(void *arg)
{
    usleep(2000);
    end(arg);
    pause();
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned long noise;
    pthread_t t;
    if (argc < 3 || getrandom(&noise, sizeof noise, 0) != (ssize_t)sizeof noise)
        return 99;
    dprintf(1, "process %d, %lx\n", getpid(), noise);
    dprintf(2, "on standard error: %lx", noise * 31); /* no line end: what follows is not ours */
    if (!strcmp(argv[1], "main")) {
        end(argv[2]);
    } else {
        pthread_create(&t, NULL, spin, NULL);
        pthread_create(&t, NULL, other, argv[2]);
        pthread_join(t, NULL);
    }
    return 0;
}
