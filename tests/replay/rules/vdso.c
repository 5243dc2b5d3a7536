/* vdso.c - the vDSO's entry points, found in its symbol table and called through pointers, by
 * several threads. */
#include "rule.h"
#include <elf.h>
#include <sys/auxv.h>
#include <sys/time.h>

typedef int clock_fn(clockid_t, struct timespec *);
typedef int day_fn(struct timeval *, void *);
typedef time_t time_fn(time_t *);
typedef long cpu_fn(unsigned *, unsigned *, void *);

static void *find(const char *name)
{
    const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    const Elf64_Ehdr *eh = (const Elf64_Ehdr *)base;
    const Elf64_Phdr *ph = (const Elf64_Phdr *)(base + eh->e_phoff);
    const Elf64_Dyn *dyn = NULL;
    const Elf64_Sym *sym = NULL;
    const char *str = NULL;
    uint64_t bias = 0;
    for (int i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD)
            bias = (uint64_t)base + ph[i].p_offset - ph[i].p_vaddr;
        if (ph[i].p_type == PT_DYNAMIC)
            dyn = (const Elf64_Dyn *)(base + ph[i].p_offset);
    }
    for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
        if (dyn->d_tag == DT_SYMTAB)
            sym = (const Elf64_Sym *)(bias + dyn->d_un.d_ptr);
        if (dyn->d_tag == DT_STRTAB)
            str = (const char *)(bias + dyn->d_un.d_ptr);
    }
    for (int i = 1; sym && str && i < 32 && (const char *)&sym[i] < str; i++)
        if (!strcmp(str + sym[i].st_name, name))
            return (void *)(bias + sym[i].st_value);
    return NULL;
}

static void *thread(void *arg)
{
    clock_fn *clock = (clock_fn *)find("__vdso_clock_gettime");
    day_fn *day = (day_fn *)find("__vdso_gettimeofday");
    time_fn *seconds = (time_fn *)find("__vdso_time");
    cpu_fn *cpu = (cpu_fn *)find("__vdso_getcpu");
    uint64_t seen = 0, last = 0;
    int backwards = 0;
    for (int i = 0; i < 2000; i++) {
        struct timespec ts[2] = {{0, 0}, {0, 0}};
        struct timeval tv = {0, 0};
        unsigned where[2] = {0, 0};
        clock(CLOCK_MONOTONIC, &ts[0]);
        clock(CLOCK_REALTIME, &ts[1]);
        day(&tv, NULL);
        cpu(&where[0], &where[1], NULL);
        uint64_t t = (uint64_t)ts[0].tv_sec * 1000000000 + (uint64_t)ts[0].tv_nsec;
        backwards += t < last || t > now_ns();
        last = t;
        seen = seen * 31 + digest(ts, sizeof ts) + digest(&tv, sizeof tv) + where[0];
    }
    check(backwards == 0);
    say("at %p: %016lx, time %ld\n", (void *)clock, seen, (long)(seconds ? seconds(NULL) : 0));
    return arg;
}

int main(void)
{
    if (!getauxval(AT_SYSINFO_EHDR) || !find("__vdso_clock_gettime"))
        skip("no vDSO");
    pthread_t t = start(thread, NULL);
    pthread_join(t, NULL);
    thread(NULL);
    return 0;
}
