/* shared_child.c - a child writes into memory that it shares with its parent: the bytes the parent
 * finds there are not its own. */
#include "rule.h"

int main(void)
{
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
