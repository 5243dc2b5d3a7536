/* proc_fds.c - /proc/self/fd shows the program's descriptors only, by readdir and by readlink. */
#include "rule.h"
#include <dirent.h>

int main(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int mine = dirfd(dir), extra = 0;
    check(mine == 3);
    for (struct dirent *e; (e = readdir(dir));) {
        char to[200] = "";
        if (e->d_name[0] == '.')
            continue;
        if (readlinkat(mine, e->d_name, to, sizeof to - 1) < 0)
            strcpy(to, "?");
        say("%s -> %s, inode %lu\n", e->d_name, atoi(e->d_name) < 3 ? "(given)" : to, e->d_ino);
        extra += atoi(e->d_name) > 3;
    }
    check(extra == 0);
    for (int fd = 4; fd < 2000; fd++)
        extra += fcntl(fd, F_GETFD) != -1;
    check(extra == 0);
    check(dup(0) == 4);
    return 0;
}
