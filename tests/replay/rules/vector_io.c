/* vector_io.c - readv, writev, preadv, pwritev2, splice, sendfile: several buffers, short counts.
 */
#include "rule.h"
#include <sys/sendfile.h>
#include <sys/uio.h>

int main(void)
{
    uint8_t a[100], b[1], c[3000], d[5000];
    struct iovec three[] = {{a, sizeof a}, {b, sizeof b}, {c, sizeof c}};
    int fd = make_file("vectors", 2500), fds[2];
    memset(c, 0xaa, sizeof c);
    check(preadv(fd, three, 3, 0) == 2500);
    say("preadv %016lx %016lx %016lx\n", digest(a, 100), digest(b, 1), digest(c, sizeof c));
    check(pipe(fds) == 0 && writev(fds[1], three, 3) == 3101);
    memset(d, 0x55, sizeof d);
    struct iovec odd[] = {{d + 4000, 7}, {NULL, 0}, {d, 3500}};
    check(readv(fds[0], odd, 3) == 3101);
    say("readv %016lx\n", digest(d, sizeof d));
    check(pwritev2(fd, three, 2, 2400, 0) == 101);
    off_t at = 300;
    check(sendfile(fds[1], fd, &at, 1000) == 1000 && at == 1300);
    check(read(fds[0], d, sizeof d) == 1000);
    loff_t from = 17;
    say("splice %zd\n", splice(fd, &from, fds[1], NULL, 500, 0));
    check(read(fds[0], d + 1000, 4000) == 500);
    say("end %016lx\n", digest(d, sizeof d));
    unlink("vectors");
    return 0;
}
