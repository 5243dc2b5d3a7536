/* memory.c - system calls that write, move and zero memory. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };

int main(int argc, char **argv)
{
    int sum = 0, ends[2];
    struct stat st;
    char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || pipe(ends) < 0)
        return 1;
    for (int i = 0; i < 64; i++)
        p[PAGE + i] = (char)(i * argc);
    /* A mapping in the way: it must move. */
    char *q = mremap(p, 3 * PAGE, 600 * PAGE, MREMAP_MAYMOVE);
    if (q == MAP_FAILED)
        return 1;
    sum += q[PAGE + 5] + q[500 * PAGE];
    madvise(q, PAGE, MADV_DONTNEED);
    struct iovec out[2] = {{q + PAGE, 20}, {argv[0], 1}},
                 in[2] = {{q + 8, 10}, {q + PAGE + 30, 11}};
    if (writev(ends[1], out, 2) != 21 || readv(ends[0], in, 2) != 21)
        return 1;
    for (int i = 0; i < 64; i++)
        sum = sum * 3 + q[i] + q[PAGE + i];
    char *cwd = getcwd(q + 100, PAGE);
    sum += cwd != NULL && stat("/", &st) == 0 ? st.st_mode & 0777 : 0;
    char *big = calloc(200, 1000);
    big = realloc(big, 600000);
    big[150000] = (char)sum;
    printf("%d %d\n", sum, big[150000] + big[3]);
    free(big);
    munmap(q, 600 * PAGE);
    return 0;
}
