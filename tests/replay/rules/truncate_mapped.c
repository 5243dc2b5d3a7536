/* truncate_mapped.c - a mapped file grows, shrinks and gets holes while it is mapped. */
#include "rule.h"

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
    return 0;
}
