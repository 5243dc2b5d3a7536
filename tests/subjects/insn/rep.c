/* rep.c - REP string instructions: both directions, sizes, overlap, a fault inside and its resume.
 */
#include "subject.h"

static uint8_t *area;
static volatile int faults;
static volatile long rcx_seen[16], di_seen[16];

static void map_it(int sig, siginfo_t *si, void *uc)
{
    const greg_t *g = ((ucontext_t *)uc)->uc_mcontext.gregs;
    (void)sig;
    rcx_seen[faults & 15] = g[REG_RCX];
    di_seen[faults & 15] = g[REG_RDI] - (greg_t)area;
    faults++;
    mprotect((void *)((uintptr_t)si->si_addr & -PAGE), PAGE, PROT_READ | PROT_WRITE);
}

static unsigned hash(const uint8_t *p, size_t n)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 16777619u;
    return h;
}

#define REP(insn, di, si, n, ax, pre)                                                              \
    do {                                                                                           \
        uint8_t *to_ = (di), *to0_ = to_;                                                          \
        const uint8_t *from_ = (si), *from0_ = from_;                                              \
        long count_ = (n), ax_ = (ax);                                                             \
        unsigned char zero_;                                                                       \
        __asm__ volatile(pre "\n\t" insn "\n\tsetz %4\n\tcld"                                      \
                         : "+D"(to_), "+S"(from_), "+c"(count_), "+a"(ax_), "=r"(zero_)            \
                         :                                                                         \
                         : "memory", "cc");                                                        \
        say("%s: di %+ld si %+ld cx %ld z %d\n", pre " " insn, (long)(to_ - to0_),                 \
            (long)(from_ - from0_), count_, zero_);                                                \
    } while (0)

int main(void)
{
    static uint8_t a[300], b[300];
    for (int i = 0; i < 300; i++)
        a[i] = (uint8_t)(i * 3 % 251);
    REP("rep movsb", b, a, 100, 0, "cld");
    REP("rep movsw", b + 1, a, 50, 0, "cld");
    REP("rep movsl", b, a, 25, 0, "cld");
    REP("rep movsq", b, a, 12, 0, "cld");
    REP("rep movsb", b + 200, b + 199, 100, 0, "std");
    REP("rep movsb", b + 10, b + 9, 90, 0, "cld");
    REP("rep stosq", b, a, 10, 0x0102030405060708, "cld");
    REP("rep stosb", b + 150, a, 20, 0xee, "std");
    REP("repne scasb", a, a, 300, 30, "cld");
    REP("repe scasb", b + 80, a, 100, 0, "cld");
    REP("repe cmpsb", a, a, 300, 0, "cld");
    REP("repe cmpsb", b, a, 300, 0, "cld");
    REP("repne cmpsw", b, a, 100, 0, "cld");
    REP("rep movsb", b, a, 0, 0, "cld");
    REP("movsb", b, a, 7, 0, "std");
    REP("stosl", b, a, 7, 0x55, "cld");
    REP("rep lodsb", b, a, 20, 0, "cld");
    say("hash %x\n", hash(b, sizeof b));

    area = map_anon(16 * PAGE, PROT_NONE);
    on_signal(SIGSEGV, map_it, 0);
    REP("rep stosb", area + 100, a, 3 * PAGE, 0x11, "cld");
    say("faults %d\n", faults);
    for (int i = 1; i < faults; i++)
        say("cx %ld di %ld\n", rcx_seen[i], di_seen[i]);
    faults = 0;
    REP("rep movsq", area + 6 * PAGE, area + 2 * PAGE, 1024, 0, "cld");
    say("faults %d\n", faults);
    faults = 0;
    REP("rep stosb", area + 12 * PAGE - 1, a, 2 * PAGE, 0x22, "std");
    say("faults %d cx %ld %ld\n", faults, rcx_seen[0], rcx_seen[1]);
    faults = 0;
    REP("repne scasb", area + 12 * PAGE - 5, a, PAGE, 0x77, "cld");
    say("faults %d cx %ld\n", faults, rcx_seen[0]);
    return 0;
}
