/* map_fixed.c - MAP_FIXED over what was there, in pieces, with other rights and other files. */
#include "rule.h"
#include <setjmp.h>

static sigjmp_buf back;
static uintptr_t fault_at;

static void on_segv(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    fault_at = (uintptr_t)info->si_addr;
    siglongjmp(back, 1);
}

int main(void)
{
    uint8_t *p = map_anon(16 * PAGE, PROT_READ | PROT_WRITE);
    int fd = make_file("fixed", 8 * PAGE);
    fill(p, 16 * PAGE);
    on_signal(SIGSEGV, on_segv, 0);
    check(mmap(p + 3 * PAGE, 2 * PAGE, PROT_READ, MAP_FIXED | MAP_PRIVATE, fd, PAGE) ==
          p + 3 * PAGE);
    check(mmap(p + 4 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS,
               -1, 0) == p + 4 * PAGE);
    check(p[4 * PAGE] == 0);
    check(mmap(p + 10 * PAGE, PAGE, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
          p + 10 * PAGE);
    check(mmap(p, PAGE, PROT_READ, MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
              MAP_FAILED &&
          errno == EEXIST);
    if (sigsetjmp(back, 1) == 0)
        p[10 * PAGE + 5] = 1;
    check(fault_at == (uintptr_t)p + 10 * PAGE + 5);
    if (sigsetjmp(back, 1) == 0)
        *(volatile uint8_t *)(p + 3 * PAGE) = 1;
    check(fault_at == (uintptr_t)p + 3 * PAGE);
    munmap(p + 12 * PAGE, PAGE);
    uint8_t *hole = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("at %p, next at %p: %016lx %016lx\n", (void *)p, (void *)hole, digest(p, 10 * PAGE),
        digest(p + 11 * PAGE, PAGE));
    unlink("fixed");
    return 0;
}
