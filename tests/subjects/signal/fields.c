/* fields.c - siginfo fields of every kind of origin: kill, tgkill, sigqueue, timer, faults, child.
 */
#include "subject.h"
#include <pthread.h>
#include <setjmp.h>

static sigjmp_buf back;
static volatile siginfo_t info;
static volatile int sig_seen;

static void note(int sig, siginfo_t *si, void *uc)
{
    (void)uc;
    sig_seen = sig;
    info = *si;
}

static void note_and_jump(int sig, siginfo_t *si, void *uc)
{
    note(sig, si, uc);
    siglongjmp(back, 1);
}

#define FAULT(what, code)                                                                          \
    do {                                                                                           \
        if (sigsetjmp(back, 1) == 0) {                                                             \
            code;                                                                                  \
        }                                                                                          \
        say("%s: signal %d code %d errno %d\n", what, sig_seen, info.si_code, info.si_errno);      \
    } while (0)

int main(void)
{
    on_signal(SIGUSR1, note, 0);
    kill(getpid(), SIGUSR1);
    say("kill: code %d\n", info.si_code);
    check(info.si_pid == getpid() && info.si_uid == getuid());
    send_self(SIGUSR1);
    say("raise: code %d\n", info.si_code);
    check(info.si_pid == getpid());
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1234});
    say("sigqueue: code %d value %d\n", info.si_code, info.si_value.sival_int);
    check(info.si_pid == getpid());

    for (int s = SIGILL; s <= SIGSEGV; s++)
        if (s == SIGILL || s == SIGTRAP || s == SIGBUS || s == SIGFPE || s == SIGSEGV)
            on_signal(s, note_and_jump, 0);
    uint8_t *ro = map_anon(PAGE, PROT_READ);
    FAULT("unmapped", *(volatile char *)0x1234 = 1);
    check(info.si_addr == (void *)0x1234);
    FAULT("read only", ro[77] = 1);
    check(info.si_addr == ro + 77);
    FAULT("non-canonical", *(volatile char *)0x8123456789abcdefUL = 1);
    check(info.si_addr == NULL);
    FAULT("kernel half", *(volatile char *)0xffff888000000000UL = 1);
    FAULT("call 0", ((void (*volatile)(void))NULL)());
    check(info.si_addr == NULL);
    FAULT("execute data", call_at(ro));
    check(info.si_addr == ro);
    FAULT("divide", __asm__ volatile("xor %%ecx, %%ecx; div %%ecx" ::: "eax", "ecx", "edx"));
    FAULT("idiv overflow", __asm__ volatile("mov $-1, %%ecx; mov $1, %%edx; xor %%eax, %%eax; "
                                            "idiv %%ecx" ::
                                                : "eax", "ecx", "edx"));
    FAULT("ud2", __asm__ volatile("ud2"));
    FAULT("int3", __asm__ volatile("int3"));
    FAULT("hlt", __asm__ volatile("hlt"));
    check(info.si_addr == NULL);
    FAULT("cli", __asm__ volatile("cli"));
    FAULT("in", __asm__ volatile("in $0x60, %%al" ::: "eax"));
    FAULT("int 0x21", __asm__ volatile("int $0x21"));
    FAULT("mov cr3", __asm__ volatile("mov %%cr3, %%rax" ::: "rax"));
    FAULT("misaligned movaps", __asm__ volatile("movaps %%xmm0, 1(%%rsp)" ::: "memory"));
    FAULT("lgdt", __asm__ volatile("lgdt -16(%%rsp)" ::: "memory"));
    FAULT("rdmsr", __asm__ volatile("rdmsr" ::: "eax", "edx"));
    return 0;
}
