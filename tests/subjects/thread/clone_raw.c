/* clone_raw.c - threads by the bare clone and clone3 calls, joined by CLONE_CHILD_CLEARTID's futex.
 */
#include "subject.h"
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>

static volatile int cleared, parent_tid, result;

static int body(void *arg)
{
    result = *(int *)arg * 2;
    return 5;
}

static void join(volatile int *tid)
{
    for (int now; (now = *tid) != 0;)
        syscall(SYS_futex, tid, FUTEX_WAIT, now, NULL, NULL, 0);
}

/* clone3 in assembly: the child starts on its own stack, runs fn(arg) and leaves. */
static long clone3_thread(struct clone_args *args, int (*fn)(void *), void *arg)
{
    long ret;
    register int (*r_fn)(void *) __asm__("r12") = fn;
    register void *r_arg __asm__("r13") = arg;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "mov %%eax, %%edi\n\t"
                     "mov $60, %%eax\n\t"
                     "syscall\n"
                     "1:"
                     : "=a"(ret)
                     : "0"(SYS_clone3), "D"(args), "S"(sizeof *args), "r"(r_fn), "r"(r_arg)
                     : "rcx", "r11", "memory");
    return ret;
}

int main(void)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    uint8_t *stack = map_anon(1 << 20, PROT_READ | PROT_WRITE);
    for (int i = 0; i < 200; i++) {
        int arg = i;
        cleared = -1;
        int tid = clone(body, stack + (1 << 20), flags, &arg, &parent_tid, NULL, &cleared);
        join(&cleared);
        if (tid <= 0 || parent_tid != tid || result != 2 * i)
            say("clone %d FAIL\n", i);
    }
    say("clone done\n");
    for (int i = 0; i < 200; i++) {
        int arg = i;
        struct clone_args a = {.flags = (unsigned)flags,
                               .child_tid = (uintptr_t)&cleared,
                               .parent_tid = (uintptr_t)&parent_tid,
                               .stack = (uintptr_t)stack,
                               .stack_size = 1 << 20};
        cleared = -1;
        long tid = clone3_thread(&a, body, &arg);
        join(&cleared);
        if (tid <= 0 || parent_tid != tid || result != 2 * i)
            say("clone3 %d FAIL\n", i);
    }
    say("clone3 done\n");
    struct clone_args bad = {.flags = CLONE_THREAD};
    check(syscall(SYS_clone3, &bad, sizeof bad) == -1 && errno == EINVAL);
    check(syscall(SYS_clone3, &bad, 8) == -1 && errno == EINVAL);
    check(syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0) == -1 && errno == EINVAL);
    return 0;
}
