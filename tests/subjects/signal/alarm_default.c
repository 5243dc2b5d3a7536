/* alarm_default.c - a loop without calls ends by SIGALRM's default action. */
#include "subject.h"
#include <sys/time.h>

int main(void)
{
    struct itimerval it = {.it_value = {0, 30000}};
    setitimer(ITIMER_REAL, &it, NULL);
    say("spinning\n");
    __asm__ volatile("1: jmp 1b");
}
