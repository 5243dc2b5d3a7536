/* mixed.c - what probes take: arguments of all kinds, pointers that lead nowhere, strings, calls
 * that are interrupted and begun anew, faults that are repaired.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static int wires[2];
static volatile int interrupted;
static volatile long sum;
static char *late; /* a page that cannot be touched at first */

APART double scale(double by, float more, long double most)
{
    sum += (long)by;
    return by * (double)more + (double)most;
}

APART void look(const char *text, long n)
{
    sum += n; /* LOOK */
}

static void on_signal(int sig)
{
    (void)sig;
    interrupted++;
}

static void on_fault(int sig)
{
    (void)sig;
    mprotect(late, 4096, PROT_READ | PROT_WRITE);
}

/* A system call in its own instruction, so that its place is known. */
APART long plain_read(int fd, void *to, unsigned long n)
{
    long result;
    __asm__ volatile("plain_read_call: syscall"
                     : "=a"(result)
                     : "a"(SYS_read), "D"(fd), "S"(to), "d"(n)
                     : "rcx", "r11", "memory");
    return result;
}

APART void touch(char *at, long value)
{
    __asm__ volatile("touch_store: mov %1, (%0)" : : "r"(at), "r"(value) : "memory");
}

static void *reader(void *arg)
{
    char c = 0;
    while (plain_read(wires[0], &c, 1) == 1 && c != 'q')
        look(&c, c);
    return arg;
}

static void copies(void)
{
    char from[300], to[300];
    void *d = to;
    const void *s = from;
    unsigned long n = sizeof from;
    memset(from, 'x', sizeof from);
    __asm__ volatile("copies_rep: rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
    sum += to[299];
}

static void interrupts(void)
{
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    pthread_t thread;
    sigaction(SIGUSR1, &act, NULL);
    if (pipe(wires) || pthread_create(&thread, NULL, reader, NULL))
        return;
    for (int i = 0; i < 5; i++) {
        const int before = interrupted;
        usleep(2000);
        pthread_kill(thread, SIGUSR1);
        while (interrupted == before)
            usleep(100);
        if (write(wires[1], "abcdq" + i, 1) != 1)
            return;
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    struct sigaction act = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &act, NULL);
    late = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 20; i++)
        sum += (long)scale(i * 1.5, (float)i / 4, i * 3.25L);
    look("a string", 1);
    look((const char *)16, 2);
    look(late + 4090, 3);
    touch(late, 7);
    memset(late, 'e', 4096);
    look(late + 4090, 4); /* as long as the page, without an end */
    copies();
    interrupts();
    printf("%d %d\n", interrupted, sum != 0);
    return 0;
}
