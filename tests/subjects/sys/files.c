/* files.c - file calls: open, stat, vectors, seek, rename, links, directories, locks, copy,
 * xattr-free. */
#include "subject.h"
#include <dirent.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(void)
{
    char buf[100] = "", b2[10] = "";
    struct stat st;
    struct statx sx;
    struct iovec v[2] = {{(void *)"hello ", 6}, {(void *)"world\n", 6}}, r[2] = {{buf, 4}, {b2, 5}};
    int fd = open("file", O_RDWR | O_CREAT | O_EXCL, 0640);
    check(open("file", O_CREAT | O_EXCL | O_RDWR, 0600) == -1 && errno == EEXIST);
    check(writev(fd, v, 2) == 12 && pwritev(fd, v, 1, 12) == 6);
    check(lseek(fd, 2, SEEK_SET) == 2 && readv(fd, r, 2) == 9 && !strcmp(buf, "llo "));
    check(preadv(fd, r, 1, 6) == 4 && !strcmp(buf, "worl"));
    check(fstat(fd, &st) == 0 && st.st_size == 18 && (st.st_mode & 0777) == 0640);
    check(statx(AT_FDCWD, "file", 0, STATX_ALL, &sx) == 0 && sx.stx_size == 18);
    check(stat("missing", &st) == -1 && errno == ENOENT);
    check(mkdir("dir", 0700) == 0 && mkdirat(AT_FDCWD, "dir/sub", 0700) == 0);
    check(symlink("file", "dir/link") == 0 && link("file", "dir/hard") == 0);
    check(readlink("dir/link", buf, 50) == 4 && !memcmp(buf, "file", 4));
    check(rename("dir/hard", "dir/renamed") == 0 && access("dir/renamed", R_OK) == 0);
    check(syscall(SYS_renameat2, AT_FDCWD, "dir/renamed", AT_FDCWD, "dir/link", 1) == -1);
    struct dirent **names;
    int n = scandir("dir", &names, NULL, by_name);
    for (int i = 0; i < n; i++)
        say("entry %s\n", names[i]->d_name);
    check(chdir("dir") == 0 && getcwd(buf, sizeof buf) && strstr(buf, "/dir"));
    check(chdir("..") == 0 && fchmod(fd, 0600) == 0 && utimensat(AT_FDCWD, "file", NULL, 0) == 0);
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
    check(fcntl(fd, F_SETLK, &l) == 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(fcntl(fd, F_SETLK, &l) == -1 && (errno == EAGAIN || errno == EACCES) ? 0 : 1);
    reap("lock seen by child", pid);
    check(flock(fd, LOCK_EX | LOCK_NB) == 0);
    int to = open("copy", O_RDWR | O_CREAT, 0600);
    off_t off = 0;
    check(sendfile(to, fd, &off, 6) == 6 && off == 6);
    check(copy_file_range(fd, &off, to, NULL, 6, 0) == 6);
    int p[2];
    check(pipe2(p, O_CLOEXEC | O_NONBLOCK) == 0 && read(p[0], buf, 1) == -1 && errno == EAGAIN);
    off = 0;
    check(splice(fd, &off, p[1], NULL, 5, 0) == 5 && read(p[0], buf, 10) == 5);
    check(fallocate(fd, 0, 0, 5000) == 0 && fsync(fd) == 0 && fdatasync(fd) == 0);
    check(unlink("dir/link") == 0 && unlink("dir/renamed") == 0 && rmdir("dir/sub") == 0);
    check(rmdir("dir") == 0 && truncate("copy", 3) == 0 && stat("copy", &st) == 0 &&
          st.st_size == 3);
    struct statfs fs;
    check(statfs("/proc", &fs) == 0 && fs.f_type == 0x9fa0);
    check(fcntl(fd, F_GETFL) == (O_RDWR | 0100000) && dup3(fd, fd, 0) == -1 && errno == EINVAL);
    check(openat(99, "x", O_RDONLY) == -1 && errno == EBADF);
    check(open("/dev/null", O_DIRECTORY) == -1 && errno == ENOTDIR);
    return 0;
}
