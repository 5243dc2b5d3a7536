/* vfork_writes.c - a vfork child's writes are its parent's, until it execs or ends. */
#include "rule.h"

static volatile pid_t child_saw;
static volatile uint64_t stamp;
static uint8_t noise[64];

int main(void)
{
    for (volatile int i = 0; i < 3; i++) {
        pid_t child = vfork();
        if (child == 0) {
            child_saw = getpid();
            stamp = now_ns();
            fill(noise, sizeof noise);
            if (i == 2)
                execl("/bin/true", "true", (char *)NULL);
            _exit(10 + i);
        }
        check(child == child_saw);
        say("child %d at %lu left %016lx\n", child, stamp, digest(noise, sizeof noise));
        reap("child", child);
    }
    return 0;
}
