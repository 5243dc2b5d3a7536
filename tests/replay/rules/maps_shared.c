/* maps_shared.c BEFORE PARENT CHILD - who maps a file shared, and how: r to read it, w to write it,
 * too, - not at all; before a fork, and after it in the parent and in the child, which lives until
 * the parent has looked. */
#include "rule.h"

/* check() would print in the child, too, which is not recorded. */
static void must(int good)
{
    if (!good)
        _exit(9);
}

static void map(const char *how)
{
    if (*how == '-')
        return;
    int fd = open("data", *how == 'w' ? O_RDWR : O_RDONLY);
    void *p = mmap(NULL, PAGE, *how == 'w' ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    must(p != MAP_FAILED);
    close(fd);
}

int main(int argc, char **argv)
{
    int ready[2], go[2];
    char c;
    must(argc == 4 && pipe(ready) == 0 && pipe(go) == 0);
    close(make_file("data", PAGE));
    map(argv[1]);
    pid_t child = fork();
    if (child == 0) {
        map(argv[3]);
        must(write(ready[1], "x", 1) == 1 && read(go[0], &c, 1) == 1);
        _exit(0);
    }
    must(read(ready[0], &c, 1) == 1);
    map(argv[2]);
    for (int i = 0; i < 4; i++)
        usleep(100000);
    must(write(go[1], "x", 1) == 1);
    reap("child", child);
    return 0;
}
