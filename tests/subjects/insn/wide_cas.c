/* wide_cas.c - cmpxchg8b and cmpxchg16b: equal, not equal, flags, rbx as operand, misaligned fault.
 */
#include "subject.h"
#include <setjmp.h>

static sigjmp_buf env;

static void out(int sig, siginfo_t *si, void *uc)
{
    (void)si, (void)uc;
    siglongjmp(env, sig);
}

int main(void)
{
    static uint64_t m[4] __attribute__((aligned(16))) = {1, 2, 3, 4};
    uint64_t a = 1, d = 2, b = 10, c = 20;
    unsigned char z;
    __asm__ volatile("lock cmpxchg16b %2\n\tsetz %3"
                     : "+a"(a), "+d"(d), "+m"(m), "=r"(z)
                     : "b"(b), "c"(c)
                     : "cc");
    say("z %d memory %lu %lu\n", z, m[0], m[1]);
    __asm__ volatile("lock cmpxchg16b %2\n\tsetz %3"
                     : "+a"(a), "+d"(d), "+m"(m), "=r"(z)
                     : "b"(b), "c"(c)
                     : "cc");
    say("z %d registers %lu %lu\n", z, a, d);
    __asm__ volatile("cmpxchg8b %2\n\tsetz %3"
                     : "+a"(a), "+d"(d), "+m"(m[2]), "=r"(z)
                     : "b"(b), "c"(c)
                     : "cc");
    say("z %d registers %lu %lu\n", z, a, d);
    uint64_t *p = m;
    __asm__ volatile("mov %4, %%rbx\n\tlock cmpxchg16b (%%rbx)\n\tsetz %2"
                     : "+a"(a), "+d"(d), "=r"(z), "+m"(m)
                     : "r"(p), "c"(c)
                     : "rbx", "cc");
    say("z %d registers %lu %lu\n", z, a, d);
    on_signal(SIGSEGV, out, 0);
    int sig = sigsetjmp(env, 1);
    if (sig == 0)
        __asm__ volatile("lock cmpxchg16b 8(%0)"
                         :
                         : "r"(m), "a"(a), "d"(d), "b"(b), "c"(c)
                         : "memory", "cc");
    say("misaligned: signal %d\n", sig);
    return 0;
}
