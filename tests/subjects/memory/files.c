/* files.c - file and memfd mappings: shared and private, msync, pwrite seen, truncation, seals. */
#include "subject.h"

int main(void)
{
    void *volatile bad = (void *)64;
    int fd = open("data", O_RDWR | O_CREAT, 0600), m = memfd_create("m", MFD_ALLOW_SEALING);
    if (ftruncate(fd, 3 * PAGE) || ftruncate(m, 2 * PAGE))
        return 1;
    char *sh = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *pr = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *ro = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, PAGE), buf[8] = "";
    strcpy(sh + PAGE, "shared");
    check(strcmp(pr + PAGE, "shared") == 0 && strcmp(ro, "shared") == 0);
    strcpy(pr + PAGE, "private");
    check(strcmp(sh + PAGE, "shared") == 0);
    check(pread(fd, buf, 7, PAGE) == 7 && strcmp(buf, "shared") == 0);
    check(pwrite(fd, "by call", 8, PAGE) == 8 && strcmp(ro, "by call") == 0);
    check(strcmp(pr + PAGE, "private") == 0);
    check(msync(sh, 3 * PAGE, MS_SYNC) == 0);
    check(read(fd, pr + 2 * PAGE, 8) == 8 && write(1, sh + PAGE, 7) == 7);
    say("\n");
    check(write(1, bad, 3) == -1 && errno == EFAULT);
    check(read(fd, bad, 3) == -1 && errno == EFAULT);
    munmap(ro, PAGE);
    char *w1 = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
    char *w2 = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
    w1[5000] = 'z';
    check(w2[5000] == 'z');
    check(fcntl(m, F_ADD_SEALS, F_SEAL_SHRINK) == 0 && ftruncate(m, 10) == -1 && errno == EPERM);
    pid_t pid = fork();
    if (pid == 0) {
        w2[1] = 'c';
        pr[1] = 'c';
        _exit(0);
    }
    reap("child", pid);
    check(w1[1] == 'c' && pr[1] == 0);
    check(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, 99, 0) == MAP_FAILED && errno == EBADF);
    return 0;
}
