/* flags_main.c - runs flags.S. */
#include "subject.h"

extern int flags_main(void);

int main(void)
{
    say("first broken place: %d\n", flags_main());
    return 0;
}
