/* kernel_state.c - what only the kernel knows of two threads: alternate stacks, masks that last for
 * a call, the gs register's base, where descriptors lead.
 */
#include "subject.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 12, ARCH_SET_GS_ = 0x1001, COPY = 9, STACK = 64 << 10 };

static char stack[2][STACK];
static volatile int hits, on_stack;

static void hit(int sig, siginfo_t *si, void *uc)
{
    char here;
    (void)sig, (void)si, (void)uc;
    on_stack += &here >= stack[1] && &here < stack[1] + STACK;
    hits++;
}

static void use_stack(int n)
{
    stack_t s = {.ss_sp = stack[n], .ss_size = STACK};
    sigaltstack(&s, NULL);
}

static void *waits(void *arg)
{
    sigset_t none;
    sigemptyset(&none);
    sigaddset(&none, SIGUSR2);
    use_stack(1);
    while (hits < ROUNDS)
        ppoll(NULL, 0, NULL, &none);
    return arg;
}

int main(void)
{
    pthread_t t;
    sigset_t set;
    uint64_t value[1] = {0x5eed};
    long sum = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* the thread takes it in ppoll() only */
    on_signal(SIGUSR1, hit, SA_ONSTACK);
    use_stack(0);
    check(syscall(SYS_arch_prctl, ARCH_SET_GS_, value) == 0);
    check(dup2(STDOUT_FILENO, COPY) == COPY);
    pthread_create(&t, NULL, waits, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t seen;
        for (int k = 0; k < 500; k++)
            sum += k * i;
        pthread_kill(t, SIGUSR1);
        while (hits <= i)
            sched_yield();
        __asm__ volatile("mov %%gs:0, %0" : "=r"(seen));
        dprintf(COPY, "round %d: %lx\n", i, seen);
    }
    pthread_join(t, NULL);
    say("on its stack %d times, sum %ld\n", on_stack, sum);
    return 0;
}
