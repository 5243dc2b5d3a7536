/* truncate_mapped.c - a mapped file grows, shrinks and gets holes while it is mapped. */
#include "rule.h"

/* Stores behind the file's end: what is there afterwards is the kernel's and the file system's
 * business, here and in a replay. */
static void ends_in_a_page(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0 && ftruncate(fd, PAGE + 900) == 0);
    uint8_t *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint8_t *copy = mmap(NULL, 8 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    static const off_t sizes[] = {PAGE + 950, 2 * PAGE + 5, 2 * PAGE + 100, 4 * PAGE - 1};
    for (int i = 0; i < 12; i++) {
        off_t size = lseek(fd, 0, SEEK_END);
        memset(p + size, 'x', -size & (PAGE - 1));
        check(i % 3 == 0   ? ftruncate(fd, sizes[i / 3]) == 0
              : i % 3 == 1 ? msync(p, PAGE, MS_SYNC) == 0 && fsync(fd) == 0
                           : pwrite(fd, "abc", 3, size + i % 2 * 20) == 3);
        size = (lseek(fd, 0, SEEK_END) + PAGE - 1) & -PAGE;
        say("%s %d: %016lx %016lx\n", path, i, digest(p, size), digest(copy, size));
    }
    unlink(path);
}

int main(void)
{
    int fd = make_file("holes", 4 * PAGE);
    uint8_t *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(ftruncate(fd, 8 * PAGE) == 0);
    fill(p + 5 * PAGE, 100);
    say("grown %016lx\n", digest(p, 8 * PAGE));
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, PAGE) == 0)
        check(p[PAGE + 7] == 0);
    say("holed %016lx\n", digest(p, 8 * PAGE));
    check(truncate("holes", 1234) == 0 && truncate("holes", (off_t)(8 * PAGE)) == 0);
    say("cut %016lx\n", digest(p, 8 * PAGE));
    int again = open("holes", O_RDWR | O_TRUNC);
    check(again >= 0 && ftruncate(again, (off_t)(8 * PAGE)) == 0 && p[0] == 0);
    p[9] = 1;
    say("emptied %016lx\n", digest(p, 8 * PAGE));
    unlink("holes");
    ends_in_a_page("tail");
    ends_in_a_page("/dev/shm/drdebug-truncate-mapped");
    return 0;
}
