/* limit_cpu.c - RLIMIT_CPU sends SIGXCPU at its soft limit; the default action ends the program. */
#include "subject.h"
#include <sys/resource.h>

int main(void)
{
    struct rlimit r = {1, 3};
    setrlimit(RLIMIT_CPU, &r);
    say("spinning\n");
    for (volatile unsigned long i = 0;; i++)
        ;
}
