/* vsyscall.c - the old fixed page at the top: its three entry points answer as the kernel's do. */
#include "subject.h"
#include <sys/time.h>

int main(void)
{
    char line[300];
    int there = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, f))
        there |= strstr(line, "[vsyscall]") != NULL;
    fclose(f);
    if (!there)
        skip("no vsyscall page");
    int (*old_gettimeofday)(struct timeval *, void *) = (void *)0xffffffffff600000;
    time_t (*old_time)(time_t *) = (void *)0xffffffffff600400;
    long (*old_getcpu)(unsigned *, unsigned *, void *) = (void *)0xffffffffff600800;
    struct timeval tv = {0, 0};
    unsigned cpu = ~0U;
    check(old_gettimeofday(&tv, NULL) == 0 && tv.tv_sec - time(NULL) <= 1 &&
          tv.tv_sec > 1600000000);
    check(old_time(NULL) - time(NULL) <= 1);
    check(old_getcpu(&cpu, NULL, NULL) == 0 && cpu < 4096);
    return 0;
}
