/* dumpable.c - after PR_SET_DUMPABLE 0 nobody may look into the process; its log still flows. */
#include "rule.h"
#include <sys/prctl.h>

static void *thread(void *arg)
{
    uint64_t seen = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t x;
        fill(&x, sizeof x);
        seen = seen * 31 + x + now_ns();
    }
    *(uint64_t *)arg = seen;
    return NULL;
}

int main(void)
{
    uint64_t a, b;
    thread(&a);
    check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
    check(prctl(PR_GET_DUMPABLE) == 0);
    pthread_t t = start(thread, &b);
    pthread_join(t, NULL);
    thread(&a);
    say("%016lx %016lx\n", a, b);
    return 12;
}
