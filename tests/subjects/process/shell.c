/* shell.c - system() and popen() in both directions, from a program with a thread too. */
#include "subject.h"
#include <pthread.h>

static void *in_thread(void *arg)
{
    (void)arg;
    return (void *)(long)system("exit 9");
}

int main(void)
{
    say("system: %x\n", system("echo from system; exit 5"));
    say("killed: %x\n", system("kill -9 $$"));
    say("missing: %x\n", system("no-such-command-here 2>/dev/null"));
    check(system(NULL) == 1);
    FILE *f = popen("printf 'a\\nb\\nc\\n' | sort -r", "r");
    char line[80];
    while (fgets(line, sizeof line, f))
        say("popen: %s", line);
    say("pclose: %x\n", pclose(f));
    f = popen("tr a-z A-Z", "w");
    fputs("to the child\n", f);
    say("pclose: %x\n", pclose(f));
    pthread_t t;
    void *r;
    pthread_create(&t, NULL, in_thread, NULL);
    pthread_join(t, &r);
    say("from a thread: %lx\n", (long)r);
    return 0;
}
