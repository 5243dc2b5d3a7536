/* mapped.c - a file that is mapped to be read, written by calls, cut short, and for a while written
 * through the mapping. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 16 << 10, ROUNDS = 30 };
static char buffer[BYTES];

static unsigned long sum(const volatile unsigned char *p)
{
    unsigned long s = 0;
    for (size_t i = 0; i < BYTES; i++)
        s = s * 31 + p[i];
    return s;
}

int main(void)
{
    char name[] = "/tmp/mapped.XXXXXX";
    const int fd = mkstemp(name);
    unlink(name);
    memset(buffer, 7, BYTES);
    if (write(fd, buffer, BYTES) != BYTES)
        return 1;
    unsigned char *p = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    for (int i = 0; i < ROUNDS; i++) {
        const char c = (char)i;
        printf("%d %lx\n", i, sum(p));
        if (pwrite(fd, &c, 1, i * 500) != 1)
            return 1;
        if (i == 10) {
            mprotect(p, BYTES, PROT_READ | PROT_WRITE);
            p[5] = 99;
            p[9000] = 3;
        }
        if (i == 13)
            mprotect(p, BYTES, PROT_READ);
        if (i == 16 && (ftruncate(fd, BYTES / 2) || ftruncate(fd, BYTES)))
            return 1;
        if (i == 24)
            p = mremap(mremap(p, BYTES, BYTES / 2, 0), BYTES / 2, BYTES, MREMAP_MAYMOVE);
    }
    return 0;
}
