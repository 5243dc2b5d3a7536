/* sockets.c - a TCP server and client threads over loopback, UDP, unix sockets, options, mmsg. */
#include "subject.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_in addr = {.sin_family = AF_INET};

static void *client(void *arg)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    char buf[64] = "";
    if (connect(s, (struct sockaddr *)&addr, sizeof addr))
        return NULL;
    snprintf(buf, sizeof buf, "%ld", (long)arg);
    send(s, buf, 8, 0);
    long n = recv(s, buf, 8, MSG_WAITALL);
    close(s);
    return (void *)(n == 8 ? atol(buf) : -1);
}

int main(void)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    socklen_t len = sizeof addr;
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
    check(bind(s, (struct sockaddr *)&addr, sizeof addr) == 0 && listen(s, 16) == 0);
    check(getsockname(s, (struct sockaddr *)&addr, &len) == 0 && addr.sin_port != 0);
    pthread_t t[8];
    for (long i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, client, (void *)i);
    for (int i = 0; i < 8; i++) {
        char buf[64] = "";
        int c = accept4(s, NULL, NULL, 0);
        recv(c, buf, 8, MSG_WAITALL);
        snprintf(buf, 8, "%ld", atol(buf) * 11);
        send(c, buf, 8, MSG_NOSIGNAL);
        shutdown(c, SHUT_RDWR);
        close(c);
    }
    for (int i = 0; i < 8; i++) {
        void *r;
        pthread_join(t[i], &r);
        say("client %d: %ld\n", i, (long)r);
    }
    int u = socket(AF_INET, SOCK_DGRAM, 0), w = socket(AF_INET, SOCK_DGRAM, 0);
    addr.sin_port = 0;
    bind(u, (struct sockaddr *)&addr, sizeof addr);
    getsockname(u, (struct sockaddr *)&addr, &len);
    char a[10] = "", b[10] = "";
    check(sendto(w, "one", 3, 0, (struct sockaddr *)&addr, len) == 3);
    check(recvfrom(u, a, 10, 0, (struct sockaddr *)&addr, &len) == 3 && !strcmp(a, "one"));
    int sv[2];
    check(socketpair(AF_UNIX, SOCK_DGRAM, 0, sv) == 0);
    struct iovec io[2] = {{(void *)"aa", 2}, {(void *)"bbb", 3}};
    struct mmsghdr mm[2] = {{.msg_hdr = {.msg_iov = io, .msg_iovlen = 1}},
                            {.msg_hdr = {.msg_iov = io + 1, .msg_iovlen = 1}}};
    check(sendmmsg(sv[0], mm, 2, 0) == 2);
    struct iovec in[2] = {{a, 10}, {b, 10}};
    mm[0].msg_hdr.msg_iov = in;
    mm[1].msg_hdr.msg_iov = in + 1;
    check(recvmmsg(sv[1], mm, 2, 0, NULL) == 2 && mm[1].msg_len == 3 && !memcmp(b, "bbb", 3));
    struct ucred cred;
    len = sizeof cred;
    int us = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "sock"};
    check(bind(us, (struct sockaddr *)&un, sizeof un) == 0 && listen(us, 1) == 0);
    int uc = socket(AF_UNIX, SOCK_STREAM, 0);
    check(connect(uc, (struct sockaddr *)&un, sizeof un) == 0);
    check(getsockopt(uc, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 && cred.pid == getpid());
    struct timeval tv = {0, 10000};
    setsockopt(uc, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    check(recv(uc, a, 1, 0) == -1 && errno == EAGAIN);
    un.sun_path[0] = 'x';
    check(connect(us, (struct sockaddr *)&un, sizeof un) == -1);
    return 0;
}
