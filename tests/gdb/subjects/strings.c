/* strings.c - string instructions that fault in the middle and are finished then.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

__attribute__((aligned(PAGE))) volatile char area[2 * PAGE];
volatile int faults;

static void on_segv(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    faults++;
    mprotect((void *)((unsigned long)info->si_addr & -(unsigned long)PAGE), PAGE,
             PROT_READ | PROT_WRITE);
}

static void guard(int page)
{
    mprotect((void *)(area + page * PAGE), PAGE, PROT_NONE);
}

int main(void)
{
    struct sigaction act = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    unsigned long n = 2 * PAGE;
    volatile char *at = area;
    sigaction(SIGSEGV, &act, NULL);
    guard(1);
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(7) : "memory"); /* UPWARDS */
    guard(0);
    at = area + 2 * PAGE - 8;
    n = 2 * PAGE / 8;
    __asm__ volatile("std; rep stosq; cld" : "+D"(at), "+c"(n) : "a"(0) : "memory"); /* DOWNWARDS */
    return faults != 2;
}
