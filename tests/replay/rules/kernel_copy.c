/* kernel_copy.c - bytes that the kernel copies to standard output by itself appear again: the call
 * is refused for that descriptor, the program copies by hand; to other files it works. */
#include "rule.h"
#include <sys/sendfile.h>

int main(void)
{
    char text[64], back[64] = "";
    int in = memfd_create("in", 0), out = memfd_create("out", 0);
    off_t at = 0;
    size_t n = (size_t)snprintf(text, sizeof text, "now %llu\n", (unsigned long long)now_ns());
    check(write(in, text, n) == (ssize_t)n);
    check(sendfile(out, in, &at, n) == (ssize_t)n);
    check(pread(out, back, sizeof back, 0) == (ssize_t)n && memcmp(back, text, n) == 0);
    at = 0;
    if (sendfile(STDOUT_FILENO, in, &at, n) != (ssize_t)n)
        check(write(STDOUT_FILENO, text, n) == (ssize_t)n);
    return 0;
}
