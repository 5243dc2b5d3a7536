/* sparse.c - mappings of files that are nearly all hole: a file of 100 GB, memory of a tebibyte,
 * and memory of 20 GiB that is mapped twice in small pieces, once to write code and once to run it.
 */
#include "rule.h"
#include <sys/mman.h>

static uint8_t *map(int fd, size_t bytes, size_t offset, int prot, int flags)
{
    uint8_t *p = mmap(NULL, bytes, prot, flags | MAP_NORESERVE, fd, (off_t)offset);
    check(p != MAP_FAILED);
    return p;
}

static void put(int fd, size_t offset)
{
    char data[PAGE];
    fill(data, sizeof data);
    check(pwrite(fd, data, sizeof data, (off_t)offset) == (ssize_t)sizeof data);
}

/* Data at the begin, far inside and at the end; then some more through the mapping. */
static void whole(int fd, size_t bytes, int flags)
{
    const size_t at[] = {0, bytes / 3 & ~(size_t)(PAGE - 1), bytes - PAGE};
    for (int i = 0; i < 3; i++)
        put(fd, at[i]);
    uint8_t *p = map(fd, bytes, 0, PROT_READ | PROT_WRITE, flags);
    uint8_t *again = map(fd, bytes, 0, PROT_READ, MAP_SHARED);
    fill(p + bytes / 2, 100);
    for (int i = 0; i < 3; i++) {
        fill(p + at[i] + 10, 10);
        say("%d: %016lx %016lx\n", i, digest(p + at[i], PAGE), digest(again + at[i], PAGE));
    }
    say("middle: %016lx %016lx\n", digest(p + bytes / 2, 100), digest(again + bytes / 2, 100));
    say("hole: %d\n", p[bytes / 5] + again[bytes / 5 * 2]);
    put(fd, at[1]);
    say("written: %016lx\n", digest(again + at[1], PAGE));
    munmap(p, bytes);
    munmap(again, bytes);
}

static void twice(int fd, size_t piece, size_t bytes)
{
    static const uint8_t code[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov eax, N; ret */
    for (size_t i = 0; i < 4; i++) {
        size_t offset = bytes / 4 * i;
        uint8_t *w = map(fd, piece, offset, PROT_READ | PROT_WRITE, MAP_SHARED);
        uint8_t *x = map(fd, piece, offset, PROT_READ | PROT_EXEC, MAP_SHARED);
        memcpy(w + 64 * i, code, sizeof code);
        fill(w + 64 * i + 1, 4);
        say("piece %zu: %d\n", i, ((int (*)(void))(uintptr_t)(x + 64 * i))());
        munmap(w, piece);
    }
}

int main(void)
{
    int file = open("holes", O_RDWR | O_CREAT | O_TRUNC, 0600);
    size_t bytes = 100ul << 30;
    while (bytes > 1ul << 30 && ftruncate(file, (off_t)bytes))
        bytes /= 2; /* what this file system takes */
    say("a file of %zu MiB\n", bytes >> 20);
    whole(file, bytes, MAP_SHARED);
    whole(file, bytes, MAP_PRIVATE);
    close(file);
    unlink("holes");
    int memory = memfd_create("huge", 0);
    check(ftruncate(memory, 1l << 40) == 0);
    whole(memory, 1ul << 40, MAP_SHARED);
    int doubled = memfd_create("doublemapper", MFD_CLOEXEC);
    check(ftruncate(doubled, 20l << 30) == 0);
    twice(doubled, 64 << 10, 20ul << 30);
    return 0;
}
