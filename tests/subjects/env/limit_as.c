/* limit_as.c - large allocations fail with ENOMEM under RLIMIT_AS, small ones do not. */
#include "subject.h"
#include <sys/resource.h>

int main(void)
{
    struct rlimit r = {8UL << 30, 8UL << 30};
    check(setrlimit(RLIMIT_AS, &r) == 0);
    check(mmap(NULL, 16UL << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    check(errno == ENOMEM);
    check(malloc(100000) != NULL);
    check(malloc(9UL << 30) == NULL);
    return 0;
}
