/* kernel_async.c - what writes memory behind the program's back is not there: io_setup, io_uring
 * and userfaultfd answer ENOSYS. glibc's aio is threads, and works. */
#include "rule.h"
#include <aio.h>

int main(void)
{
    unsigned long context = 0;
    char params[256] = {0}, buffer[1000];
    check(syscall(SYS_io_setup, 8, &context) == -1 && errno == ENOSYS);
    check(syscall(SYS_io_uring_setup, 8, params) == -1 && errno == ENOSYS);
    check(syscall(SYS_userfaultfd, 0) == -1 && errno == ENOSYS);
    int fd = make_file("data", sizeof buffer);
    struct aiocb cb = {.aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = sizeof buffer};
    const struct aiocb *list[] = {&cb};
    check(aio_read(&cb) == 0);
    while (aio_error(&cb) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    check(aio_return(&cb) == (ssize_t)sizeof buffer);
    say("read %016lx\n", digest(buffer, sizeof buffer));
    return 0;
}
