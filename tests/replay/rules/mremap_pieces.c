/* mremap_pieces.c - mremap goes over mappings that are one to the kernel, though they were made one
 * by one, and over several at once where the kernel can: a replay makes the same of what it has. */
#include "rule.h"

static char *reserve(int pages)
{
    char *at = mmap(NULL, (size_t)pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(at != MAP_FAILED);
    return at;
}

static void map_page(char *at, int flags, int fd, off_t offset)
{
    check(mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | flags, fd, offset) == at);
}

static void show(const char *what, const char *at, int pages)
{
    say("%s %p: %016lx\n", what, at, digest(at, (size_t)pages * PAGE));
}

/* Time in which a debugger may copy the replaying process: in a copy the kernel makes one of fewer
 * mappings. */
static void wait_for_copies(void)
{
    for (volatile int i = 0; i < 30000; i++)
        ;
}

/* Neighbours in every order, touched before or after. */
static void neighbours(void)
{
    static const int order[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
    for (int i = 0; i < 8; i++) {
        char *at = reserve(4) + PAGE, *to = reserve(8);
        for (int k = 0; k < 3; k++) {
            char *page = at + order[i / 2][k] * PAGE;
            map_page(page, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (i & 1)
                fill(page, 64);
            if (k == 0)
                wait_for_copies();
        }
        fill(at + PAGE / 2, 2 * PAGE);
        void *moved = mremap(at, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
        say("neighbours %d: %s\n", i, moved == to ? "moved" : "apart");
        if (moved == to) {
            to[4 * PAGE] = 1;
            show("moved", to, 5);
        }
    }
}

/* What lies behind the end of a file goes along, and faults where it did. */
static void file_mappings(void)
{
    int fd = make_file("file", 2 * PAGE);
    for (int shared = 0; shared < 2; shared++) {
        int flags = shared ? MAP_SHARED : MAP_PRIVATE;
        char *at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
        at[5] = 1;
        at = mremap(at, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE, NULL);
        check(at != MAP_FAILED);
        show("file", at, 2);
        char *one = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
        one[9] = 2;
        one = mremap(one, PAGE, 2 * PAGE, MREMAP_MAYMOVE, NULL);
        show("grown", one, 2);
        check(mremap(one, 2 * PAGE, PAGE, 0, NULL) == one);
        show("smaller", one, 1);
    }
    int zero = open("/dev/zero", O_RDWR);
    char *two = reserve(3), *to = reserve(3);
    map_page(two, MAP_PRIVATE, zero, 0);
    map_page(two + PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fill(two, 2 * PAGE);
    if (mremap(two, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to)
        show("zero", to, 2);
    /* a second mapping of shared memory */
    char *shared = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *again = mremap(shared, 0, 2 * PAGE, MREMAP_MAYMOVE, NULL);
    fill(shared, 2 * PAGE);
    show("again", again, 2);
}

/* Mappings that are several to any kernel, with a hole: moved by newer ones only. */
static void several(void)
{
    char *at = reserve(5), *to = reserve(5);
    map_page(at, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    map_page(at + 2 * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fill(at, 64);
    fill(at + 2 * PAGE, 64);
    check(munmap(at + 3 * PAGE, PAGE) == 0);
    void *moved = mremap(at, 5 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    say("several: %s\n", moved == to ? "moved" : "refused");
    if (moved == to) {
        show("moved", to, 1);
        show("moved", to + 2 * PAGE, 1);
    } else {
        show("there", at, 1);
        show("there", at + 2 * PAGE, 1);
    }
}

int main(void)
{
    neighbours();
    file_mappings();
    several();
    return 0;
}
