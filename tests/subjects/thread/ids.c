/* ids.c - thread ids, names, /proc/self/task and comm of each, set_tid_address, kill to a dead one.
 */
#include "subject.h"
#include <dirent.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { N = 5 };
static pthread_barrier_t named, seen;
static pid_t tids[N];

/* Whoever takes the address of its tid away and puts it back is joined all the same. */
static void take_and_put_back(void)
{
    void *address;
    if (prctl(PR_GET_TID_ADDRESS, &address)) /* a kernel without it */
        return;
    check(*(pid_t *)address == gettid());
    syscall(SYS_set_tid_address, NULL);
    syscall(SYS_set_tid_address, address);
}

static void *work(void *arg)
{
    long me = (long)arg;
    char name[20];
    snprintf(name, sizeof name, "worker-%ld", me);
    prctl(PR_SET_NAME, name);
    tids[me] = gettid();
    take_and_put_back();
    pthread_barrier_wait(&named);
    pthread_barrier_wait(&seen);
    return (void *)(long)(getpid() != gettid());
}

static int tasks(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

int main(void)
{
    pthread_t t[N];
    check(getpid() == gettid() && tasks() == 1);
    pthread_barrier_init(&named, NULL, N + 1);
    pthread_barrier_init(&seen, NULL, N + 1);
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    pthread_barrier_wait(&named);
    check(tasks() == N + 1);
    for (int i = 0; i < N; i++) {
        char path[64], name[20] = {0};
        snprintf(path, sizeof path, "/proc/self/task/%d/comm", tids[i]);
        int fd = open(path, O_RDONLY);
        read(fd, name, 19);
        close(fd);
        say("%s", name);
        for (int k = 0; k < i; k++)
            if (tids[i] == tids[k])
                say("FAIL same tid\n");
    }
    pthread_barrier_wait(&seen);
    for (int i = 0; i < N; i++) {
        void *r;
        pthread_join(t[i], &r);
        check(r == (void *)1);
    }
    check(syscall(SYS_set_tid_address, &tids[0]) == getpid());
    check(syscall(SYS_tgkill, getpid(), 0x3ffffff, 0) == -1 && errno == ESRCH);
    return 0;
}
