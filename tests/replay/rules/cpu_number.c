/* cpu_number.c - the CPU's number by every way there is: lsl, rdtscp, rdpid, getcpu; and the tables
 * that sgdt, sidt, sldt, str and smsw show. Threads that sleep move between CPUs. */
#include "rule.h"
#include <cpuid.h>
#include <sched.h>

static int has_rdpid, has_rdtscp;

static uint64_t look(void)
{
    unsigned long limit = 0;
    uint64_t aux = 0, pid = 0, seen = 0xcbf29ce484222325;
    unsigned cpu, node;
    for (int i = 0; i < 200; i++) {
        __asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(0x7bUL) : "cc");
        if (has_rdtscp)
            __asm__ volatile("rdtscp" : "=c"(aux) : : "rax", "rdx");
        if (has_rdpid)
            __asm__ volatile(".byte 0xf3, 0x0f, 0xc7, 0xf8" : "=a"(pid)); /* rdpid %rax */
        getcpu(&cpu, &node);
        uint64_t all[] = {limit, aux, pid, cpu, node, (uint64_t)sched_getcpu()};
        seen = seen * 31 + digest(all, sizeof all);
        if (i % 50 == 0)
            sleep_ms(1);
    }
    say("lsl %lx rdtscp %lx rdpid %lx getcpu %u.%u all %016lx\n", limit, aux, pid, cpu, node, seen);
    return seen;
}

static void *thread(void *arg)
{
    *(uint64_t *)arg = look();
    return NULL;
}

int main(void)
{
    uint32_t a, b, c, d;
    __cpuid_count(7, 0, a, b, c, d);
    has_rdpid = c >> 22 & 1;
    __cpuid(0x80000001, a, b, c, d);
    has_rdtscp = d >> 27 & 1;
    uint64_t seen[3];
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        t[i] = start(thread, &seen[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    uint8_t gdt[10] = {0}, idt[10] = {0};
    uint64_t ldt = 0, tr = 0, msw = 0;
    __asm__ volatile("sgdt %0" : "=m"(gdt));
    __asm__ volatile("sidt %0" : "=m"(idt));
    __asm__ volatile("sldt %0" : "=r"(ldt));
    __asm__ volatile("str %0" : "=r"(tr));
    __asm__ volatile("smsw %0" : "=r"(msw));
    say("gdt %016lx idt %016lx ldt %lx tr %lx msw %lx threads %016lx\n", digest(gdt, 10),
        digest(idt, 10), ldt, tr, msw, digest(seen, sizeof seen));
    return 0;
}
