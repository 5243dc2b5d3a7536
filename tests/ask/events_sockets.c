/* events_sockets.c - descriptors of many kinds. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pass_descriptor(int to, int fd)
{
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec v = {"x", 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    sendmsg(to, &m, MSG_NOSIGNAL);
}

static void receive(int from)
{
    char control[64], text[4];
    struct iovec v = {text, sizeof text};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    recvmsg(from, &m, 0);
}

static void pairs(void)
{
    char text[100];
    int two[2], one = 1;
    socklen_t n = sizeof one;
    struct timeval soon = {0, 1000};
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, two);
    send(two[0], "a message that is longer than thirty-two bytes\1\0012\n", 50, MSG_NOSIGNAL);
    struct pollfd p[2] = {{two[1], POLLIN | POLLOUT, 0}, {two[0], POLLIN, 0}};
    poll(p, 2, 1000);
    recv(two[1], text, sizeof text, MSG_PEEK);
    read(two[1], text, sizeof text);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(two[1], &set);
    select(two[1] + 1, &set, NULL, NULL, &soon);
    struct iovec v[2] = {{"one", 3}, {"two", 3}};
    writev(two[0], v, 2);
    v[0] = (struct iovec){text, 4};
    v[1] = (struct iovec){text + 50, 20};
    readv(two[1], v, 2);
    pass_descriptor(two[0], 0);
    receive(two[1]);
    getsockopt(two[0], SOL_SOCKET, SO_TYPE, &one, &n);
    shutdown(two[0], SHUT_WR);
    poll(p + 1, 1, 0);
    close(two[0]);
    close(two[1]);
}

static void internet(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un u = {.sun_family = AF_UNIX, .sun_path = "no/such/socket"};
    struct sockaddr_storage s;
    socklen_t n = sizeof s;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    bind(fd, (struct sockaddr *)&a, sizeof a);
    listen(fd, 5);
    accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    fcntl(fd, F_GETFL);
    close(fd);
    fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    connect(fd, (struct sockaddr *)&u, sizeof u);
    getsockname(fd, (struct sockaddr *)&s, &n);
    close(fd);
}

static void others(void)
{
    struct itimerspec t = {.it_value = {0, 1000}};
    struct timespec little = {0, 1000};
    struct epoll_event e = {.events = EPOLLIN, .data.fd = 7};
    struct rlimit limit;
    struct utsname uts;
    sigset_t set;
    uint64_t n;
    int ep = epoll_create1(EPOLL_CLOEXEC), tm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    int ev = eventfd(3, EFD_NONBLOCK), two[2];
    timerfd_settime(tm, 0, &t, NULL);
    epoll_ctl(ep, EPOLL_CTL_ADD, ev, &e);
    epoll_wait(ep, &e, 1, 0);
    read(ev, &n, sizeof n);
    read(tm, &n, sizeof n);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    sigpending(&set);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &little, NULL);
    getrlimit(RLIMIT_NOFILE, &limit);
    uname(&uts);
    pipe2(two, O_CLOEXEC);
    dup2(two[0], 50);
    fcntl(50, F_SETFD, FD_CLOEXEC);
    void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    mremap(p, 8192, 16384, MREMAP_MAYMOVE);
    madvise(p, 4096, MADV_DONTNEED);
    open("new file\twith \"odd\" characters", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    unlink("new file\twith \"odd\" characters");
    close(-1);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    pairs();
    internet();
    others();
    return 0;
}
