/* fork_code.c - code changed in a child after fork is the child's own; shared code is both's. */
#include "subject.h"

int main(void)
{
    uint8_t *priv = map_code(PAGE);
    uint8_t *shared =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    put_return(priv, 1);
    put_return(shared, 2);
    say("before: %d %d\n", call_at(priv), call_at(shared));
    pid_t pid = fork();
    if (pid == 0) {
        say("child starts: %d %d\n", call_at(priv), call_at(shared));
        put_return(priv, 10);
        put_return(shared, 20);
        say("child: %d %d\n", call_at(priv), call_at(shared));
        _exit(0);
    }
    reap("child", pid);
    say("parent: %d %d\n", call_at(priv), call_at(shared));
    return 0;
}
