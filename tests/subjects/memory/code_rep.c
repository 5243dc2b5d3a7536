/* code_rep.c - string instructions that write over code ahead of them, and over themselves' page.
 */
#include "subject.h"

int main(void)
{
    uint8_t *p = map_code(2 * PAGE);
    static const uint8_t code[] = {
        0xf3, 0xa4,                   /* rep movsb: writes what comes next */
        0xb8, 0x01, 0x00, 0x00, 0x00, /* mov $1, %eax */
        0xc3,
    };
    int wrong = 0;
    for (int i = 0; i < 200; i++) {
        uint8_t next[6];
        long out;
        memcpy(p, code, sizeof code);
        put_return(next, i + 1000);
        uint8_t *to = p + 2, *from = next;
        long n = 6;
        __asm__ volatile("sub $128, %%rsp\n\tcall *%4\n\tadd $128, %%rsp"
                         : "=&a"(out), "+D"(to), "+S"(from), "+c"(n)
                         : "r"(p)
                         : "memory", "cc");
        wrong += (int)out != i + 1000;
    }
    say("rep movsb, wrong %d\n", wrong);
    wrong = 0;
    for (int i = 0; i < 200; i++) {
        memset(p + PAGE - 64, i & 0x7f, 128);
        put_return(p + PAGE - 3, i);
        wrong += call_at(p + PAGE - 3) != i;
    }
    say("memset around code, wrong %d\n", wrong);
    return 0;
}
