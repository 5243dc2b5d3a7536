/* other_numbers.c FD... - writes a line to each of these descriptors, which it inherited, to a copy
 * of the last, and to one that it receives through a socket. */
#include "rule.h"
#include <sys/socket.h>

static int through_socket(int fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec byte = {"x", 1};
    struct msghdr m = {.msg_iov = &byte,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    char c;
    int pair[2];
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) || sendmsg(pair[0], &m, 0) != 1)
        return -1;
    byte.iov_base = &c;
    m.msg_controllen = sizeof control;
    if (recvmsg(pair[1], &m, 0) != 1)
        return -1;
    memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    return fd;
}

int main(int argc, char **argv)
{
    int fd = 1;
    for (int i = 1; i < argc; i++) {
        fd = atoi(argv[i]);
        dprintf(fd, "to %d\n", i);
    }
    dprintf(dup(fd), "to a copy\n");
    dprintf(fcntl(fd, F_DUPFD_CLOEXEC, 20), "to another\n");
    dprintf(through_socket(fd), "through a socket\n");
    int nowhere = through_socket(open("/dev/null", O_WRONLY));
    dprintf(nowhere, "not to be seen\n");
    return 0;
}
