/* shared_own.c - parent and child map the same file after the fork, each on its own; the file is
 * one on disk, one of shm_open, and a memfd that came over a socket. What the child writes, the
 * parent finds. */
#include "rule.h"
#include <sys/mman.h>
#include <sys/socket.h>

/* check() would print in the child, too, which is not recorded. */
static void must(int good)
{
    if (!good)
        _exit(9);
}

enum { BYTES = 3 * PAGE };

static int peer; /* a socket: turns, and a descriptor */

static void turn_over(void)
{
    must(write(peer, "x", 1) == 1);
}

static void turn_wait(void)
{
    char c;
    must(read(peer, &c, 1) == 1);
}

static uint8_t *map(int fd)
{
    uint8_t *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(p != MAP_FAILED);
    close(fd);
    return p;
}

static void send_fd(int fd)
{
    char c = 'f', room[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec v = {&c, 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    *CMSG_FIRSTHDR(&m) = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof fd);
    must(sendmsg(peer, &m, 0) == 1);
}

static int take_fd(void)
{
    int fd = -1;
    char c, room[CMSG_SPACE(sizeof fd)];
    struct iovec v = {&c, 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    must(recvmsg(peer, &m, 0) == 1 && CMSG_FIRSTHDR(&m));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

static void use(uint8_t *p[3], int first)
{
    for (int turn = 0; turn < 4; turn++) {
        if ((turn % 2 == 0) != first) {
            turn_wait();
            for (int i = 0; i < 3 && first; i++)
                say("turn %d, file %d: %016lx\n", turn, i, digest(p[i], BYTES));
        } else {
            for (int i = 0; i < 3; i++) {
                fill(p[i] + PAGE / 2 * (turn + 1), 100);
                p[i][turn]++;
            }
            turn_over();
        }
    }
}

int main(void)
{
    char name[64];
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    close(make_file("shared.bin", BYTES));
    snprintf(name, sizeof name, "/shared_own.%d", getpid());
    int shm = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    must(shm >= 0 && ftruncate(shm, BYTES) == 0);
    close(shm);
    pid_t child = fork();
    int first = child != 0;
    peer = ends[first ? 0 : 1];
    close(ends[first ? 1 : 0]);
    int memory = first ? take_fd() : memfd_create("own", 0);
    if (!first) {
        must(ftruncate(memory, BYTES) == 0);
        send_fd(memory);
    }
    uint8_t *p[3] = {map(open("shared.bin", O_RDWR)), map(shm_open(name, O_RDWR, 0)), map(memory)};
    use(p, first);
    if (!first)
        _exit(0);
    shm_unlink(name);
    reap("child", child);
    return 0;
}
