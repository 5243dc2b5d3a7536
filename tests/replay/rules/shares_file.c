/* shares_file.c DATA TO FROM HOW - maps DATA shared, to be read (r) or written, too (w), or
 * privately (p). Each time it writes to TO another process changes the file and then writes to
 * FROM. */
#include "rule.h"

int main(int argc, char **argv)
{
    if (argc != 5)
        return 9;
    int fd = open(argv[1], *argv[4] == 'w' ? O_RDWR : O_RDONLY);
    int to = open(argv[2], O_WRONLY), from = open(argv[3], O_RDONLY);
    const uint8_t *p = mmap(NULL, 2 * PAGE, *argv[4] == 'w' ? PROT_READ | PROT_WRITE : PROT_READ,
                            *argv[4] == 'p' ? MAP_PRIVATE : MAP_SHARED, fd, 0);
    char c = 0;
    check(to >= 0 && from >= 0 && p != MAP_FAILED);
    for (int i = 0; i < 5; i++) {
        check(write(to, &c, 1) == 1 && read(from, &c, 1) == 1);
        say("%016lx\n", digest(p, 2 * PAGE));
    }
    return 0;
}
