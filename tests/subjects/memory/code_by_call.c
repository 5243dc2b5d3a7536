/* code_by_call.c - system calls write into pages of executed code: read, readv, recv, process_vm.
 */
#include "subject.h"
#include <sys/socket.h>
#include <sys/uio.h>

static uint8_t *p;
static int sv[2], value;

static void feed(void)
{
    uint8_t code[6];
    put_return(code, ++value);
    if (write(sv[1], code, 6) != 6)
        say("FAIL write\n");
}

#define TRY(what, call)                                                                            \
    do {                                                                                           \
        int wrong = 0;                                                                             \
        for (int i = 0; i < 20; i++) {                                                             \
            feed();                                                                                \
            wrong += (call) != 6;                                                                  \
            wrong += call_at(p) != value;                                                          \
        }                                                                                          \
        say("%s: wrong %d\n", what, wrong);                                                        \
    } while (0)

int main(void)
{
    p = map_code(2 * PAGE);
    put_return(p, -1);
    say("first %d\n", call_at(p));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
        return 1;
    struct iovec two[2] = {{p, 3}, {p + 3, 3}};
    struct msghdr mh = {.msg_iov = two, .msg_iovlen = 2};
    TRY("read", read(sv[0], p, 6));
    TRY("readv", readv(sv[0], two, 2));
    TRY("recv", recv(sv[0], p, 6, 0));
    TRY("recvmsg", recvmsg(sv[0], &mh, 0));
    uint8_t code[6];
    put_return(code, 777);
    struct iovec local = {code, 6}, remote = {p, 6};
    check(process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == 6);
    say("process_vm_writev %d\n", call_at(p));
    int mem = open("/proc/self/mem", O_RDWR);
    put_return(code, 778);
    check(pwrite(mem, code, 6, (off_t)(uintptr_t)p) == 6);
    say("/proc/self/mem %d\n", call_at(p));
    mprotect(p, PAGE, PROT_READ | PROT_EXEC);
    check(write(sv[1], code, 6) == 6);
    check(read(sv[0], p, 6) == -1 && errno == EFAULT);
    say("read-only stays %d\n", call_at(p));
    put_return(code, 779);
    check(pwrite(mem, code, 6, (off_t)(uintptr_t)p) == 6);
    say("/proc/self/mem into read-only %d\n", call_at(p));
    return 0;
}
