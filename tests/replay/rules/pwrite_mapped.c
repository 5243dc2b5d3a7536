/* pwrite_mapped.c - a file mapped read-only and privately changes under the program by pwrite,
 * write, ftruncate and copy_file_range. */
#include "rule.h"

static void show(const char *what, const uint8_t *shared, const uint8_t *private)
{
    say("%s: shared %016lx private %016lx\n", what, digest(shared, 2 * PAGE),
        digest(private, 2 * PAGE));
    check(memcmp(shared, private, 2 * PAGE) == 0);
}

int main(void)
{
    int fd = make_file("mapped", 2 * PAGE), other = make_file("other", 2 * PAGE);
    uint8_t data[3000];
    uint8_t *shared = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    uint8_t *private = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    show("at first", shared, private);
    fill(data, sizeof data);
    check(pwrite(fd, data, sizeof data, 3000) == (ssize_t)sizeof data);
    check(memcmp(shared + 3000, data, sizeof data) == 0);
    show("pwrite", shared, private);
    fill(data, sizeof data);
    check(lseek(fd, 10, SEEK_SET) == 10 && write(fd, data, 100) == 100);
    check(memcmp(shared + 10, data, 100) == 0);
    show("write", shared, private);
    int again = open("mapped", O_RDWR); /* another description of the same file */
    fill(data, sizeof data);
    check(pwrite(again, data, 500, 6000) == 500 && memcmp(shared + 6000, data, 500) == 0);
    show("by another descriptor", shared, private);
    off_t from = 100, to = 4000;
    if (copy_file_range(other, &from, fd, &to, 1000, 0) == 1000)
        show("copy_file_range", shared, private);
    check(ftruncate(fd, 1000) == 0 && ftruncate(fd, 2 * PAGE) == 0 && shared[1500] == 0);
    show("ftruncate", shared, private);
    unlink("mapped");
    unlink("other");
    return 0;
}
