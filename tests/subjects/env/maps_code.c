/* maps_code.c - executed and rewritten code pages keep the protection the program gave them. */
#include "subject.h"

static void show(const char *title, const void *p)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long lo, hi;
    char line[400], perms[5];
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx %4s", &lo, &hi, perms) == 3 && (uintptr_t)p >= lo &&
            (uintptr_t)p < hi)
            say("%s: %s, %lu pages\n", title, perms, (hi - lo) / PAGE);
    fclose(f);
}

int main(void)
{
    uint8_t *p = mmap((void *)0x1234560000, 4 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    put_return(p + PAGE, 5);
    show("written", p);
    say("%d\n", call_at(p + PAGE));
    show("executed", p);
    put_return(p + PAGE, 6);
    say("%d\n", call_at(p + PAGE));
    show("rewritten", p);
    mprotect(p, 4 * PAGE, PROT_READ | PROT_EXEC);
    say("%d\n", call_at(p + PAGE));
    show("read and execute", p + PAGE);
    mprotect(p + PAGE, PAGE, PROT_READ);
    show("read only", p + PAGE);
    show("its neighbour", p + 2 * PAGE);
    return 0;
}
