/* spawn_missing.c - posix_spawn of a missing file answers ENOENT: the child tells its parent
 * through memory. */
#include "rule.h"
#include <spawn.h>

extern char **environ;

int main(void)
{
    char *argv[] = {"true", NULL};
    pid_t pid = -5;
    check(posix_spawn(&pid, "/no/such/program", NULL, NULL, argv, environ) == ENOENT);
    check(posix_spawnp(&pid, "no-such-program-here", NULL, NULL, argv, environ) == ENOENT);
    check(posix_spawn(&pid, "/etc/passwd", NULL, NULL, argv, environ) == EACCES);
    check(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0);
    say("child %d\n", pid);
    reap("true", pid);
    return 0;
}
