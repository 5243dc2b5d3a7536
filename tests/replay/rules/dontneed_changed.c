/* dontneed_changed.c - a private mapping of a file that is changed later: pages that are given up
 * show the file as it is then. */
#include "rule.h"

int main(void)
{
    close(make_file("file", 4 * PAGE));
    uint8_t *p =
        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, open("file", O_RDONLY), 0);
    int fd = open("file", O_RDWR);
    char bytes[200];
    p[PAGE] ^= 1;
    say("%016lx\n", digest(p, 4 * PAGE));
    fill(bytes, sizeof bytes);
    check(pwrite(fd, bytes, sizeof bytes, 100) == sizeof bytes);
    check(pwrite(fd, bytes, sizeof bytes, PAGE + 300) == sizeof bytes);
    say("%016lx\n", digest(p, 4 * PAGE));
    check(madvise(p, 4 * PAGE, MADV_DONTNEED) == 0);
    check(memcmp(p + 100, bytes, sizeof bytes) == 0 &&
          memcmp(p + PAGE + 300, bytes, sizeof bytes) == 0);
    say("%016lx\n", digest(p, 4 * PAGE));
    return 0;
}
