/* maps_calls.c - mmap, munmap, mprotect, mremap, madvise, mincore with their edges and errors. */
#include "subject.h"
#include <setjmp.h>

static sigjmp_buf env;

static void out(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)uc;
    siglongjmp(env, si->si_code);
}

static int probe(volatile uint8_t *p, int write)
{
    int r = sigsetjmp(env, 1);
    if (r == 0) {
        if (write)
            *p = *p;
        else
            (void)*p;
    }
    return r;
}

int main(void)
{
    on_signal(SIGSEGV, out, 0);
    uint8_t *p = map_anon(16 * PAGE, PROT_READ | PROT_WRITE);
    memset(p, 1, 16 * PAGE);
    check(munmap(p + 4 * PAGE, 2 * PAGE) == 0);
    check(probe(p + 4 * PAGE, 0) == SEGV_MAPERR && probe(p + 6 * PAGE, 1) == 0);
    check(mprotect(p + 8 * PAGE, PAGE, PROT_READ) == 0);
    check(probe(p + 8 * PAGE, 0) == 0 && probe(p + 8 * PAGE, 1) == SEGV_ACCERR);
    check(mprotect(p + 8 * PAGE, PAGE, PROT_NONE) == 0 && probe(p + 8 * PAGE, 0) == SEGV_ACCERR);
    check(mprotect(p + 3 * PAGE, 2 * PAGE, PROT_READ) == -1 && errno == ENOMEM);
    uint8_t *q = mmap(p + 4 * PAGE, PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    check(q == p + 4 * PAGE && q[0] == 0);
    check(mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
              MAP_FAILED &&
          errno == EEXIST);
    check(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
          errno == EINVAL);
    check(mmap(p + 1, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
          MAP_FAILED);
    check((uintptr_t)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0) <
          1UL << 31);
    check(mmap((void *)0x200000000000, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
          (void *)0x200000000000);

    uint8_t *a = map_anon(2 * PAGE, PROT_READ | PROT_WRITE);
    memset(a, 9, 2 * PAGE);
    uint8_t *b = mremap(a, 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
    check(b != MAP_FAILED && b[2 * PAGE - 1] == 9 && b[64 * PAGE - 1] == 0);
    check(mremap(b, 64 * PAGE, PAGE, 0) == b && probe(b + PAGE, 0) == SEGV_MAPERR);
    uint8_t *to = map_anon(4 * PAGE, PROT_NONE);
    check(mremap(b, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to + PAGE) == to + PAGE);
    check(to[PAGE] == 9 && probe(b, 0) == SEGV_MAPERR && probe(to, 0) == SEGV_ACCERR);

    memset(p, 7, PAGE);
    check(madvise(p, PAGE, MADV_DONTNEED) == 0 && p[0] == 0);
    check(madvise(p + 1, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
    unsigned char vec[4];
    check(mincore(p, PAGE, vec) == 0 && (vec[0] & 1));
    check(mincore(p + 5 * PAGE, PAGE, vec) == -1 && errno == ENOMEM);
    check(mlock(p, PAGE) == 0 && munlock(p, PAGE) == 0);
    check(munmap(p + 1, PAGE) == -1 && errno == EINVAL);
    return 0;
}
