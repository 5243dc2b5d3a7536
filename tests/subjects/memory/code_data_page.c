/* code_data_page.c - data on the same page as running code is written all the time; also the stack.
 */
#include "subject.h"

/* Code that increments a counter on its own page 200,000 times. */
static int busy_page(uint8_t *p)
{
    static const uint8_t code[] = {
        0xb9, 0x40, 0x0d, 0x03, 0x00,       /* mov  $200000, %ecx */
        0xff, 0x05, 0xf5, 0x00, 0x00, 0x00, /* 5: incl 245(%rip): the counter at 256 */
        0xff, 0xc9,                         /* dec  %ecx */
        0x75, 0xf6,                         /* jne  5 */
        0x8b, 0x05, 0xeb, 0x00, 0x00, 0x00, /* mov  235(%rip), %eax */
        0xc3,
    };
    memset(p, 0, 512);
    memcpy(p, code, sizeof code);
    return call_at(p);
}

int main(void)
{
    uint8_t *p = map_code(PAGE);
    say("counter %d\n", busy_page(p));
    p[256] = 100;
    say("again %d\n", busy_page(p));
    uint8_t stack_code[64];
    uint8_t *page = (uint8_t *)((uintptr_t)stack_code & -PAGE);
    mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    int wrong = 0;
    for (int i = 0; i < 1000; i++) {
        put_return(stack_code, i);
        wrong += call_at(stack_code) != i;
    }
    say("on the stack, wrong %d\n", wrong);
    __builtin___clear_cache((char *)stack_code, (char *)stack_code + 64);
    return 0;
}
