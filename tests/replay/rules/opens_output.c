/* opens_output.c PATH... - writes a line to standard output, and one to each of these files, opened
 * anew; the last through a copy of its descriptor. A path of `-` is the terminal's own name. */
#include "rule.h"

int main(int argc, char **argv)
{
    say("first\n");
    for (int i = 1; i < argc; i++) {
        const char *path = strcmp(argv[i], "-") ? argv[i] : ttyname(1);
        int fd = open(path ? path : "", O_WRONLY | O_APPEND | O_NOCTTY);
        if (fd < 0)
            return 9;
        if (i == argc - 1)
            fd = dup(fd);
        dprintf(fd, "line %d\n", i);
    }
    int nowhere = open("/dev/null", O_WRONLY);
    dprintf(nowhere, "not to be seen\n");
    say("last\n");
    return 0;
}
