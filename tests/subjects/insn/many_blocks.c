/* many_blocks.c - 200,000 different small functions in written code: a code cache must make room.
 */
#include "subject.h"

enum { SLOT = 16, FUNCTIONS = 200000 };

int main(void)
{
    uint8_t *p = map_code((size_t)SLOT * FUNCTIONS);
    for (int i = 0; i < FUNCTIONS; i++)
        put_return(p + (size_t)SLOT * (unsigned)i, i);
    unsigned long sum = 0, wrong = 0;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < FUNCTIONS; i++) {
            int r = call_at(p + (size_t)SLOT * (unsigned)i);
            wrong += r != i;
            sum += (unsigned long)r;
        }
    say("sum %lu wrong %lu\n", sum, wrong);
    return 0;
}
