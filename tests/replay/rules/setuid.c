/* setuid.c - after the program gave up its rights, the log still flows, new threads too. */
#include "rule.h"
#include <grp.h>

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
    uint64_t a, b, c;
    if (getuid() != 0)
        skip("not root");
    thread(&a);
    check(setgroups(0, NULL) == 0);
    check(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    check(getuid() == 65534 && setuid(0) == -1);
    pthread_t t = start(thread, &b);
    pthread_join(t, NULL);
    uint8_t *p = map_anon(64 * PAGE, PROT_READ | PROT_WRITE);
    fill(p, 64 * PAGE);
    thread(&c);
    check(open("/etc/shadow", O_RDONLY) == -1 && errno == EACCES);
    say("%016lx %016lx %016lx %016lx\n", a, b, c, digest(p, 64 * PAGE));
    return 13;
}
