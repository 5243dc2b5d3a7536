/* vmswitch.c - a bytecode interpreter by switch: one indirect jump with ten targets.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "vmcode.h"

static int64_t interpret(int64_t limit)
{
    int64_t stack[16], locals[LOCALS] = {0}, *sp = stack;
    uint32_t pc = 0;

    locals[LOCAL_LIMIT] = limit;
    for (;;) {
        uint8_t op = vm_code[pc][0], arg = vm_code[pc][1];

        pc++;
        switch (op) {
        case OP_LIT:
            *sp++ = arg;
            break;
        case OP_LOAD:
            *sp++ = locals[arg];
            break;
        case OP_STORE:
            locals[arg] = *--sp;
            break;
        case OP_ADD:
            sp--, sp[-1] += sp[0];
            break;
        case OP_MUL:
            sp--, sp[-1] *= sp[0];
            break;
        case OP_MOD:
            sp--, sp[-1] = (uint32_t)sp[-1] % (uint32_t)sp[0];
            break;
        case OP_LESS:
            sp--, sp[-1] = sp[-1] < sp[0];
            break;
        case OP_JUMP:
            pc = arg;
            break;
        case OP_JZ:
            pc = *--sp ? pc : arg;
            break;
        default:
            return locals[LOCAL_PRIMES];
        }
    }
}

int main(void)
{
    printf("%lld\n", (long long)interpret(350000));
    return 0;
}
