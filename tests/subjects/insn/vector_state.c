/* vector_state.c - ymm, x87, MXCSR and MMX state is kept across system calls, signals, switches,
 * fork. */
#include "subject.h"
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

static volatile int hits;

__attribute__((target("avx2"))) static void trash(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    hits++;
    __asm__ volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0\n\tvmovdqa %%ymm0, %%ymm7\n\t"
                     "vmovdqa %%ymm0, %%ymm15\n\tfninit\n\tfldz\n\tvzeroupper" ::
                         : "ymm0", "ymm7", "ymm15");
}

/* Loads a pattern, does something by a bare system call, and compares. */
#define ACROSS(what, nr, a1, a2, a3)                                                               \
    do {                                                                                           \
        __m256i in = _mm256_set_epi64x(4, 3, 2, 1), out7, out15;                                   \
        long ret;                                                                                  \
        unsigned cw = 0x1f80 | 0x6000, cw2;                                                        \
        uint16_t fcw = 0x27f, fcw2;                                                                \
        double pi;                                                                                 \
        register long r10 __asm__("r10") = 0;                                                      \
        __asm__ volatile("vmovdqu %7, %%ymm7\n\tvpaddq %%ymm7, %%ymm7, %%ymm15\n\t"                \
                         "ldmxcsr %8\n\tfninit\n\tfldcw %9\n\tfldpi\n\t"                           \
                         "mov %10, %%eax\n\tsyscall\n\t"                                           \
                         "vmovdqu %%ymm7, %1\n\tvmovdqu %%ymm15, %2\n\tstmxcsr %3\n\t"             \
                         "fnstcw %4\n\tfstpl %5\n\tfninit"                                         \
                         : "=&a"(ret), "=m"(out7), "=m"(out15), "=m"(cw2), "=m"(fcw2), "=m"(pi),   \
                           "+r"(r10)                                                               \
                         : "m"(in), "m"(cw), "m"(fcw), "i"(nr), "D"(a1), "S"(a2), "d"(a3)          \
                         : "rcx", "r11", "memory", "ymm7", "ymm15");                               \
        cw = 0x1f80;                                                                               \
        __asm__ volatile("ldmxcsr %0" : : "m"(cw));                                                \
        __m256i sum = _mm256_add_epi64(in, in);                                                    \
        int kept = !memcmp(&in, &out7, 32) && !memcmp(&sum, &out15, 32);                           \
        if (nr == SYS_fork && ret == 0)                                                            \
            _exit(kept &&cw2 == 0x7f80 && fcw2 == fcw && pi > 3 ? 5 : 6);                          \
        say("%s: ymm %s mxcsr %x fcw %x pi %.4f ret %s\n", what, kept ? "ok" : "FAIL", cw2, fcw2,  \
            pi, ret < 0 ? "error" : "good");                                                       \
    } while (0)

static void *busy(void *arg)
{
    double x = 1;
    while (hits >= 0)
        x = x * 1.0001 + 0.5;
    *(double *)arg = x;
    return NULL;
}

__attribute__((target("avx2"))) int main(void)
{
    if (!__builtin_cpu_supports("avx2"))
        skip("no AVX2");
    on_signal(SIGUSR1, trash, 0);
    long pid = getpid();
    struct timespec ts = {0, 5000000};
    ACROSS("getppid", SYS_getppid, 0L, 0L, 0L);
    ACROSS("kill", SYS_kill, pid, (long)SIGUSR1, 0L);
    ACROSS("nanosleep", SYS_nanosleep, &ts, 0L, 0L);
    double sink;
    pthread_t t;
    pthread_create(&t, NULL, busy, &sink);
    for (int i = 0; i < 3; i++) {
        ACROSS("sched_yield", SYS_sched_yield, 0L, 0L, 0L);
        ACROSS("nanosleep", SYS_nanosleep, &ts, 0L, 0L);
    }
    hits = -1;
    pthread_join(t, NULL);
    ACROSS("fork", SYS_fork, 0L, 0L, 0L);
    reap("child", -1);
    return 0;
}
