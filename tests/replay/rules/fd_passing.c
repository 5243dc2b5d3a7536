/* fd_passing.c - recvmsg with control data: descriptors and credentials, several messages at once.
 */
#include "rule.h"
#include <sys/socket.h>
#include <sys/uio.h>

static void send_fd(int to, int fd, const char *text)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {(void *)text, strlen(text)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    check(sendmsg(to, &msg, 0) == (ssize_t)strlen(text));
}

static void receive(int from)
{
    char control[200], data[100];
    struct iovec iov = {data, sizeof data};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
    say("%zd bytes, flags %x, control %zu\n", n, (unsigned)msg.msg_flags,
        (size_t)msg.msg_controllen);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
        int fd;
        char text[32] = {0};
        struct ucred who;
        if (c->cmsg_type == SCM_RIGHTS) {
            memcpy(&fd, CMSG_DATA(c), sizeof fd);
            ssize_t got = pread(fd, text, sizeof text, 0);
            say("descriptor %d holds %zd bytes, %016lx\n", fd, got, digest(text, sizeof text));
        } else {
            memcpy(&who, CMSG_DATA(c), sizeof who);
            say("from process %d of user %d\n", who.pid, who.uid);
            check(who.pid == getpid());
        }
    }
}

int main(void)
{
    int s[2], on = 1, fd = make_file("passed", 32);
    check(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
    check(setsockopt(s[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0);
    send_fd(s[0], fd, "one");
    send_fd(s[0], fd, "two two");
    receive(s[1]);
    receive(s[1]);
    char data[4][50];
    struct iovec iov[4];
    struct mmsghdr many[4] = {0};
    for (int i = 0; i < 4; i++) {
        uint8_t noise[40];
        fill(noise, sizeof noise);
        check(send(s[0], noise, (size_t)(10 + i * 10), 0) == 10 + i * 10);
        iov[i] = (struct iovec){data[i], sizeof data[i]};
        many[i].msg_hdr.msg_iov = &iov[i];
        many[i].msg_hdr.msg_iovlen = 1;
    }
    check(recvmmsg(s[1], many, 4, 0, NULL) == 4);
    for (int i = 0; i < 4; i++)
        say("message %d: %u bytes %016lx\n", i, many[i].msg_len, digest(data[i], many[i].msg_len));
    unlink("passed");
    return 0;
}
