/* inotify.c - what another thread does to files arrives as events of several lengths. */
#include "rule.h"
#include <sys/inotify.h>
#include <sys/stat.h>

static void *toucher(void *arg)
{
    for (int i = 0; i < 20; i++) {
        char name[60];
        snprintf(name, sizeof name, "watched/%.*s%d", i, "abcdefghijklmnopqrstuvwxyz", getpid());
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (write(fd, "x", 1) != 1)
            say("write FAIL\n");
        close(fd);
        unlink(name);
    }
    return arg;
}

int main(void)
{
    char buffer[400] __attribute__((aligned(8)));
    int fd = inotify_init1(0), events = 0;
    uint64_t order = 0;
    check(mkdir("watched", 0700) == 0);
    int wd = inotify_add_watch(fd, "watched", IN_CREATE | IN_DELETE | IN_CLOSE_WRITE);
    pthread_t t = start(toucher, NULL);
    while (events < 60) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        for (ssize_t at = 0; at < n;) {
            struct inotify_event *e = (struct inotify_event *)(buffer + at);
            events++;
            order = order * 31 + e->mask + e->len + digest(e->name, strlen(e->name)) + (uint64_t)n;
            at += (ssize_t)(sizeof *e + e->len);
        }
    }
    pthread_join(t, NULL);
    check(inotify_rm_watch(fd, wd) == 0 && rmdir("watched") == 0);
    say("%d events, order %016lx\n", events, order);
    return 0;
}
