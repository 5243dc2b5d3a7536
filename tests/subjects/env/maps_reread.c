/* maps_reread.c - an open /proc/self/maps shows the state of each reading, not of its opening. */
#include "subject.h"
#include <sys/stat.h>

static char text[1 << 16];

static long slurp(int fd, size_t step)
{
    size_t n = 0;
    memset(text, 0, sizeof text);
    lseek(fd, 0, SEEK_SET);
    for (ssize_t r; (r = read(fd, text + n, step)) > 0;)
        n += (size_t)r;
    return (long)n;
}

int main(void)
{
    int fd = open("/proc/self/maps", O_RDONLY);
    char link[64] = "";
    struct stat st;
    void *p = mmap((void *)0x123450000000, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(slurp(fd, 4096) > 500 && strstr(text, "123450000000-123450003000 r--p"));
    mprotect(p, PAGE, PROT_READ | PROT_WRITE);
    check(slurp(fd, 100) > 500 && strstr(text, "123450000000-123450001000 rw-p"));
    munmap(p, 3 * PAGE);
    check(slurp(fd, 4096) > 500 && !strstr(text, "123450000000-"));
    check(readlink("/proc/self/fd/3", link, sizeof link - 1) > 0 && strstr(link, "/maps"));
    check(strncmp(link, "/proc/", 6) == 0);
    check(fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0);
    check(write(fd, "x", 1) == -1 && errno == EBADF);
    return 0;
}
