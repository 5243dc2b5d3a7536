/* spawn_writes.c - files are mapped, shared to be read and privately; a program that was
 * spawned, and so has no memory in common with this one, writes to them by calls. */
#include "rule.h"
#include <spawn.h>

enum { BYTES = 2 * PAGE };
static const char name[] = "spawned.bin";

static int write_file(void)
{
    uint8_t data[BYTES];
    fill(data, BYTES);
    return pwrite(open(name, O_WRONLY), data, BYTES, 0) != BYTES;
}

static void spawn(void)
{
    char *argv[] = {(char *)"spawn_writes", (char *)"write", NULL};
    pid_t child;
    int status = -1;
    check(posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ) == 0);
    check(waitpid(child, &status, 0) == child && status == 0);
}

static void try(const char *how, int flags, int prot)
{
    int fd = open(name, O_RDONLY);
    uint8_t *p = mmap(NULL, BYTES, prot, flags, fd, 0);
    check(p != MAP_FAILED && close(fd) == 0);
    for (int i = 0; i < 3; i++) {
        if (prot & PROT_WRITE)
            p[PAGE + i]++; /* from now on it does not show the file there */
        say("%s: %016lx\n", how, digest(p, BYTES));
        spawn();
    }
    say("%s: %016lx\n", how, digest(p, BYTES));
    munmap(p, BYTES);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return write_file();
    close(make_file(name, BYTES));
    try("shared", MAP_SHARED, PROT_READ);
    try("private", MAP_PRIVATE, PROT_READ);
    try("private, and written", MAP_PRIVATE, PROT_READ | PROT_WRITE);
    return 0;
}
