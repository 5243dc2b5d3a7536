/* bulkread.c - reads a file and adds up its words: a recording about as large as the file.
 *
 * Static and at a fixed place, so that its first instruction is the entry point in its header.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t words[8192];

int main(int argc, char *argv[])
{
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
    uint64_t sum = 0;
    ssize_t n;

    while ((n = read(fd, words, sizeof words)) > 0)
        for (ssize_t i = 0; i < n / 8; i++)
            sum += words[i];
    printf("%llu\n", (unsigned long long)sum);
    return n < 0;
}
