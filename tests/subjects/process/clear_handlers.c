/* clear_handlers.c - clone3 with CLONE_CLEAR_SIGHAND: the child has no handlers, what was ignored
 * still is, and the parent's are as they were; by a copy of memory and in the parent's own. */
#include "subject.h"
#include <linux/sched.h>

static volatile int handled;
static volatile struct {
    unsigned long handler[4];
} seen;

static void note(int sig)
{
    handled = sig;
}

/* Inlined, since the child may share this stack. */
static inline __attribute__((always_inline)) long clone3(struct clone_args *args)
{
    long r;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(SYS_clone3), "D"(args), "S"(sizeof *args)
                     : "rcx", "r11", "memory");
    return r;
}

static void look(void)
{
    static const int sig[] = {SIGUSR1, SIGUSR2, SIGPIPE, SIGSEGV};
    struct sigaction a;
    for (int i = 0; i < 4; i++) {
        sigaction(sig[i], NULL, &a);
        seen.handler[i] = a.sa_handler == SIG_DFL ? 0 : a.sa_handler == SIG_IGN ? 1 : 2;
    }
}

static void try(const char *what, unsigned long flags)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
    long pid = clone3(&args);
    if (pid == 0) {
        look();
        if (seen.handler[0] || seen.handler[1] || seen.handler[2] != 1 || seen.handler[3])
            _exit(1);
        raise(SIGPIPE);
        raise(SIGUSR1);
        _exit(2);
    }
    if (pid < 0) {
        say("%s: error %ld\n", what, -pid);
        return;
    }
    reap(what, (pid_t)pid);
    look();
    say("after it %lu %lu %lu %lu\n", seen.handler[0], seen.handler[1], seen.handler[2],
        seen.handler[3]);
    raise(SIGUSR2);
    check(handled == SIGUSR2);
    handled = 0;
}

int main(void)
{
    signal(SIGUSR1, note);
    signal(SIGUSR2, note);
    signal(SIGSEGV, note);
    signal(SIGPIPE, SIG_IGN);
    try("a copy", CLONE_CLEAR_SIGHAND);
    try("as vfork", CLONE_CLEAR_SIGHAND | CLONE_VM | CLONE_VFORK);
    try("with CLONE_SIGHAND", CLONE_CLEAR_SIGHAND | CLONE_VM | CLONE_SIGHAND);
    return 0;
}
