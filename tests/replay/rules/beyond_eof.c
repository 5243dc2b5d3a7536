/* beyond_eof.c - SIGBUS behind the end of a mapped file, handled; after the file grew the page is
 * there. */
#include "rule.h"
#include <setjmp.h>

static sigjmp_buf back;
static siginfo_t seen;

static void on_bus(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    seen = *info;
    siglongjmp(back, 1);
}

static int faults(volatile uint8_t *at)
{
    seen.si_addr = NULL;
    if (sigsetjmp(back, 1) == 0)
        return (void)*at, 0;
    return seen.si_addr == (void *)at && seen.si_code == BUS_ADRERR;
}

int main(void)
{
    int fd = make_file("short", 1000);
    volatile uint8_t *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    on_signal(SIGBUS, on_bus, 0);
    check(faults(p + 2 * PAGE) && faults(p + PAGE) && !faults(p + 2000));
    check(p[2000] == 0);
    check(ftruncate(fd, 2 * PAGE) == 0 && !faults(p + PAGE) && faults(p + 2 * PAGE));
    p[PAGE + 1] = p[3];
    check(ftruncate(fd, 100) == 0 && faults(p + PAGE + 1) && !faults(p + 99) && p[200] == 0);
    check(ftruncate(fd, 3 * PAGE) == 0 && p[PAGE + 1] == 0);
    say("at %p: %016lx\n", (void *)p, digest((const void *)p, 3 * PAGE));
    unlink("short");
    return 0;
}
