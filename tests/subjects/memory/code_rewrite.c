/* code_rewrite.c - code written, executed, rewritten: same page, next instruction, 10,000 patches.
 */
#include "subject.h"

static int rewrite_loop(uint8_t *p)
{
    int wrong = 0;
    for (int i = 0; i < 10000; i++) {
        put_return(p + 64 * (i % 8), i);
        wrong += call_at(p + 64 * (i % 8)) != i;
    }
    return wrong;
}

/* The code adds up in a loop and changes the immediate of its own add in every round. */
static int self_patching_loop(uint8_t *p)
{
    static const uint8_t code[] = {
        0x31, 0xc0,                         /* 0:  xor  %eax, %eax */
        0xb9, 0xe8, 0x03, 0x00, 0x00,       /* 2:  mov  $1000, %ecx */
        0x05, 0x01, 0x00, 0x00, 0x00,       /* 7:  add  $1, %eax */
        0x83, 0x05, 0xf5, 0xff, 0xff, 0xff, /* 12: addl $2, -11(%rip): the immediate at 8 */
        0x02, 0xff, 0xc9,                   /* 19: dec  %ecx */
        0x75, 0xf0,                         /* 21: jne  7 */
        0xc3,
    };
    memcpy(p, code, sizeof code);
    return call_at(p);
}

/* A store that changes the instruction right after it, in the same block. */
static int next_instruction(uint8_t *p, int value)
{
    uint8_t code[] = {
        0xc7, 0x05, 0x01, 0x00, 0x00, 0x00, 0, 0, 0, 0, /* 0: movl $value, 1(%rip) */
        0xb8, 0x00, 0x00, 0x00, 0x00,                   /* 10: mov $0, %eax */
        0xc3,
    };
    memcpy(code + 6, &value, 4);
    memcpy(p, code, sizeof code);
    return call_at(p);
}

int main(void)
{
    uint8_t *p = map_code(4 * PAGE);
    say("patched 10,000 times, wrong %d\n", rewrite_loop(p));
    say("self-patching loop %d\n", self_patching_loop(p));
    say("again %d\n", self_patching_loop(p + PAGE - 12));
    int wrong = 0;
    for (int i = 0; i < 500; i++)
        wrong += next_instruction(p + 2 * PAGE, i * 77) != i * 77;
    say("next instruction, wrong %d\n", wrong);
    /* An instruction that crosses a page; only its second half is rewritten. */
    wrong = 0;
    for (int i = 1; i < 200; i++) {
        put_return(p + PAGE - 3, 0x010101);
        call_at(p + PAGE - 3);
        p[PAGE] = (uint8_t)i;
        wrong += call_at(p + PAGE - 3) != ((i << 16) | 0x0101);
    }
    say("crossing a page, wrong %d\n", wrong);
    return 0;
}
