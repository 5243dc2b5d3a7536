/* timestamp.c - rdtsc, rdtscp, rdpid: monotonic, plausible, and the same CPU number as getcpu. */
#include "subject.h"
#include <cpuid.h>
#include <sched.h>
#include <x86intrin.h>

int main(void)
{
    cpu_set_t one, all;
    unsigned a, b, c, d, aux = ~0U, cpu;
    sched_getaffinity(0, sizeof all, &all);
    for (cpu = 0; !CPU_ISSET(cpu, &all); cpu++)
        ;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    uint64_t last = __rdtsc(), first = last;
    int backwards = 0;
    for (int i = 0; i < 5000; i++) {
        uint64_t now = i % 2 ? __rdtscp(&aux) : __rdtsc();
        backwards += now < last;
        last = now;
    }
    say("backwards %d\n", backwards);
    check(last > first);
    sleep_ms(20);
    check(__rdtsc() - last > 1000000);
    check((aux & 0xfff) == cpu);
    __cpuid_count(7, 0, a, b, c, d);
    if (c & 1 << 22) {
        uint64_t pid;
        __asm__ volatile("rdpid %0" : "=r"(pid));
        check((pid & 0xfff) == cpu);
    }
    unsigned limit;
    __asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(0x7b) : "cc");
    check((limit & 0xfff) == cpu);
    return 0;
}
