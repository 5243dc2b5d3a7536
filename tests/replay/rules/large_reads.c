/* large_reads.c - reads far larger than any buffer a recorder may have, into memory and past
 * mappings. */
#include "rule.h"

int main(void)
{
    size_t bytes = 6 << 20;
    uint8_t *p = map_anon(bytes, PROT_READ | PROT_WRITE);
    int fd = open("/dev/urandom", O_RDONLY), fds[2];
    size_t have = 0;
    for (ssize_t n; have < bytes && (n = read(fd, p + have, bytes - have)) > 0;)
        have += (size_t)n;
    check(have == bytes);
    say("%016lx\n", digest(p, bytes));
    int file = open("large", O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(write(file, p, bytes) == (ssize_t)bytes);
    madvise(p, bytes, MADV_DONTNEED);
    check(pread(file, p, bytes, 0) == (ssize_t)bytes);
    say("%016lx\n", digest(p, bytes));
    /* The last page is not there: a short count, not a fault. */
    check(pipe(fds) == 0 && fcntl(fds[1], F_SETPIPE_SZ, 65536) > 0);
    munmap(p + PAGE, PAGE);
    ssize_t n = pread(file, p + 100, 2 * PAGE, 0);
    say("%zd bytes up to the hole, %016lx\n", n, digest(p, PAGE));
    check(n == (ssize_t)(PAGE - 100));
    check(pread(file, p + PAGE, 10, 0) == -1 && errno == EFAULT);
    unlink("large");
    return 0;
}
