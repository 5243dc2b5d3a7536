/* frames.c - variables of callers, of inlined calls, of what a signal has interrupted, of another
 * thread. */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

struct thing {
    int key;
};

static int seed = 4, shade, go[2], ready[2], seen;
static struct thing *shared;

/* Without libc: a thread that waits has this frame, and the caller's. */
__attribute__((noinline)) static long wait_for(int fd)
{
    char byte;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_read), "D"(fd), "S"(&byte), "d"(1)
                     : "rcx", "r11", "memory");
    return result;
}

__attribute__((noinline)) static void here(void)
{
    seen++; /* HERE */
}

static inline __attribute__((always_inline)) int inner(struct thing *t, int local)
{
    int twice = local ^ seed; /* TWICE */
    here();
    t->key += twice + local;
    seen += shade;
    return t->key;
}

__attribute__((noinline)) static int leaf(struct thing *t, int n)
{
    int local = n + seed;   /* LEAF LOCAL */
    volatile int shade = n; /* LEAF SHADE */
    return inner(t, local * 5) + local + shade - n;
}

__attribute__((noinline)) static int outer(struct thing *t, int n)
{
    shade = n - 5;     /* SHADE */
    int local = n * 3; /* OUTER LOCAL */
    return leaf(t, n) + local;
}

static void handler(int number)
{
    int local = number + seed; /* HANDLER LOCAL */
    here();
    shared->key += local;
}

__attribute__((noinline)) static int interrupted(int n)
{
    int local = n * 7; /* INTERRUPTED LOCAL */
    long nr = SYS_kill;
    __asm__ volatile("syscall"
                     : "+a"(nr), "+r"(local)
                     : "D"(getpid()), "S"(SIGUSR1)
                     : "rcx", "r11", "memory");
    return local;
}

static void *work(void *arg)
{
    int local = *(int *)arg + 1; /* WORK LOCAL */
    write(ready[1], "x", 1);
    wait_for(go[0]);
    return (void *)(long)local;
}

int main(int argc, char **argv)
{
    struct thing t = {argc}; /* MAIN T */
    pthread_t thread;
    shared = &t;
    signal(SIGUSR1, handler);
    if (pipe(go) || pipe(ready) || pthread_create(&thread, 0, work, &seed))
        return 1;
    wait_for(ready[0]);
    int local = outer(&t, argc + 4);
    local += interrupted(argc);
    write(go[1], "x", 1);
    pthread_join(thread, 0);
    return local + t.key == 0;
}
