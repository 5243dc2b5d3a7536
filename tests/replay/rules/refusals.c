/* refusals.c - what a recording cannot see, and what kernels after Debian 12's have: the errno of a
 * kernel without it, and the program goes on. A bad descriptor comes first. */
#include "rule.h"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Behind them are numbers that no table has. */
static const char known[] = {
#define SYSCALL(nr, ...) [nr] = 1,
#include "../../../engine/os/syscalls.def"
#undef SYSCALL
};

static long result(long r)
{
    return r < 0 ? -errno : r;
}

int main(void)
{
    char area[4096] = {0};
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int file = make_file("file", 100), s = socket(AF_UNIX, SOCK_STREAM, 0);
    int path = open("file", O_PATH);
    enum { NOT_THERE = 0x6b06d001 };
    check(result(ioctl(-1, NOT_THERE, area)) == -EBADF);
    check(result(ioctl(path, NOT_THERE, area)) == -EBADF);
    check(result(ioctl(file, NOT_THERE, area)) == -ENOTTY);
    check(result(fcntl(999, 1099, 0)) == -EBADF);
    check(result(fcntl(file, 1099, 0)) == -EINVAL);
    /* SOL_XDP; SOL_PACKET, PACKET_RX_RING; SOL_RDS, RDS_GET_MR */
    check(result(setsockopt(-1, 283, 1, area, 4)) == -EBADF);
    check(result(setsockopt(file, 283, 1, area, 4)) == -ENOTSOCK);
    check(result(setsockopt(s, 263, 5, area, 16)) == -ENOPROTOOPT);
    check(result(setsockopt(s, 276, 2, area, 40)) == -ENOPROTOOPT);
    check(result(syscall(SYS_perf_event_open, area, 0, -1, -1, 0)) == -EACCES);
    check(result(prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, area)) == -EINVAL);
    check(result(madvise(page, PAGE, 102 /* MADV_GUARD_INSTALL */)) == -EINVAL);
    page[0] = 1;
    check(result(madvise(page, PAGE, 103 /* MADV_GUARD_REMOVE */)) == -EINVAL && page[0] == 1);
    check(mmap(NULL, PAGE, PROT_READ, 8 /* MAP_DROPPABLE */ | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
          errno == EINVAL);
    for (size_t nr = sizeof known; nr < sizeof known + 12; nr++)
        check(result(syscall(nr, -1, 0, 0, 0, 0, 0)) == -ENOSYS);
    say("process %d goes on\n", getpid());
    return 0;
}
