/* outputs.c - what blocking calls write while another thread runs, and how they fail. */
#include "subject.h"
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int wake[2];
static struct pollfd shared[2];

static void *other(void *unused)
{
    char c;
    if (read(wake[0], &c, 1) != 1)
        abort();
    sleep_ms(20);
    shared[1].events = POLLPRI; /* the kernel must not undo this */
    for (volatile unsigned i = 0; i < 50000000; i++)
        ;
    return unused;
}

int main(void)
{
    int p[2], s[2], status, fd = -1;
    char text[40] = "untouched", more[40] = "untouched", control[CMSG_SPACE(sizeof(int))] = {0};
    void *volatile bad = (void *)8;
    volatile int minus = -1;
    pthread_t thread;
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, wake) == 0 && pipe(p) == 0);
    check(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
    check(pthread_create(&thread, NULL, other, NULL) == 0);

    shared[0] = (struct pollfd){wake[0], POLLPRI, 5};
    shared[1] = (struct pollfd){p[0], 0, 6};
    check(write(wake[1], "x", 1) == 1);
    check(poll(shared, 2, 300) == 0);
    say("poll %d %d %d\n", shared[0].revents, shared[1].revents, shared[1].events == POLLPRI);

    check(write(p[1], "0123456789", 10) == 10);
    struct iovec v[2] = {{text, 4}, {more, 30}};
    check(readv(p[0], v, 2) == 10);
    say("readv %.9s %.9s\n", text, more);

    fd_set set;
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    check(select(p[0] + 1, &set, NULL, NULL, &(struct timeval){0, 1000}) == 0);
    say("select %d\n", FD_ISSET(p[0], &set));

    struct iovec out = {"message", 7};
    struct msghdr m = {
        .msg_iov = &out, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &p[1], sizeof(int));
    check(sendmsg(s[1], &m, 0) == 7);
    memset(control, 0, sizeof control);
    m = (struct msghdr){
        .msg_iov = v, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof control};
    check(recvmsg(s[0], &m, 0) == 7);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    say("recvmsg %.7s %.6s %lu %d\n", text, more, m.msg_controllen, write(fd, "z", 1) == 1);

    /* errors, and what they leave behind */
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    check(read(p[0], bad, 1) == -1 && errno == EFAULT);
    check(poll(bad, 1, 0) == -1 && errno == EFAULT);
    check(recv(-1, page, 10, 0) == -1 && errno == EBADF);
    check(recvmsg(s[0], bad, MSG_DONTWAIT) == -1 && errno == EFAULT);
    check(readv(p[0], v, minus) == -1 && errno == EINVAL);
    check(read(p[0], page + 4090, 100) == 1 && page[4090] == 'z');
    check(recv(s[0], page, 100, MSG_DONTWAIT) == -1 && errno == EAGAIN && !page[0]);

    pid_t pid = fork();
    if (!pid)
        _exit(9);
    check(waitpid(pid, &status, 0) == pid);
    say("status %d\n", WEXITSTATUS(status));
    pthread_join(thread, NULL);
    return 0;
}
