/* side_killed.c - children that share the memory without vfork (CLONE_VM) end by signals, wherever
 * they are: the parent and its threads go on. */
#include "subject.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>

enum { STACK = 64 << 10 };

static volatile int started, stop;
static int word;

static int spin(void *arg)
{
    (void)arg;
    for (started = 1; started;)
        ;
    return 0;
}

static int wait_in_call(void *arg)
{
    (void)arg;
    for (started = 1; started;)
        pause();
    return 0;
}

static int wait_for_word(void *arg)
{
    (void)arg;
    for (started = 1; started;)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return 0;
}

/* In and out of the runtime all the time. */
static int call_often(void *arg)
{
    (void)arg;
    for (started = 1; started;) {
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0);
        sched_yield();
    }
    return 0;
}

static int fault(void *arg)
{
    started = 1;
    *(volatile int *)arg = 1;
    return 0;
}

static int abort_itself(void *arg)
{
    (void)arg;
    started = 1;
    syscall(SYS_kill, syscall(SYS_getpid), SIGABRT);
    return 0;
}

static int end_by_itself(void *arg)
{
    (void)arg;
    started = 1;
    return 3;
}

static void *take_turns(void *arg)
{
    while (!stop)
        sched_yield();
    return arg;
}

static int one_child(int (*fn)(void *), int sig)
{
    static char stack[STACK] __attribute__((aligned(16)));
    int status = 0;
    started = 0;
    pid_t pid = clone(fn, stack + STACK, CLONE_VM | SIGCHLD, NULL);
    while (!started)
        sched_yield();
    if (sig) {
        sleep_ms(1);
        kill(pid, sig);
    }
    if (waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 256 + WEXITSTATUS(status);
}

static void all_kinds(void)
{
    static const struct {
        const char *name;
        int (*fn)(void *);
        int sig, ends;
    } kind[] = {{"spins", spin, SIGKILL, SIGKILL},
                {"spins", spin, SIGTERM, SIGTERM},
                {"in a call", wait_in_call, SIGKILL, SIGKILL},
                {"in a call", wait_in_call, SIGHUP, SIGHUP},
                {"waits", wait_for_word, SIGKILL, SIGKILL},
                {"waits", wait_for_word, SIGUSR1, SIGUSR1},
                {"calls", call_often, SIGKILL, SIGKILL},
                {"faults", fault, 0, SIGSEGV},
                {"aborts", abort_itself, 0, SIGABRT},
                {"returns", end_by_itself, 0, 256 + 3}};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        int good = 0;
        for (int n = 0; n < 3; n++)
            good += one_child(kind[i].fn, kind[i].sig) == kind[i].ends;
        say("%s, %d: %s\n", kind[i].name, kind[i].sig, good == 3 ? "ok" : "FAIL");
    }
}

int main(void)
{
    pthread_t t;
    all_kinds();
    pthread_create(&t, NULL, take_turns, NULL);
    all_kinds();
    stop = 1;
    check(pthread_join(t, NULL) == 0);
    return 0;
}
