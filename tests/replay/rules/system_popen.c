/* system_popen.c - system() and popen(): only the parent's side is recorded. */
#include "rule.h"

int main(void)
{
    char line[100];
    int status = system("exit 5");
    check(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    status = system("kill -TERM $$");
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    FILE *p = popen("echo $$; head -c 20 /dev/urandom | od -An -tx1", "r");
    while (fgets(line, sizeof line, p))
        say("child says %s", line);
    check(pclose(p) == 0);
    p = popen("cat > popen.out", "w");
    fprintf(p, "%d\n", getpid());
    check(pclose(p) == 0);
    p = fopen("popen.out", "r");
    check(fgets(line, sizeof line, p) && atoi(line) == getpid());
    say("%s", line);
    return 0;
}
