/* futex_shared.c - process-shared futexes go to the kernel: a child wakes its parent, a thread
 * another. */
#include "rule.h"
#include <linux/futex.h>

static uint32_t *word;

static void *waker(void *arg)
{
    sleep_ms(10);
    while (syscall(SYS_futex, word + 1, FUTEX_WAKE, 1, NULL, NULL, 0) == 0)
        sleep_ms(1);
    return arg;
}

int main(void)
{
    word = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        while (syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0)
            sleep_ms(1);
        _exit(6);
    }
    uint64_t before = now_ns();
    long r;
    do
        r = syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
    while (r == -1 && errno == EINTR);
    say("woken by process %d: %ld after %lu ns\n", child, r, now_ns() - before);
    reap("child", child);
    pthread_t t = start(waker, NULL);
    do
        r = syscall(SYS_futex, word + 1, FUTEX_WAIT, 0, NULL, NULL, 0);
    while (r == -1 && errno == EINTR);
    pthread_join(t, NULL);
    check(r == 0);
    return 0;
}
