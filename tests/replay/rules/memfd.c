/* memfd.c - a memfd written by calls, read by a mapping, grown, sealed. */
#include "rule.h"

int main(void)
{
    int fd = memfd_create("rule", MFD_ALLOW_SEALING);
    uint8_t data[5000];
    fill(data, sizeof data);
    check(write(fd, data, sizeof data) == (ssize_t)sizeof data);
    uint8_t *map = mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    check(memcmp(map, data, sizeof data) == 0);
    check(ftruncate(fd, 4 * PAGE) == 0 && pwrite(fd, data, 100, 3 * PAGE + 7) == 100);
    say("%016lx\n", digest(map, 4 * PAGE));
    check(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0);
    check(ftruncate(fd, 5 * PAGE) == -1 && errno == EPERM);
    uint8_t *private = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    private[0] ^= 1;
    check(private[0] != map[0]);
    say("%016lx %016lx\n", digest(map, PAGE), digest(private, PAGE));
    return 0;
}
