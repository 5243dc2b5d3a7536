/* close_all.c - the program closes every descriptor in each known way and goes on working. */
#include "subject.h"
#include <linux/close_range.h>
#include <pthread.h>
#include <spawn.h>

static void *idle(void *arg)
{
    return arg;
}

static void work(const char *title)
{
    pthread_t t;
    pthread_create(&t, NULL, idle, NULL);
    pthread_join(t, NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(11);
    reap(title, pid);
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo spawned; exit 12", NULL};
    posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
    reap(title, pid);
    check(open("/dev/null", O_RDONLY) == 3);
}

int main(void)
{
    check(close_range(3, ~0U, 0) == 0);
    work("close_range");
    closefrom(3);
    work("closefrom");
    for (int fd = 3; fd < 70000; fd++)
        close(fd);
    work("a loop of close");
    check(close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0);
    check(close_range(3, ~0U, CLOSE_RANGE_UNSHARE) == 0);
    work("close_range UNSHARE");
    for (int fd = 3; fd < 2000; fd++)
        dup2(1, fd);
    check(write(1234, "through 1234\n", 13) == 13);
    closefrom(3);
    work("after dup2 over everything");
    return 0;
}
