/* shared_child.c - a child writes into memory that it shares with its parent: the bytes the parent
 * finds there are not its own. So it is where a part of the mapping cannot be read. */
#include "rule.h"

static void behind_guard(void)
{
    uint8_t *shared =
        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mprotect(shared + 2 * PAGE, 2 * PAGE, PROT_NONE);
    pid_t child = fork();
    if (child == 0) {
        mprotect(shared + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE);
        fill(shared + 100, 3 * PAGE - 100);
        _exit(0);
    }
    reap("child", child);
    say("before the guard %016lx\n", digest(shared, 2 * PAGE));
    mprotect(shared + 2 * PAGE, PAGE, PROT_READ);
    say("in its place %016lx\n", digest(shared, 3 * PAGE));
}

int main(void)
{
    behind_guard();
    uint8_t *shared =
        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fill(shared, PAGE);
    say("before %016lx\n", digest(shared, 4 * PAGE));
    pid_t child = fork();
    if (child == 0) {
        fill(shared + PAGE + 100, 2 * PAGE);
        shared[0]++;
        _exit(0);
    }
    reap("child", child);
    say("after %016lx\n", digest(shared, 4 * PAGE));
    return 0;
}
