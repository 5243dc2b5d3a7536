/* code_two_maps.c - code written through one mapping and run through another; protections cycled.
 */
#include "subject.h"

int main(void)
{
    int m = memfd_create("jit", 0), wrong = 0;
    if (ftruncate(m, 4 * PAGE))
        return 1;
    uint8_t *w = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
    uint8_t *x = mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, m, 0);
    uint8_t *late = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, m, 0);
    for (int i = 0; i < 2000; i++) {
        put_return(w + 16 * (i % 300), i);
        wrong += call_at(x + 16 * (i % 300)) != i;
        if (i % 300 < 200)
            wrong += call_at(late + 16 * (i % 300)) != i;
    }
    say("two mappings, wrong %d\n", wrong);
    wrong = 0;
    for (int i = 0; i < 100; i++) {
        uint8_t code[6];
        put_return(code, i + 5);
        wrong += pwrite(m, code, 6, 8) != 6 || call_at(x + 8) != i + 5;
    }
    say("by pwrite, wrong %d\n", wrong);
    pid_t pid = fork();
    if (pid == 0) {
        put_return(w + 8, 4000);
        _exit(call_at(x + 8) != 4000);
    }
    reap("child rewrites", pid);
    say("parent now runs %d\n", call_at(x + 8));
    uint8_t *p = map_anon(PAGE, PROT_READ | PROT_WRITE);
    wrong = 0;
    for (int i = 0; i < 500; i++) {
        mprotect(p, PAGE, PROT_READ | PROT_WRITE);
        put_return(p + i % 64, i);
        mprotect(p, PAGE, PROT_READ | PROT_EXEC);
        wrong += call_at(p + i % 64) != i;
    }
    say("protection cycles, wrong %d\n", wrong);
    return 0;
}
