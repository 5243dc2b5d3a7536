/* limits.c - resource limits: a small RLIMIT_NOFILE, RLIMIT_STACK and RLIMIT_FSIZE act as natively.
 */
#include "subject.h"
#include <sys/resource.h>
#include <sys/time.h>

static void set(int what, rlim_t soft)
{
    struct rlimit r;
    getrlimit(what, &r);
    r.rlim_cur = soft;
    check(setrlimit(what, &r) == 0);
}

static volatile int depth;

__attribute__((noinline)) static int recurse(int n)
{
    volatile char room[1024];
    room[0] = (char)n;
    depth = n;
    return n > 1 << 20 ? n : recurse(n + 1) + room[0];
}

int main(void)
{
    set(RLIMIT_NOFILE, 6);
    check(dup(0) == 3 && dup(0) == 4 && dup(0) == 5);
    check(dup(0) == -1 && errno == EMFILE);
    check(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
    check(fcntl(0, F_DUPFD, 6) == -1 && errno == EINVAL);
    pid_t pid = fork();
    if (pid == 0) {
        set(RLIMIT_STACK, 256 * 1024);
        recurse(0);
        _exit(1);
    }
    reap("recursion in a small stack", pid);
    pid = fork();
    if (pid == 0) {
        close(5);
        set(RLIMIT_FSIZE, 100);
        char big[200] = {0};
        int fd = open("limited", O_CREAT | O_WRONLY, 0600);
        check(write(fd, big, 200) == 100);
        write(fd, big, 1);
        _exit(1);
    }
    reap("writing past the limit", pid);
    struct rusage ru;
    check(getrusage(RUSAGE_SELF, &ru) == 0 && ru.ru_maxrss > 100);
    check(getrusage(RUSAGE_CHILDREN, &ru) == 0);
    struct rlimit old;
    check(prlimit(0, RLIMIT_CORE, NULL, &old) == 0);
    check(getrlimit(RLIMIT_NOFILE, &old) == 0 && old.rlim_cur == 6);
    return 0;
}
