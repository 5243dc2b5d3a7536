/* branches.c - switch tables, function pointers, virtual-like calls, deep call chains, tail calls.
 */
#include "subject.h"

typedef unsigned op_fn(unsigned, unsigned);
#define OP(name, expr)                                                                             \
    __attribute__((noinline)) static unsigned name(unsigned a, unsigned b)                         \
    {                                                                                              \
        return expr;                                                                               \
    }
OP(op_add, a + b)
OP(op_sub, a - b)
OP(op_mul, a *b)
OP(op_xor, a ^ b)
OP(op_rol, (a << (b & 31)) | (a >> (-b & 31)))
OP(op_tail, op_rol(b, a))

static unsigned by_switch(unsigned op, unsigned a, unsigned b)
{
    switch (op) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return a ^ b;
    case 4:
        return a | b;
    case 5:
        return a & b;
    case 6:
        return a / (b | 1);
    case 7:
        return a % (b | 1);
    case 8:
        return ~a;
    default:
        return a + 1;
    }
}

/* Threaded code by computed goto: one indirect jump site per operation. */
static unsigned by_goto(const unsigned char *code, unsigned a)
{
    static const void *const table[] = {&&add, &&mul, &&xor_, &&end};
#define NEXT goto *table[*code++]
    NEXT;
add:
    a += *code++;
    NEXT;
mul:
    a *= *code++;
    NEXT;
xor_:
    a ^= *code++;
    NEXT;
end:
    return a;
}

int main(void)
{
    static op_fn *const ops[] = {op_add, op_sub, op_mul, op_xor, op_rol, op_tail};
    unsigned a = 1, b = 7, seed = 99;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1664525 + 1013904223;
        a = ops[(seed >> 16) % 6](a, b);
        b = by_switch((seed >> 20) % 11, b, a);
    }
    say("%x %x\n", a, b);
    unsigned char code[3000];
    for (int i = 0; i < 2998; i += 2) {
        seed = seed * 1664525 + 1013904223;
        code[i] = (unsigned char)((seed >> 16) % 3);
        code[i + 1] = (unsigned char)(seed >> 24);
    }
    code[2998] = 3;
    for (int i = 0; i < 50; i++)
        a = by_goto(code, a);
    say("%x\n", a);
    return 0;
}
