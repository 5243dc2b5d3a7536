/* exec_thread.c - a thread that is not the first calls execve: same pid, one thread, others gone.
 */
#include "subject.h"
#include <dirent.h>
#include <pthread.h>

static char **args;
static volatile int spinning;

static void *spin(void *arg)
{
    (void)arg;
    for (;;)
        spinning = 1;
    return NULL;
}

static void *do_exec(void *arg)
{
    char pid[20];
    (void)arg;
    while (!spinning)
        ;
    snprintf(pid, sizeof pid, "%d", getpid());
    execl("/no/such/file", "x", NULL);
    check(errno == ENOENT);
    execl("/proc/self/exe", args[0], pid, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        int n = 0;
        DIR *d = opendir("/proc/self/task");
        for (struct dirent *e; (e = readdir(d));)
            n += e->d_name[0] != '.';
        check(n == 1);
        check(getpid() == atoi(argv[1]) && gettid() == getpid());
        return 23;
    }
    args = argv;
    pthread_t t;
    pthread_create(&t, NULL, spin, NULL);
    pthread_create(&t, NULL, do_exec, NULL);
    pthread_join(t, NULL);
    return 1;
}
