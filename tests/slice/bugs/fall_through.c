/* fall_through.c - a case of a switch has no break, so another instruction's work is done, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum op { PUSH, ADD, SUB, DUP, SWAP, STORE, LOAD, JUMP_IF, PRINT, HALT };

struct insn {
    enum op op;
    int arg;
};

struct machine {
    int stack[16], top;
    int memory[8];
    int pc, steps;
    long printed;
};

static int pop(struct machine *m)
{
    return m->stack[--m->top];
}

static void push(struct machine *m, int value)
{
    m->stack[m->top++] = value;
}

static int step(struct machine *m, const struct insn *i)
{
    int a, b;
    m->steps++;
    m->pc++;
    switch (i->op) {
    case PUSH:
        push(m, i->arg);
        break;
    case ADD:
        a = pop(m);
        push(m, pop(m) + a);
        break;
    case SUB:
        a = pop(m);
        push(m, pop(m) - a);
        break;
    case SWAP:
        a = pop(m);
        b = pop(m);
        push(m, a);
        push(m, b); /* ROOT CAUSE */
#ifdef FIXED
        break;
#endif
        /* fall through */
    case DUP: /* ROOT CAUSE */
        a = pop(m);
        push(m, a); /* ROOT CAUSE */
        push(m, a); /* ROOT CAUSE */
        break;
    case STORE:
        m->memory[i->arg] = pop(m);
        break;
    case LOAD:
        push(m, m->memory[i->arg]);
        break;
    case JUMP_IF:
        if (pop(m))
            m->pc = i->arg;
        break;
    case PRINT:
        m->printed += pop(m);
        break;
    case HALT:
        return 0;
    }
    return 1;
}

int main(void)
{
    /* counts down from 30, adding; then takes the sum from 1,000 */
    static const struct insn program[] = {
        {PUSH, 0},  {STORE, 0},   {PUSH, 30}, {DUP, 0}, {LOAD, 0},    {ADD, 0},
        {STORE, 0}, {PUSH, 1},    {SUB, 0},   {DUP, 0}, {JUMP_IF, 3}, {STORE, 1},
        {LOAD, 0},  {PUSH, 1000}, {SWAP, 0},  {SUB, 0}, {PRINT, 0},   {HALT, 0},
    };
    struct machine m = {0};
    while (step(&m, &program[m.pc]))
        continue;
    printf("%ld after %d steps\n", m.printed, m.steps);
    assert(m.printed == 1000 - 465);
    return 0;
}
