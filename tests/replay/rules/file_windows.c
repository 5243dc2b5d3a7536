/* file_windows.c - parts of a file are mapped one after the other, privately and shared, while the
 * file changes outside of what is mapped: a small file, and one of which only what is mapped is
 * kept. */
#include "rule.h"

#define MEGA (1l << 20)

static void mark(int fd, long at)
{
    uint8_t bytes[300];
    fill(bytes, sizeof bytes);
    check(pwrite(fd, bytes, sizeof bytes, at) == sizeof bytes);
}

/* The first bytes of each megabyte. */
static void look(const char *what, const uint8_t *p, long megas)
{
    uint64_t sum = 0;
    for (long i = 0; i < megas; i++)
        sum = sum * 31 + digest(p + i * MEGA, 512);
    say("%s: %016lx\n", what, sum);
}

static uint8_t *map(int fd, int how, long from, long bytes)
{
    uint8_t *p =
        mmap(NULL, (size_t)bytes, PROT_READ | (how == MAP_SHARED ? PROT_WRITE : 0), how, fd, from);
    check(p != MAP_FAILED);
    return p;
}

static void windows(long megas)
{
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(ftruncate(fd, megas * MEGA) == 0);
    for (long i = 0; i < megas; i += 3)
        mark(fd, i * MEGA);
    uint8_t *first = map(fd, MAP_SHARED, 0, PAGE);
    mark(fd, 12 * MEGA);
    look("a page further on", map(fd, MAP_PRIVATE, 12 * MEGA, MEGA), 1);
    mark(fd, 10 * MEGA);
    uint8_t *middle = map(fd, MAP_SHARED, 2 * MEGA, 17 * MEGA); /* too large to be logged */
    look("the middle", middle, 17);
    middle[MEGA] ^= 1;
    mark(fd, MEGA);
    first = mremap(first, PAGE, (size_t)(18 * MEGA), MREMAP_MAYMOVE);
    check(first != MAP_FAILED);
    look("the first, grown", first, 18);
    mark(fd, 19 * MEGA);
    look("the end", map(fd, MAP_PRIVATE, 18 * MEGA, 2 * MEGA), 2);
    close(fd);
    unlink("file");
}

int main(void)
{
    windows(20);
    windows(66);
    return 0;
}
