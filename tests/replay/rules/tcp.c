/* tcp.c - a server and two clients over the loopback device: port numbers, addresses, short reads.
 */
#include "rule.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static struct sockaddr_in where;

static void *client(void *arg)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    uint8_t data[20000];
    fill(data, sizeof data);
    check(connect(fd, (struct sockaddr *)&where, sizeof where) == 0);
    for (size_t n = 0; n < sizeof data;) {
        ssize_t put = send(fd, data + n, sizeof data - n > 1700 ? 1700 : sizeof data - n, 0);
        n += put > 0 ? (size_t)put : 0;
    }
    close(fd);
    return arg;
}

int main(void)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t len = sizeof where;
    pthread_t t[2];
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    check(bind(fd, (struct sockaddr *)&where, sizeof where) == 0 && listen(fd, 5) == 0);
    check(getsockname(fd, (struct sockaddr *)&where, &len) == 0);
    say("port %d\n", ntohs(where.sin_port));
    for (int i = 0; i < 2; i++)
        t[i] = start(client, NULL);
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in from;
        struct tcp_info ti;
        socklen_t from_len = sizeof from, ti_len = sizeof ti;
        uint8_t buffer[3000];
        uint64_t sum = 0, reads = 0, bytes = 0;
        int c = accept4(fd, (struct sockaddr *)&from, &from_len, SOCK_CLOEXEC);
        for (ssize_t n; (n = recv(c, buffer, sizeof buffer, 0)) > 0; reads++, bytes += (uint64_t)n)
            sum = sum * 31 + digest(buffer, (size_t)n);
        check(bytes == 20000 && getsockopt(c, IPPROTO_TCP, TCP_INFO, &ti, &ti_len) == 0);
        say("from %s:%d: %lu reads, rtt %u, %016lx\n", inet_ntoa(from.sin_addr),
            ntohs(from.sin_port), reads, ti.tcpi_rtt, sum);
        close(c);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
