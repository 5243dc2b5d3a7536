/* mremap_large.c - mappings of a file of more than 64 MiB that grow: of such a file only what is
 * mapped is kept. */
#include "rule.h"

enum { FILE_PAGES = 20000, SEEN = 40 };

static void mark(int fd, size_t page)
{
    uint8_t bytes[64];
    fill(bytes, sizeof bytes);
    check(pwrite(fd, bytes, sizeof bytes, (off_t)(page * PAGE)) == sizeof bytes);
}

static void look(const char *what, const uint8_t *p)
{
    say("%s: %p", what, (const void *)p);
    for (size_t page = 0; page < SEEN; page += 13)
        say(" %016lx", digest(p + page * PAGE, PAGE));
    say("\n");
}

static uint8_t *grow(uint8_t *p, size_t from, size_t to)
{
    uint8_t *q = mremap(p, from * PAGE, to * PAGE, MREMAP_MAYMOVE);
    check(q != MAP_FAILED);
    return q;
}

int main(void)
{
    int fd = open("large", O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0 && ftruncate(fd, (off_t)FILE_PAGES * PAGE) == 0);
    for (size_t page = 0; page < 4 * SEEN; page++)
        mark(fd, page);
    int reader = open("large", O_RDONLY);
    uint8_t *only_read = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, reader, 0);
    close(reader);
    only_read = grow(only_read, 1, SEEN);
    look("private", only_read);
    uint8_t *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, SEEN * PAGE);
    fill(own, 16);
    own = grow(own, 1, SEEN);
    look("private, of a file that may be written", own);
    uint8_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 2 * SEEN * PAGE);
    mark(fd, 2 * SEEN + 13);
    shared = grow(shared, 1, SEEN);
    look("shared", shared);
    check(madvise(own, SEEN * PAGE, MADV_DONTNEED) == 0);
    look("private, as the file is", own);
    unlink("large");
    only_read = grow(only_read, SEEN, SEEN + 1);
    say("of a file without a name: %016lx\n", digest(only_read + SEEN * PAGE, PAGE));
    return 0;
}
