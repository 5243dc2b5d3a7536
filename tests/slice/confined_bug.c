/* confined_bug.c - a mistake in libdw, or in what puts events into words, for confined.py:
 * preloaded, it tries to get out.
 *
 * SPDX-License-Identifier: MIT
 *
 * Reading debug information begins with dwarf_begin_elf(), and a call that failed is told with
 * strerrorname_np(). These do what code would do that has taken the process over, say on standard
 * error what came of it, and then go on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long result)
{
    fprintf(stderr, "bug: %s: %s\n", what, result < 0 ? strerror(errno) : "done");
}

static int run(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child < 0 ? -1 : waitpid(child, NULL, 0);
}

/* Only a process that is confined survives this. */
static int execute(void)
{
    char *args[] = {"true", NULL};
    int status;
    pid_t child = vfork();
    if (child == 0) {
        execve("/bin/true", args, environ);
        _exit(1);
    }
    if (child < 0)
        return execve("/bin/true", args, environ);
    return waitpid(child, &status, 0) < 0 || status ? -1 : 0;
}

static void try_all(void)
{
    static int tried;
    const char *canary = getenv("CANARY");
    char other[4096];
    if (tried++)
        return;
    snprintf(other, sizeof other, "%s.other", canary);
    say("open", open("/etc/passwd", O_RDONLY));
    say("create", open(canary, O_CREAT | O_WRONLY, 0600));
    say("mkdir", mkdir(canary, 0700) && errno != EEXIST ? -1 : 0);
    say("link", symlink("/", other));
    say("socket", socket(AF_INET, SOCK_STREAM, 0));
    say("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
    say("exec", execute());
    say("fork", run());
    say("kill", kill(getppid(), 0));
    say("ptrace", ptrace(PTRACE_SEIZE, getppid(), 0, 0));
    say("new code",
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
            ? -1
            : 0);
    say("descriptor", (long)read(199, other, 1));
    say("memfd", syscall(SYS_memfd_create, "x", 0));
}

void *dwarf_begin_elf(void *elf, int command, void *group)
{
    void *(*real)(void *, int, void *) = NULL;
    try_all();
    *(void **)&real = dlsym(RTLD_NEXT, "dwarf_begin_elf");
    return real(elf, command, group);
}

const char *strerrorname_np(int error)
{
    const char *(*real)(int) = NULL;
    try_all();
    *(void **)&real = dlsym(RTLD_NEXT, "strerrorname_np");
    return real(error);
}
