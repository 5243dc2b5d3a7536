/* code_rights.c - a code generator that never has pages writable and executable at once: rights
 * change page by page, across the edges of what changed before, and code without the right does not
 * run. */
#include "subject.h"
#include <setjmp.h>

enum { PAGES = 6, ROUNDS = 50, RX = PROT_READ | PROT_EXEC, RW = PROT_READ | PROT_WRITE };
static uint8_t *code;
static sigjmp_buf back;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    siglongjmp(back, (uint8_t *)info->si_addr >= code ? 1 : 2);
}

static int called(int page)
{
    int how = sigsetjmp(back, 1);
    return how ? -how : call_at(code + (size_t)page * PAGE);
}

static void rights(int page, int pages, int prot)
{
    if (mprotect(code + (size_t)page * PAGE, (size_t)pages * PAGE, prot))
        say("mprotect FAIL\n");
}

static void rewrite(int page, int pages, int value)
{
    rights(page, pages, RW);
    for (int i = page; i < page + pages; i++)
        put_return(code + (size_t)i * PAGE, value + i);
    rights(page, pages, RX);
}

static void show(const char *when)
{
    say("%s:", when);
    for (int i = 0; i < PAGES; i++)
        say(" %d", called(i));
    say("\n");
}

int main(void)
{
    code = map_anon(PAGES * PAGE, RW);
    on_signal(SIGSEGV, on_fault, 0);
    show("not yet code");
    rewrite(0, PAGES, 100);
    show("all");
    for (int round = 0; round < ROUNDS; round++)
        for (int page = 0; page < PAGES; page++) {
            rewrite(page, page % 2 && page + 1 < PAGES ? 2 : 1, 1000 * round);
            if (called(page) != 1000 * round + page)
                say("round %d page %d FAIL\n", round, page);
        }
    show("page by page");
    rights(1, 2, PROT_NONE);
    rights(4, 1, RW);
    show("two without rights, one without this one");
    rights(0, PAGES, RX);
    show("all again");
    rights(2, 3, RW);
    rewrite(3, 3, 7);
    show("over an edge");
    munmap(code + 2 * PAGE, PAGE);
    show("a hole");
    if (mprotect(code, PAGES * PAGE, RW) == 0)
        say("mprotect over a hole FAIL\n");
    show("done up to the hole");
    return 0;
}
