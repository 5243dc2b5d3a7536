/* subject.h - what the subject programs share.
 *
 * A subject prints only what is the same in every native run: check() writes the text of its
 * condition and "ok" or "FAIL", so that no address, pid or time reaches the output. Everything goes
 * through dprintf, unbuffered, so that fork, exec and death by signal lose and repeat nothing.
 */
#ifndef SUBJECT_H
#define SUBJECT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define say(...)    dprintf(STDOUT_FILENO, __VA_ARGS__)
#define check(cond) say("%s: %s\n", #cond, (cond) ? "ok" : "FAIL")
#define PAGE        4096UL
#define UNUSED      __attribute__((unused))

/* Ends the subject as skipped: the machine lacks what it checks. */
static UNUSED void skip(const char *reason)
{
    say("skipped: %s\n", reason);
    _exit(77);
}

/* How often to do something: as usual, or as a test says that looks at every moment. */
static UNUSED int subject_rounds(int usual)
{
    const char *said = getenv("SUBJECT_ROUNDS");
    return said ? atoi(said) : usual;
}

typedef void on_signal_fn(int, siginfo_t *, void *);

static UNUSED void on_signal(int sig, on_signal_fn *fn, int flags)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = fn;
    sa.sa_flags = SA_SIGINFO | flags;
    sigaction(sig, &sa, NULL);
}

/* raise() promises the compiler that it does not come back into this file; a handler does. */
static UNUSED __attribute__((noipa)) void send_self(int sig)
{
    raise(sig);
}

/* Sleeps its whole time, whatever signals arrive. */
static UNUSED void sleep_ms(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&ts, &ts) == -1 && errno == EINTR)
        ;
}

/* Waits for a child and says how it ended. */
static UNUSED void reap(const char *what, pid_t pid)
{
    int st;
    if (waitpid(pid, &st, 0) <= 0)
        say("%s: no child FAIL\n", what);
    else if (WIFEXITED(st))
        say("%s: exited %d\n", what, WEXITSTATUS(st));
    else
        say("%s: killed by %d\n", what, WTERMSIG(st));
}

static UNUSED uint8_t *map_anon(size_t bytes, int prot)
{
    void *p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        say("mmap FAIL\n");
    return (uint8_t *)p;
}

static UNUSED uint8_t *map_code(size_t bytes)
{
    return map_anon(bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* Writes "mov $value, %eax; ret", 6 bytes. */
static UNUSED void put_return(uint8_t *at, int value)
{
    at[0] = 0xb8;
    memcpy(at + 1, &value, 4);
    at[5] = 0xc3;
}

typedef int int_fn(void);

static UNUSED int call_at(const void *code)
{
    int_fn *fn;
    memcpy(&fn, &code, sizeof fn);
    return fn();
}
#endif
