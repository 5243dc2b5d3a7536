/* stack_growth.c - the stack grows when it is touched, as far as limits and neighbours of that time
 * allow: where it did, and where a touch was a fault. */
#include "rule.h"

#include <setjmp.h>
#include <sys/resource.h>

static sigjmp_buf back;
static char other[1 << 16];

static void caught(int sig, siginfo_t *info, void *context)
{
    (void)context;
    (void)info;
    siglongjmp(back, sig);
}

/* Touches page after page below the stack pointer, `bytes` deep; how far it came. */
static __attribute__((noinline)) size_t touch(size_t bytes)
{
    volatile size_t done = 0;
    char *volatile top = __builtin_frame_address(0);
    if (!sigsetjmp(back, 1))
        for (done = PAGE; done < bytes; done += PAGE)
            top[-(long)done] = 1;
    return done;
}

static void set_limit(size_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = bytes;
    check(setrlimit(RLIMIT_STACK, &limit) == 0);
}

/* Deep, with the kernel as the one who touches it first. */
static __attribute__((noinline)) void by_kernel(void)
{
    int fds[2];
    char *at = (char *)__builtin_frame_address(0) - (3 << 20);
    check(pipe(fds) == 0 && write(fds[1], "12345678", 8) == 8);
    check(read(fds[0], at, 8) == 8);
    say("read there: %.8s\n", at);
}

static void grows_down(void)
{
    char *at = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    munmap(at, 64 * PAGE);
    char *top = mmap(at + 63 * PAGE, PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
    check(top == at + 63 * PAGE);
    volatile int pages = 0;
    if (!sigsetjmp(back, 1))
        for (pages = 1; pages < 60; pages++)
            top[-pages * (long)PAGE] = 1;
    say("a mapping that grows: %d pages\n", pages);
}

int main(void)
{
    stack_t ss = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigaltstack(&ss, NULL);
    sigaction(SIGSEGV, &action, NULL);
    set_limit(1 << 20);
    say("limit 1 M: %zu K\n", touch(4 << 20) >> 10);
    set_limit(2 << 20);
    say("limit 2 M: %zu K\n", touch(4 << 20) >> 10);
    set_limit(8 << 20);
    by_kernel();
    char *guard = (char *)((uintptr_t)__builtin_frame_address(0) & ~4095ul) - (5 << 20);
    for (int prot = PROT_READ; prot >= PROT_NONE; prot--) {
        check(mmap(guard, PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == guard);
        say("guard %d: %zu K\n", prot, touch(6 << 20) >> 10);
        check(munmap(guard, PAGE) == 0);
    }
    say("without: %zu K\n", touch(6 << 20) >> 10);
    grows_down();
    return 0;
}
