/* segv_map.c - a SIGSEGV handler maps the page and returns: the access is done once, exactly. */
#include "subject.h"

static uint8_t *area;
static volatile int faults;

static void map_it(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)uc;
    faults++;
    uint8_t *page = (uint8_t *)((uintptr_t)si->si_addr & -PAGE);
    if (page < area || page >= area + 256 * PAGE)
        _exit(99);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

int main(void)
{
    area = map_anon(256 * PAGE, PROT_NONE);
    on_signal(SIGSEGV, map_it, 0);
    int sum = 0;
    for (int i = 0; i < 64; i++) {
        area[(unsigned long)i * PAGE + 5] += (uint8_t)(i + 1);
        sum += area[(unsigned long)i * PAGE + 5];
    }
    say("faults %d sum %d\n", faults, sum);
    uint64_t *cross = (uint64_t *)(area + 66 * PAGE - 4);
    *cross = 0x1122334455667788;
    check(faults == 66 && *cross == 0x1122334455667788);
    uint64_t *counter = (uint64_t *)(area + 70 * PAGE);
    __asm__ volatile("lock incq %0" : "+m"(*counter));
    __asm__ volatile("push $77; popq %0" : "=m"(counter[1]));
    check(faults == 67 && counter[0] == 1 && counter[1] == 77);
    memset(area + 80 * PAGE + 9, 3, 10 * PAGE);
    check(faults == 78 && area[90 * PAGE + 8] == 3 && area[90 * PAGE + 9] == 0);
    memcpy(area + 100 * PAGE + 100, area + 80 * PAGE + 9, 5 * PAGE);
    check(faults == 84 && area[105 * PAGE + 99] == 3 && area[105 * PAGE + 100] == 0);
    return 0;
}
