/* frame.c - the signal frame's parts: saved mask, stack, fpstate header, segment and cr2 values. */
#include "subject.h"

static sigset_t mask_seen;
static volatile int saved_usr2, magic_good, cr2_good, sp_good, link_null, aligned, return_in_text;
static uintptr_t main_sp;
extern char __executable_start[], etext[];

static void look(int sig, siginfo_t *si, void *uc_)
{
    const ucontext_t *uc = uc_;
    const uint8_t *fp = (const uint8_t *)uc->uc_mcontext.fpregs;
    uint32_t magic1, size, magic2;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    pthread_sigmask(SIG_BLOCK, NULL, &mask_seen);
    saved_usr2 = sigismember(&uc->uc_sigmask, SIGUSR2);
    memcpy(&magic1, fp + 464, 4);
    memcpy(&size, fp + 468, 4);
    memcpy(&magic2, fp + size - 4, 4);
    magic_good = magic1 == 0x46505853 && size >= 576 + 4 && magic2 == 0x46505845;
    if (sig == SIGSEGV)
        cr2_good = uc->uc_mcontext.gregs[REG_CR2] == (greg_t)si->si_addr;
    sp_good = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP] <= main_sp && frame < main_sp;
    link_null = uc->uc_link == NULL;
    aligned = (uintptr_t)fp % 64 == 0 && (frame + 16) % 16 == 0;
    const char *ret = *(const char *const *)(frame + 8);
    return_in_text = ret >= __executable_start && ret < etext;
    if (sig == SIGSEGV)
        ((ucontext_t *)uc_)->uc_mcontext.gregs[REG_RIP] += 3;
}

int main(void)
{
    sigset_t s;
    main_sp = (uintptr_t)__builtin_frame_address(0);
    sigemptyset(&s);
    sigaddset(&s, SIGUSR2);
    sigprocmask(SIG_BLOCK, &s, NULL);
    on_signal(SIGUSR1, look, 0);
    on_signal(SIGSEGV, look, 0);
    send_self(SIGUSR1);
    check(sigismember(&mask_seen, SIGUSR1) && sigismember(&mask_seen, SIGUSR2));
    check(saved_usr2);
    check(magic_good);
    check(sp_good);
    check(link_null);
    check(aligned);
    check(return_in_text);
    __asm__ volatile(".byte 0x40, 0x88, 0x02" : : "d"(0x5550UL), "a"(1) : "memory");
    check(cr2_good);
    return 0;
}
