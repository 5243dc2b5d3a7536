/* mremap_grow.c - a mapping that grows, in place and by moving, shrinks, and is doubled. */
#include "rule.h"

int main(void)
{
    size_t pages = 4;
    uint8_t *p = map_anon(pages * PAGE, PROT_READ | PROT_WRITE);
    fill(p, pages * PAGE);
    uint64_t first = digest(p, 4 * PAGE);
    for (; pages <= 4096; pages *= 4) {
        uint8_t *q = mremap(p, pages * PAGE, pages * 4 * PAGE, MREMAP_MAYMOVE);
        check(q != MAP_FAILED && digest(q, 4 * PAGE) == first && q[pages * 4 * PAGE - 1] == 0);
        fill(q + pages * PAGE, 100);
        say("%zu pages: %p -> %p\n", pages, (void *)p, (void *)q);
        p = q;
    }
    say("%016lx\n", digest(p, pages * PAGE));
    p = mremap(p, pages * PAGE, PAGE, 0);
    say("%p %016lx\n", (void *)p, digest(p, PAGE));
    check(msync(p + PAGE, PAGE, MS_ASYNC) == -1 && errno == ENOMEM);
    uint8_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint8_t *twice = mremap(shared, 0, PAGE, MREMAP_MAYMOVE);
    fill(shared, PAGE);
    check(twice != MAP_FAILED && memcmp(shared, twice, PAGE) == 0);
    return 0;
}
