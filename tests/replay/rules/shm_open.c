/* shm_open.c - POSIX shared memory, mapped twice, outliving its name. */
#include "rule.h"

int main(void)
{
    char name[40];
    snprintf(name, sizeof name, "/drdebug-rule-%d", getpid());
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    check(fd >= 0 && ftruncate(fd, 3 * PAGE) == 0);
    int again = shm_open(name, O_RDWR, 0);
    uint8_t *a = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint8_t *b = mmap(NULL, 3 * PAGE, PROT_READ, MAP_SHARED, again, 0);
    check(shm_unlink(name) == 0);
    fill(a + 1000, 2 * PAGE);
    check(memcmp(a, b, 3 * PAGE) == 0);
    check(pwrite(again, "xyz", 3, 5) == 3 && memcmp(a + 5, "xyz", 3) == 0);
    say("%s %016lx\n", name, digest(b, 3 * PAGE));
    return 0;
}
