/* exec.c - execve: of itself in a chain, scripts, fexecve, execveat, errors, empty argv, cloexec.
 */
#include "subject.h"
#include <sys/stat.h>

static char exe[4096];

static void chain(int n, char **argv)
{
    char next[16];
    if (n == 0) {
        say("end of the chain, %s\n", getenv("KEPT"));
        check(fcntl(9, F_GETFD) == -1);
        check(fcntl(8, F_GETFD) == 0);
        exit(17);
    }
    snprintf(next, sizeof next, "%d", n - 1);
    execl(exe, argv[0], next, NULL);
}

static void make(const char *name, const char *text, int mode)
{
    int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0700);
    write(fd, text, strlen(text));
    fchmod(fd, (mode_t)mode);
    close(fd);
}

static void child(const char *what, int fd, const char *path, char **argv, int flags)
{
    pid_t pid = fork();
    if (pid == 0) {
        syscall(SYS_execveat, fd, path, argv, environ, flags);
        say("%s: %s, and the program goes on\n", what, strerror(errno));
        _exit(126);
    }
    reap(what, pid);
}

int main(int argc, char **argv)
{
    exe[readlink("/proc/self/exe", exe, sizeof exe - 1)] = 0;
    if (argc > 1)
        chain(atoi(argv[1]), argv);
    if (argc == 0 || argv[0][0] == 0)
        return say("argc %d\n", argc), 19;
    make("script", "#!/bin/sh\necho script \"$@\"; exit 4\n", 0700);
    make("noexec", "#!/bin/sh\n", 0600);
    make("badinterp", "#!/no/such/interpreter\n", 0700);
    make("text", "just text\n", 0700);
    make("empty", "", 0700);
    make("truncated", "\177ELF\2\1\1", 0700);
    make("loop", "#!./loop\n", 0700);
    char *args[] = {(char *)"zero", (char *)"one", (char *)"two", NULL}, *none[] = {NULL};
    child("script", AT_FDCWD, "./script", args, 0);
    child("missing", AT_FDCWD, "./missing", args, 0);
    child("not executable", AT_FDCWD, "./noexec", args, 0);
    child("bad interpreter", AT_FDCWD, "./badinterp", args, 0);
    child("text", AT_FDCWD, "./text", args, 0);
    child("empty", AT_FDCWD, "./empty", args, 0);
    child("truncated", AT_FDCWD, "./truncated", args, 0);
    child("directory", AT_FDCWD, "/", args, 0);
    child("script of itself", AT_FDCWD, "./loop", args, 0);
    child("empty argv", AT_FDCWD, exe, none, 0);
    child("bad argv", AT_FDCWD, "/bin/true", (char **)8, 0);
    char *echo[] = {(char *)"echo", (char *)"by descriptor", NULL};
    child("execveat", open("/bin/echo", O_RDONLY | O_CLOEXEC), "", echo, AT_EMPTY_PATH);
    child("execveat dir", open("/bin", O_PATH), "echo", echo, 0);
    child("execveat symlink", AT_FDCWD, "/proc/self/exe", args, AT_SYMLINK_NOFOLLOW);
    pid_t pid = fork();
    if (pid == 0)
        fexecve(open("./script", O_RDONLY), args, environ);
    reap("fexecve of a script", pid);
    int m = memfd_create("prog", MFD_CLOEXEC), in = open("/bin/echo", O_RDONLY);
    char buf[65536];
    for (ssize_t n; (n = read(in, buf, sizeof buf)) > 0;)
        write(m, buf, (size_t)n);
    child("memfd", m, "", echo, AT_EMPTY_PATH);
    setenv("KEPT", "kept", 1);
    dup2(1, 8);
    dup3(1, 9, O_CLOEXEC);
    execl(exe, argv[0], "8", NULL);
    return 1;
}
