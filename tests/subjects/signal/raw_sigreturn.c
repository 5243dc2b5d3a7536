/* raw_sigreturn.c - a handler with the program's own restorer, and a frame copied and returned
 * from. */
#include "subject.h"

struct kernel_sigaction {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static volatile int ran;
__asm__(".text\nmy_restorer:\n\tlock incl restored_count(%rip)\n\tmov $15, %eax\n\tsyscall\n");
extern void my_restorer(void);
volatile int restored_count;

static void handler(int sig, siginfo_t *si, void *uc)
{
    (void)si, (void)uc;
    ran += sig;
}

/* Returns through a copy of its frame that lies elsewhere on the stack. */
static void move_frame(int sig, siginfo_t *si, void *uc)
{
    static uint8_t copy[16384] __attribute__((aligned(64)));
    uint8_t *from = (uint8_t *)uc;
    ran += sig;
    (void)si;
    memcpy(copy + 4096, from, sizeof(struct ucontext_t));
    __asm__ volatile("mov %0, %%rsp\n\tmov $15, %%eax\n\tsyscall" : : "r"(copy + 4096) : "memory");
}

static void install(int sig, void (*fn)(int, siginfo_t *, void *))
{
    struct kernel_sigaction sa = {fn, SA_SIGINFO | 0x04000000, my_restorer, 0};
    check(syscall(SYS_rt_sigaction, sig, &sa, NULL, 8) == 0);
}

int main(void)
{
    install(SIGUSR1, handler);
    for (int i = 0; i < 100; i++)
        send_self(SIGUSR1);
    check(restored_count == 100 && ran == 100 * SIGUSR1);
    install(SIGUSR2, move_frame);
    for (int i = 0; i < 100; i++)
        send_self(SIGUSR2);
    check(restored_count == 100 && ran == 100 * (SIGUSR1 + SIGUSR2));
    struct kernel_sigaction sa = {handler, 0, NULL, 0};
    check(syscall(SYS_rt_sigaction, SIGUSR1, &sa, NULL, 7) == -1 && errno == EINVAL);
    pid_t pid = fork();
    if (pid == 0) {
        __asm__ volatile("mov $64, %%esp\n\tmov $15, %%eax\n\tsyscall" ::: "memory", "rax");
        _exit(1);
    }
    reap("sigreturn from a bad stack", pid);
    return 0;
}
