/* outside.c - a limit that comes from a file. SPDX-License-Identifier: MIT */
#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

static int number(const char *text)
{
    return text[0] - '0';
}

int main(void)
{
    char head[16], line[6];
    int fd = open("outside.ini", O_RDONLY);
    if (read(fd, head, sizeof head) != sizeof head || read(fd, line, sizeof line) != sizeof line)
        return 1;
    int limit = number(line + 5); /* TOLD came from outside: read(3 "outside.ini") byte 21 */
    assert(limit < 5);
    return 0;
}
