/* argv_env.c - odd arguments and environments arrive intact; the program may overwrite its argv. */
#include "subject.h"

int main(int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], "second") == 0) {
        for (int i = 0; i < argc; i++)
            say("%d %zu <%.20s>\n", i, strlen(argv[i]), argv[i]);
        for (char **e = environ; *e; e++)
            say("env %zu <%.20s>\n", strlen(*e), *e);
        memset(argv[1], 'x', strlen(argv[1]));
        char buf[200] = {0};
        int fd = open("/proc/self/cmdline", O_RDONLY);
        check(read(fd, buf, 199) > 20 && strcmp(buf, "second") == 0 && buf[7] == 'x');
        return 0;
    }
    for (int i = 1; i < argc; i++)
        say("<%s>\n", argv[i]);
    static char big[100001];
    memset(big, 'b', 100000);
    char *args[] = {(char *)"second", (char *)"a b\tc\nd", (char *)"", big, (char *)"--", NULL};
    char *env[] = {(char *)"NOEQUALS", (char *)"=odd", (char *)"X=1", (char *)"X=2", big, NULL};
    execve("/proc/self/exe", args, env);
    return 1;
}
