/* bomb.c - maps a file and looks at some of it. SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    struct stat s;
    long sum = 0;
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &s))
        return 1;
    const char *p = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return 1;
    for (off_t at = 0; at < s.st_size; at += 1 << 20)
        sum += p[at];
    printf("%ld\n", sum);
    return 0;
}
