/* directory.c - names, inodes and times of files: getdents, stat, statx, readlink, utimens, flock.
 */
#include "rule.h"
#include <dirent.h>
#include <sys/stat.h>
#include <sys/statfs.h>

int main(void)
{
    char text[300];
    struct stat st;
    struct statx sx;
    struct statfs fs;
    uint64_t order = 0;
    check(mkdir("d", 0700) == 0);
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "d/%d-%lu", i, now_ns());
        close(open(text, O_CREAT | O_WRONLY, 0600));
    }
    DIR *dir = opendir("d");
    for (struct dirent *e; (e = readdir(dir));) {
        order = order * 31 + e->d_ino + digest(e->d_name, strlen(e->d_name)) + (uint64_t)e->d_off;
        if (e->d_name[0] != '.')
            check(unlinkat(dirfd(dir), e->d_name, 0) == 0);
    }
    say("order %016lx\n", order);
    check(stat("d", &st) == 0 && statx(AT_FDCWD, "d", 0, STATX_ALL, &sx) == 0 &&
          statfs(".", &fs) == 0);
    say("inode %lu, changed %ld.%09ld, born %lld, free %lu\n", st.st_ino, st.st_ctim.tv_sec,
        st.st_ctim.tv_nsec, (long long)sx.stx_btime.tv_sec, fs.f_bfree);
    check(getcwd(text, sizeof text) != NULL);
    say("in %s\n", text);
    ssize_t n = readlink("/proc/self/exe", text, sizeof text);
    say("I am %.*s\n", (int)n, text);
    rmdir("d");
    return 0;
}
