/* high_numbers.c - descriptors beyond the first thousand: of a mapped file, and of standard output.
 */
#include "rule.h"
#include <sys/resource.h>

int main(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 4000 ? limit.rlim_max : 4000;
    check(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    int low = make_file("file", 4 * PAGE);
    int fd = fcntl(low, F_DUPFD, (int)limit.rlim_cur - 10);
    say("%d\n", fd);
    close(low);
    uint8_t *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint8_t *q = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    char bytes[100];
    fill(bytes, sizeof bytes);
    check(pwrite(fd, bytes, sizeof bytes, 50) == sizeof bytes);
    say("%016lx %016lx\n", digest(p, 4 * PAGE), digest(q, 4 * PAGE));
    fill(p + PAGE, 50);
    say("%016lx %016lx\n", digest(p, 4 * PAGE), digest(q, 4 * PAGE));
    int out = dup2(1, (int)limit.rlim_cur - 5);
    dprintf(out, "to %d\n", out);
    close(out);
    out = dup2(open("/dev/null", O_WRONLY), out);
    dprintf(out, "not to be seen\n");
    return 0;
}
