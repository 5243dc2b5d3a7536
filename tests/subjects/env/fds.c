/* fds.c - /proc/self/fd holds the program's descriptors only, and new ones get the lowest number.
 */
#include "subject.h"
#include <dirent.h>

static void show(const char *title)
{
    DIR *d = opendir("/proc/self/fd");
    say("%s:", title);
    int seen[64] = {0};
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            seen[atoi(e->d_name) & 63]++;
    for (int i = 0; i < 64; i++)
        if (seen[i])
            say(" %d", i);
    say("\n");
    closedir(d);
}

static void try_all(void)
{
    int open_fds = 0;
    for (int fd = 0; fd < 20000; fd++)
        open_fds += fcntl(fd, F_GETFD) != -1;
    say("fcntl finds %d\n", open_fds);
}

int main(void)
{
    show("start");
    try_all();
    int a = open("/dev/null", O_RDWR), b = dup(a), c = fcntl(a, F_DUPFD, 40);
    say("new: %d %d %d\n", a, b, c);
    show("three more");
    close(a);
    int p[2];
    check(pipe(p) == 0 && p[0] == 3 && p[1] == 5);
    dup2(b, 50);
    show("after pipe and dup2");
    char buf[64];
    check(readlink("/proc/self/fd/50", buf, sizeof buf) == 9 && !memcmp(buf, "/dev/null", 9));
    check(readlink("/proc/self/fd/63", buf, sizeof buf) == -1 && errno == ENOENT);
    check(open("/proc/self/fd/63", O_RDONLY) == -1 && errno == ENOENT);
    check(close(60) == -1 && errno == EBADF);
    return 0;
}
