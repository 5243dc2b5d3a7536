/* code_remap.c - other code at the same address: MAP_FIXED over it, munmap, mremap, DONTNEED,
 * files. */
#include "subject.h"
#include <setjmp.h>

static sigjmp_buf env;

static void out(int sig, siginfo_t *si, void *uc)
{
    (void)uc;
    say("signal %d code %d\n", sig, si->si_code);
    siglongjmp(env, 1);
}

static void run(const char *what, uint8_t *p)
{
    say("%s: ", what);
    if (sigsetjmp(env, 1) == 0)
        say("%d\n", call_at(p));
}

int main(void)
{
    const int rwx = PROT_READ | PROT_WRITE | PROT_EXEC, anon = MAP_PRIVATE | MAP_ANONYMOUS;
    on_signal(SIGSEGV, out, 0);
    on_signal(SIGILL, out, 0);
    uint8_t *p = map_code(4 * PAGE), *q = map_code(4 * PAGE);
    put_return(p, 1);
    put_return(q, 2);
    run("first", p);
    mmap(p, PAGE, rwx, anon | MAP_FIXED, -1, 0);
    put_return(p, 3);
    run("MAP_FIXED over it", p);
    mremap(q, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p);
    run("mremap over it", p);
    run("the old place", q);
    munmap(p, PAGE);
    run("after munmap", p);
    mmap(p, PAGE, rwx, anon | MAP_FIXED, -1, 0);
    put_return(p, 4);
    run("mapped again", p);
    mprotect(p, PAGE, PROT_READ | PROT_WRITE);
    run("not executable", p);
    mprotect(p, PAGE, PROT_READ | PROT_EXEC);
    run("executable again", p);
    mprotect(p, PAGE, PROT_NONE);
    run("no access", p);
    mprotect(p, PAGE, rwx);
    madvise(p, PAGE, MADV_DONTNEED);
    p[0] = 0x0f;
    p[1] = 0x0b;
    run("dropped, ud2", p);
    for (int i = 0; i < 2; i++) {
        uint8_t code[PAGE] = {0};
        put_return(code, 50 + i);
        int fd = open(i ? "b" : "a", O_RDWR | O_CREAT, 0700);
        if (write(fd, code, sizeof code) != (ssize_t)sizeof code)
            return 1;
        mmap(p, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
        run("a file", p);
        close(fd);
    }
    int wrong = 0;
    for (int i = 0; i < 300; i++) {
        p = mmap(p, PAGE, rwx, anon | MAP_FIXED, -1, 0);
        put_return(p, i);
        wrong += call_at(p) != i;
        munmap(p, PAGE);
    }
    say("300 times, wrong %d\n", wrong);
    return 0;
}
