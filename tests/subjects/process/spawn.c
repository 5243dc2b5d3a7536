/* spawn.c - posix_spawn: file actions, attributes, PATH search, and errors returned as errors. */
#include "subject.h"
#include <spawn.h>

static int spawn(const char *what, int search, const char *path,
                 const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *at)
{
    pid_t pid = -1;
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo child; cat; exit 6", NULL};
    int r = search ? posix_spawnp(&pid, path, fa, at, argv, environ)
                   : posix_spawn(&pid, path, fa, at, argv, environ);
    if (r)
        say("%s: %s\n", what, strerror(r));
    else
        reap(what, pid);
    return r;
}

int main(void)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    int p[2];
    check(spawn("missing file", 0, "/no/such/file", NULL, NULL) == ENOENT);
    check(spawn("missing name", 1, "no-such-command-here", NULL, NULL) == ENOENT);
    check(spawn("directory", 0, "/usr", NULL, NULL) == EACCES);
    check(spawn("not a program", 0, "/etc/passwd", NULL, NULL) == EACCES);
    check(spawn("below a file", 0, "/etc/passwd/x", NULL, NULL) == ENOTDIR);
    check(spawn("plain", 0, "/bin/sh", NULL, NULL) == 0);
    check(spawn("by name", 1, "sh", NULL, NULL) == 0);
    check(pipe(p) == 0 && write(p[1], "piped\n", 6) == 6 && close(p[1]) == 0);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, p[0], 0);
    posix_spawn_file_actions_addopen(&fa, 5, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addchdir_np(&fa, "/");
    posix_spawnattr_init(&at);
    posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                      POSIX_SPAWN_SETSIGDEF);
    check(spawn("with actions", 0, "/bin/sh", &fa, &at) == 0);
    posix_spawn_file_actions_addopen(&fa, 6, "/no/such/file", O_RDONLY, 0);
    check(spawn("failing action", 0, "/bin/sh", &fa, &at) == ENOENT);
    int ok = 0;
    for (int i = 0; i < 10; i++) {
        pid_t pid;
        char *argv[] = {(char *)"true", NULL};
        ok += posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0 &&
              waitpid(pid, NULL, 0) == pid;
    }
    say("ten: %d\n", ok);
    return 0;
}
