/* code_by_call.c - system calls that write into code that has run: read, pread, recv, and the next
 * run sees the new bytes. */
#include "rule.h"
#include <sys/socket.h>

int main(void)
{
    uint8_t *code = map_code(PAGE), text[6];
    int pipe_fds[2], sockets[2];
    uint64_t sum = 0;
    int wrong = 0;
    check(pipe(pipe_fds) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    int file = open("code", O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 300; i++) {
        int value;
        ssize_t n = 0;
        fill(&value, sizeof value);
        put_return(text, value);
        if (i % 3 == 0 && write(pipe_fds[1], text, 6) == 6)
            n = read(pipe_fds[0], code, 6);
        else if (i % 3 == 1 && pwrite(file, text, 6, i) == 6)
            n = pread(file, code, 6, i);
        else if (i % 3 == 2 && send(sockets[0], text, 6, 0) == 6)
            n = recv(sockets[1], code, 6, 0);
        wrong += n != 6 || call_at(code) != value;
        sum = sum * 31 + (uint64_t)call_at(code);
    }
    check(wrong == 0);
    say("sum %016lx\n", sum);
    return 0;
}
