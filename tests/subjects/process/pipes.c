/* pipes.c - a chain of 5 processes passes 2 MB through pipes; socketpair passes a descriptor. */
#include "subject.h"
#include <sys/socket.h>

static void pass(int in, int out, int add)
{
    static unsigned char buf[10000];
    for (ssize_t n; (n = read(in, buf, sizeof buf)) > 0;) {
        for (ssize_t i = 0; i < n; i++)
            buf[i] = (unsigned char)(buf[i] + add);
        for (ssize_t done = 0; done < n;)
            done += write(out, buf + done, (size_t)(n - done));
    }
    _exit(0);
}

static int send_fd(int sock, int fd)
{
    char c = 'f', ctl[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec io = {&c, 1};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof ctl};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(h), &fd, sizeof fd);
    return sendmsg(sock, &m, 0) == 1;
}

static int receive_fd(int sock)
{
    char c, ctl[CMSG_SPACE(sizeof(int))];
    struct iovec io = {&c, 1};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof ctl};
    int fd = -1;
    if (recvmsg(sock, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

int main(void)
{
    int p[6][2];
    for (int i = 0; i < 6; i++)
        if (pipe(p[i]))
            return 1;
    for (int k = 0; k < 5; k++)
        if (fork() == 0) {
            for (int i = 0; i < 6; i++) {
                if (i != k)
                    close(p[i][0]);
                if (i != k + 1)
                    close(p[i][1]);
            }
            pass(p[k][0], p[k + 1][1], k + 1);
        }
    for (int i = 1; i < 6; i++)
        close(p[i][1]);
    pid_t feeder = fork();
    if (feeder == 0) {
        static unsigned char block[1 << 16];
        memset(block, 1, sizeof block);
        for (int i = 0; i < 32; i++)
            write(p[0][1], block, sizeof block);
        _exit(0);
    }
    close(p[0][1]);
    long sum = 0, total = 0;
    unsigned char buf[7000];
    for (ssize_t n; (n = read(p[5][0], buf, sizeof buf)) > 0; total += n)
        for (ssize_t i = 0; i < n; i++)
            sum += buf[i];
    while (wait(NULL) > 0)
        ;
    say("total %ld sum %ld\n", total, sum);
    int sv[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        int got = receive_fd(sv[1]);
        _exit(write(got, "through a passed descriptor\n", 28) == 28 ? 0 : 1);
    }
    int sent = send_fd(sv[0], 1);
    reap("receiver", pid);
    check(sent);
    return 0;
}
