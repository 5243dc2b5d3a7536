/* private_first.c - a file is mapped privately, to be read or written. Only then it is written
 * through a shared mapping, and gets other sizes; pages that were not written show that, those that
 * were do not. The same once a call has written to it.
 */
#include "rule.h"
#include <setjmp.h>

static sigjmp_buf back;
static uint8_t *p, *q;

static void on_bus(int sig)
{
    siglongjmp(back, sig);
}

static int faults(const volatile uint8_t *at)
{
    int sig = sigsetjmp(back, 1);
    if (sig == 0)
        (void)*at;
    return sig == SIGBUS;
}

static void look(const char *what, size_t pages)
{
    say("%s: %016lx %016lx\n", what, digest(p, pages * PAGE), digest(q, pages * PAGE));
}

static void shorten(int fd)
{
    check(ftruncate(fd, 3 * PAGE + 100) == 0);
}

static void shorten_by_name(int fd)
{
    (void)fd;
    check(truncate("called", 3 * PAGE + 100) == 0);
}

static void map_shared(int fd)
{
    uint8_t *shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    fill(shared + 20, 10);
    munmap(shared, 4 * PAGE);
}

static void after_call(const char *what, void (*then)(int))
{
    uint8_t bytes[2 * PAGE];
    fill(bytes, sizeof bytes);
    close(make_file("called", 4 * PAGE));
    int fd = open("called", O_RDONLY);
    p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    q = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    p[1] ^= 1;
    fd = open("called", O_RDWR);
    check(pwrite(fd, bytes, sizeof bytes, PAGE / 2) == sizeof bytes);
    look("written by a call", 3);
    then(fd);
    look(what, 3);
    close(fd);
    munmap(p, 4 * PAGE);
    munmap(q, 4 * PAGE);
}

int main(void)
{
    signal(SIGBUS, on_bus);
    close(make_file("file", 4 * PAGE));
    int fd = open("file", O_RDONLY);
    p = mmap(NULL, 6 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    q = mmap(NULL, 6 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    p[PAGE + 1] ^= 1;
    p[3 * PAGE] ^= 1;
    look("private", 4);
    uint8_t *shared =
        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, open("file", O_RDWR), 0);
    fill(shared + 10, 100);
    fill(shared + PAGE + 10, 100);
    look("shared, and written", 4);
    check(faults(p + 4 * PAGE) && !faults(p + 3 * PAGE));
    close(make_file("other", 4 * PAGE));
    fd = open("other", O_RDONLY);
    p = mmap(NULL, 6 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    q = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    p[1] ^= 1;
    p[3 * PAGE] ^= 1;
    check(truncate("other", PAGE + 100) == 0);
    check(faults(p + 2 * PAGE) && faults(p + 3 * PAGE));
    look("shorter", 2);
    check(truncate("other", 6 * PAGE) == 0 && !faults(p + 5 * PAGE) && p[3 * PAGE] == 0);
    look("longer", 2);
    after_call("then shorter", shorten);
    after_call("then shorter, by name", shorten_by_name);
    after_call("then shared", map_shared);
    return 0;
}
