/* flags.c - SA_NODEFER, SA_RESETHAND, sa_mask, nested delivery, order of pending, old actions. */
#include "subject.h"

static int depth, deepest, log_n;
static char order[64];

static void nest(int sig, siginfo_t *si, void *uc)
{
    (void)si, (void)uc;
    order[log_n++] = (char)('a' + depth);
    depth++;
    if (depth > deepest)
        deepest = depth;
    if (depth < 4)
        send_self(sig);
    depth--;
    order[log_n++] = (char)('A' + depth);
}

static void run(const char *what, int sig)
{
    depth = deepest = log_n = 0;
    memset(order, 0, sizeof order);
    send_self(sig);
    say("%s: deepest %d order %s\n", what, deepest, order);
}

static void other(int sig, siginfo_t *si, void *uc)
{
    (void)si, (void)uc;
    order[log_n++] = sig == SIGUSR1 ? '1' : '2';
    if (sig == SIGUSR1)
        send_self(SIGUSR2);
    order[log_n++] = sig == SIGUSR1 ? '!' : '?';
}

static void simple(int sig)
{
    say("one argument handler %d\n", sig);
}

int main(void)
{
    struct sigaction sa = {.sa_flags = SA_SIGINFO}, old;
    on_signal(SIGUSR1, nest, SA_NODEFER);
    run("SA_NODEFER", SIGUSR1);
    on_signal(SIGUSR1, nest, SA_NODEFER | SA_RESETHAND);
    pid_t pid = fork();
    if (pid == 0) {
        send_self(SIGUSR1);
        _exit(1);
    }
    reap("second signal after SA_RESETHAND", pid);
    on_signal(SIGCHLD, nest, SA_RESETHAND);
    deepest = depth = log_n = 0;
    send_self(SIGCHLD);
    sigaction(SIGCHLD, NULL, &old);
    check(old.sa_handler == SIG_DFL);

    sa.sa_sigaction = other;
    sigaddset(&sa.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &sa, NULL);
    sigemptyset(&sa.sa_mask);
    sigaction(SIGUSR2, &sa, NULL);
    run("sa_mask holds the second back", SIGUSR1);
    sa.sa_mask = (sigset_t){0};
    sigaction(SIGUSR1, &sa, NULL);
    run("without sa_mask it nests", SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    check(old.sa_sigaction == other && (old.sa_flags & SA_SIGINFO));
    signal(SIGUSR1, simple);
    send_self(SIGUSR1);
    send_self(SIGUSR1);
    check(signal(SIGUSR1, SIG_IGN) == simple);
    send_self(SIGUSR1);
    check(sigaction(SIGKILL, &sa, NULL) == -1 && errno == EINVAL);
    check(sigaction(65, &sa, NULL) == -1 && errno == EINVAL);
    return 0;
}
