/* clone_settls.c - CLONE_SETTLS gives the thread its FS base; arch_prctl reads and changes it. */
#include "subject.h"
#include <asm/prctl.h>
#include <linux/futex.h>
#include <sched.h>

static volatile int cleared = -1;
static uint64_t tcb[512];
static volatile uint64_t seen, seen_after, base;

static long raw2(long nr, long a, long b)
{
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
    return r;
}

/* Uses no libc: its TLS is not libc's. */
__attribute__((optimize("no-stack-protector"))) static int body(void *arg)
{
    uint64_t x, b;
    (void)arg;
    __asm__ volatile("mov %%fs:16, %0" : "=r"(x));
    seen = x;
    raw2(SYS_arch_prctl, ARCH_GET_FS, (long)&b);
    base = b;
    raw2(SYS_arch_prctl, ARCH_SET_FS, (long)(tcb + 64));
    __asm__ volatile("mov %%fs:16, %0" : "=r"(x));
    seen_after = x;
    raw2(SYS_exit, 0, 0);
    return 0;
}

int main(void)
{
    uint8_t *stack = map_anon(1 << 16, PROT_READ | PROT_WRITE);
    tcb[2] = 0x1111;
    tcb[66] = 0x2222;
    clone(body, stack + (1 << 16),
          CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
              CLONE_CHILD_CLEARTID,
          NULL, NULL, tcb, &cleared);
    for (int now; (now = cleared) != 0;)
        syscall(SYS_futex, &cleared, FUTEX_WAIT, now, NULL, NULL, 0);
    check(seen == 0x1111);
    check(seen_after == 0x2222);
    check(base == (uintptr_t)tcb);
    return 0;
}
