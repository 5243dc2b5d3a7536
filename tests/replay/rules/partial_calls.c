/* partial_calls.c - memory calls that fail when they have done a part: the replay's memory is what
 * the recorded one was, neither more nor less. */
#include "rule.h"

#include <setjmp.h>
#include <sys/resource.h>

static sigjmp_buf back;

static void caught(int sig)
{
    siglongjmp(back, sig);
}

/* What may be done with each page: - nothing, . not mapped */
static void show(const char *what, char *at, int pages)
{
    volatile char text[64];
    unsigned char in_core;
    for (int i = 0; i < pages; i++) {
        char *page = at + i * PAGE;
        text[i] = mincore(page, PAGE, &in_core) ? '.' : '-';
        if (!sigsetjmp(back, 1)) {
            (void)*(volatile char *)page;
            text[i] = 'r';
            *(volatile char *)(page + 1) = 7;
            text[i] = 'w';
        }
    }
    text[pages] = 0;
    say("%s: %s", what, (char *)text);
    for (int i = 0; i < pages; i++)
        if (text[i] == 'r' || text[i] == 'w')
            say(" %d:%016lx", i, digest(at + i * PAGE, PAGE));
    say("\n");
}

static char *filled(int pages)
{
    char *at = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
    check(at != MAP_FAILED);
    fill(at, (size_t)pages * PAGE);
    return at;
}

static void advise(int advice, const char *name)
{
    char *at = filled(8);
    if (mlock(at + 3 * PAGE, PAGE)) {
        say("mlock: error %d\n", errno);
        return;
    }
    say("%s: %d\n", name, madvise(at, 8 * PAGE, advice));
    show(name, at, 8);
    munlock(at + 3 * PAGE, PAGE);
    munmap(at + PAGE, PAGE);
    fill(at, PAGE);
    fill(at + 2 * PAGE, 6 * PAGE);
    say("%s, hole: %d\n", name, madvise(at, 8 * PAGE, advice));
    show(name, at, 8);
}

/* A file cannot be freed: what lies before it is. */
static void free_file(void)
{
    int fd = make_file("free", PAGE);
    char *at = filled(4);
    check(mmap(at + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE, fd, 0) ==
          at + 2 * PAGE);
    at[2 * PAGE + 99] = 5;
    say("free: %d\n", madvise(at, 4 * PAGE, MADV_FREE));
    show("free, file", at, 4);
}

static void protect(void)
{
    int fd = make_file("read", 2 * PAGE);
    close(fd);
    fd = open("read", O_RDONLY);
    char *at = filled(6);
    check(mprotect(at, 6 * PAGE, PROT_READ) == 0);
    check(mmap(at + 2 * PAGE, PAGE, PROT_READ, MAP_FIXED | MAP_SHARED, fd, 0) == at + 2 * PAGE);
    say("mprotect: %d", mprotect(at, 6 * PAGE, PROT_READ | PROT_WRITE));
    say(" error %d\n", errno);
    show("mprotect", at, 6);
    check(munmap(at + 4 * PAGE, PAGE) == 0);
    say("mprotect, hole: %d\n", mprotect(at + 3 * PAGE, 3 * PAGE, PROT_NONE));
    show("mprotect, hole", at, 6);
}

/* A fixed place may have been cleared when it turns out that nothing can be put there. */
static void fixed(void)
{
    int fds[2];
    char *at = filled(6), *from = filled(6);
    check(pipe(fds) == 0);
    void *r = mmap(at + PAGE, 2 * PAGE, PROT_READ, MAP_FIXED | MAP_SHARED, fds[0], 0);
    say("mmap of a pipe: error %d\n", r == MAP_FAILED ? errno : 0);
    show("mmap", at, 6);
    munmap(from + 2 * PAGE, PAGE);
    r = mremap(from, 4 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at + 2 * PAGE);
    say("mremap, hole: error %d\n", r == MAP_FAILED ? errno : 0);
    show("from", from, 6);
    show("to", at, 6);
    struct rlimit limit, small;
    getrlimit(RLIMIT_AS, &limit);
    small = limit;
    small.rlim_cur = PAGE;
    char *big = filled(6);
    setrlimit(RLIMIT_AS, &small);
    r = mremap(big, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at);
    setrlimit(RLIMIT_AS, &limit);
    say("mremap, limit: error %d\n", r == MAP_FAILED ? errno : 0);
    show("from", big, 6);
    show("to", at, 6);
}

/* It tells of the pages before the hole, and fails. */
static void in_core(void)
{
    unsigned char vec[6];
    char *at = filled(6);
    memset(vec, 0xee, sizeof vec);
    munmap(at + 3 * PAGE, PAGE);
    say("mincore, hole: %d", mincore(at, 6 * PAGE, vec));
    for (size_t i = 0; i < sizeof vec; i++)
        say(" %02x", vec[i]);
    say("\n");
}

int main(void)
{
    signal(SIGSEGV, caught);
    signal(SIGBUS, caught);
    advise(MADV_DONTNEED, "dontneed");
    advise(MADV_FREE, "free");
    free_file();
    protect();
    fixed();
    in_core();
    return 0;
}
