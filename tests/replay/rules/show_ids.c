/* show_ids.c - who am I? For the test of setuid executables. */
#include "rule.h"

int main(void)
{
    say("uid %d euid %d\n", getuid(), geteuid());
    return 0;
}
