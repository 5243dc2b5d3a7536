/* pwrite_append.c - writes to a mapped file that go elsewhere than their offset says: to the end,
 * since the descriptor or the call appends, or to the descriptor's own position. */
#include "rule.h"
#include <sys/uio.h>

static const uint8_t *file;
static char bytes[100];

/* New bytes for the next write. */
static struct iovec *some(void)
{
    static struct iovec v = {bytes, 50};
    fill(bytes, sizeof bytes);
    return &v;
}

static void look(const char *what, ssize_t n)
{
    say("%s: %zd %016lx\n", what, n, digest(file, PAGE));
}

int main(void)
{
    int fd = make_file("file", 3000);
    file = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    int end = open("file", O_WRONLY | O_APPEND);
    look("at first", 0);
    some();
    look("pwrite", pwrite(end, bytes, 70, 10));
    look("pwritev", pwritev(end, some(), 1, 3));
    some();
    look("write", write(end, bytes, 33));
    lseek(fd, 2000, SEEK_SET);
    look("at the position", pwritev2(fd, some(), 1, -1, 0));
    check(lseek(fd, 0, SEEK_CUR) == 2050 && memcmp(file + 2000, bytes, 50) == 0);
    look("the call appends", pwritev2(fd, some(), 1, 5, RWF_APPEND));
    look("... the position does not count", pwritev2(fd, some(), 1, -1, RWF_APPEND));
    return 0;
}
