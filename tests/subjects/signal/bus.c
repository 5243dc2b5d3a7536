/* bus.c - SIGBUS past the end of a mapped file: code, address, recovery by extending the file. */
#include "subject.h"

static volatile int fd, hits;
static uint8_t *map;

static void extend(int sig, siginfo_t *si, void *uc)
{
    (void)uc;
    say("signal %d code %d at offset %ld\n", sig, si->si_code,
        (long)((uint8_t *)si->si_addr - map));
    if (++hits > 3 || ftruncate(fd, (long)((uint8_t *)si->si_addr - map) + 1))
        _exit(1);
}

int main(void)
{
    fd = open("short", O_RDWR | O_CREAT, 0600);
    if (write(fd, "hello", 5) != 5)
        return 1;
    map = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
    on_signal(SIGBUS, extend, 0);
    check(map[0] == 'h' && map[100] == 0);
    map[PAGE + 10] = 'x';
    check(map[PAGE + 10] == 'x');
    map[5 * PAGE] = 'y';
    put_return(map + 2 * PAGE, 31);
    say("code in the file gives %d\n", call_at(map + 2 * PAGE));
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGBUS, SIG_DFL);
        ftruncate(fd, 10);
        call_at(map + 2 * PAGE);
        _exit(1);
    }
    reap("executing past the end", pid);
    return 0;
}
