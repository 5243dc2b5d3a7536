/* die.c - the program itself ends by the signal its argument names, and its parent sees that. */
#include "subject.h"
#include <setjmp.h>
#include <sys/resource.h>

static void again(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    say("in the handler\n");
    *(volatile int *)24 = 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    say("dying by %s\n", how);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "null"))
        *(volatile int *)0 = 1;
    if (!strcmp(how, "divide"))
        __asm__ volatile("xor %%ecx, %%ecx; div %%ecx" ::: "eax", "ecx", "edx");
    if (!strcmp(how, "ud2"))
        __asm__ volatile("ud2");
    if (!strcmp(how, "int3"))
        __asm__ volatile("int3");
    if (!strcmp(how, "pipe")) {
        int p[2];
        if (pipe(p) == 0 && close(p[0]) == 0)
            write(p[1], "x", 1);
    }
    if (!strcmp(how, "nested"))
        on_signal(SIGSEGV, again, 0), *(volatile int *)8 = 1;
    if (!strcmp(how, "blocked")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        on_signal(SIGSEGV, again, 0);
        *(volatile int *)8 = 1;
    }
    if (!strcmp(how, "ignored")) {
        signal(SIGSEGV, SIG_IGN);
        *(volatile int *)8 = 1;
    }
    if (!strcmp(how, "nostack")) {
        on_signal(SIGSEGV, again, 0);
        __asm__ volatile("xor %esp, %esp; push %rax");
    }
    kill(getpid(), atoi(how));
    pause();
    return 1;
}
