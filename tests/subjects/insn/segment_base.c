/* segment_base.c - rdfsbase, wrfsbase, rdgsbase, wrgsbase, arch_prctl; both bases are the
 * program's. */
#include "subject.h"
#include <asm/prctl.h>
#include <pthread.h>
#include <sys/auxv.h>

static uint64_t area[64];
static volatile uint64_t gs_in_thread, gs_loaded;

static void *thread(void *arg)
{
    uint64_t g;
    __asm__ volatile("rdgsbase %0" : "=r"(g));
    gs_in_thread = g;
    __asm__ volatile("wrgsbase %1\n\tmov %%gs:8, %0" : "=r"(g) : "r"(area + 10));
    gs_loaded = g;
    return arg;
}

static void handler(int sig, siginfo_t *si, void *uc)
{
    (void)si, (void)uc;
    uint64_t g;
    __asm__ volatile("mov %%gs:16, %0" : "=r"(g));
    say("signal %d sees gs:16 = %lx\n", sig, g);
}

int main(void)
{
    if (!(getauxval(AT_HWCAP2) & 2))
        skip("no fsgsbase");
    uint64_t fs, fs2, x, g;
    __asm__ volatile("rdfsbase %0" : "=r"(fs));
    syscall(SYS_arch_prctl, ARCH_GET_FS, &fs2);
    check(fs == fs2 && fs == (uintptr_t)pthread_self());
    area[3] = 0x3333;
    __asm__ volatile("wrfsbase %2\n\tmov %%fs:24, %0\n\trdfsbase %1\n\twrfsbase %3"
                     : "=&r"(x), "=&r"(fs2)
                     : "r"(area), "r"(fs)
                     : "memory");
    check(x == 0x3333 && fs2 == (uintptr_t)area);
    __asm__ volatile("rdgsbase %0" : "=r"(g));
    check(g == 0);
    area[2] = 0x2222;
    __asm__ volatile("wrgsbase %1\n\tmov %%gs:16, %0" : "=r"(x) : "r"(area));
    check(x == 0x2222);
    syscall(SYS_arch_prctl, ARCH_GET_GS, &g);
    check(g == (uintptr_t)area);
    area[11] = 0x1111;
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    check(gs_loaded == 0x1111);
    __asm__ volatile("mov %%gs:16, %0" : "=r"(x));
    check(x == 0x2222);
    on_signal(SIGUSR1, handler, 0);
    send_self(SIGUSR1);
    check(syscall(SYS_arch_prctl, ARCH_SET_GS, area + 1) == 0);
    __asm__ volatile("mov %%gs:8, %0\n\tincq %%gs:16" : "=r"(x)::"memory");
    check(x == 0x2222 && area[3] == 0x3334);
    pid_t pid = fork();
    if (pid == 0) {
        __asm__ volatile("mov %%gs:8, %0" : "=r"(x));
        _exit(x == 0x2222 ? 3 : 4);
    }
    reap("child", pid);
    check(syscall(SYS_arch_prctl, ARCH_SET_FS, 0xffff800000000000) == -1 && errno == EPERM);
    return 0;
}
