/* close_range.c - a program that closes all descriptors it does not know: the recording goes on,
 * and the numbers that follow are the program's own. */
#include "rule.h"

static void busy(const char *when)
{
    uint64_t seen = 0;
    for (int i = 0; i < 300; i++) {
        int fd = open("/dev/urandom", O_RDONLY);
        uint64_t x = 0;
        check(i > 0 || fd == 3);
        if (read(fd, &x, sizeof x) != (ssize_t)sizeof x)
            say("read FAIL\n");
        seen = seen * 31 + x + now_ns() + (uint64_t)fd;
        close(fd);
    }
    say("%s: %016lx\n", when, seen);
}

int main(void)
{
    busy("before");
    check(syscall(SYS_close_range, 3, ~0U, 0) == 0);
    busy("after close_range");
    closefrom(3);
    busy("after closefrom");
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
    busy("after a loop");
    check(dup2(1, 1000) == 1000 && close(1000) == 0);
    check(syscall(SYS_close_range, 3, ~0U, 4 /* CLOEXEC */) == 0);
    busy("after cloexec");
    return 0;
}
