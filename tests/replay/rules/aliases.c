/* aliases.c - two shared mappings of one object, a file and a memfd: what one writes the other
 * reads, also after one was moved and a third came. */
#include "rule.h"

static void try(const char *what, int fd)
{
    uint64_t *a = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint64_t *b = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint64_t *late = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
    uint64_t sum = 0;
    int wrong = 0;
    for (size_t i = 0; i < 1024; i++) {
        uint64_t x;
        fill(&x, sizeof x);
        a[i] = x;
        wrong += b[i] != x;
        b[1023 - i] += 1;
        wrong += a[1023 - i] != b[1023 - i];
        sum = sum * 31 + a[i] + late[i % 512];
    }
    a = mremap(a, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, map_anon(2 * PAGE, PROT_NONE));
    a[700] = sum;
    wrong += b[700] != sum || late[700 - 512] != sum;
    check(pread(fd, &sum, 8, 700 * 8) == 8 && sum == b[700]);
    munmap(b, 2 * PAGE);
    late[3] = 99;
    wrong += a[515] != 99;
    check(wrong == 0);
    say("%s at %p %p: %016lx\n", what, (void *)a, (void *)late, digest(a, 2 * PAGE));
}

int main(void)
{
    int fd = memfd_create("alias", 0);
    check(ftruncate(fd, 2 * PAGE) == 0);
    try("memfd", fd);
    try("file", make_file("alias", 2 * PAGE));
    unlink("alias");
    return 0;
}
