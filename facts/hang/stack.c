/* stack.c - the calls that a thread is in. SPDX-License-Identifier: MIT */
#include "facts/hang/stack.h"

#include "source/frame.h"

gaddr stack_line_pc(const struct stack_frame *frame, size_t i)
{
    return frame[i].reg[STACK_PC] - (i ? 1 : 0);
}

static bool read_word(const struct stack_memory *m, gaddr addr, uint64_t *out)
{
    return m->read(m->arg, addr, out, sizeof *out) == sizeof *out;
}

/* The frame around frame[i]. False: there is none, or it is not known. */
static bool unwind_one(struct study *s, const struct stack_memory *m, struct stack_frame *frame,
                       size_t i)
{
    /* What a function leaves as it was, if it does not save it. */
    enum { KEPT = 1 << 3 | 1 << STACK_RBP | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15 };
    struct stack_frame *f = &frame[i];
    const gaddr pc = stack_line_pc(frame, i);
    struct stack_frame out = {.known = f->known & KEPT};
    struct source_cfa rule;
    int64_t offset;
    if (!source_cfa(s->source, pc, &rule) || rule.reg >= STACK_PC || !(f->known >> rule.reg & 1))
        return false;
    f->cfa = f->reg[rule.reg] + (uint64_t)rule.offset;
    for (unsigned r = 0; r < STACK_REGISTERS; r++) {
        bool saved = source_saved(s->source, pc, r, &offset);
        out.reg[r] = f->reg[r];
        if (saved && read_word(m, f->cfa + (uint64_t)offset, &out.reg[r]))
            out.known |= 1u << r;
        else if (saved)
            out.known &= ~(1u << r);
    }
    out.reg[STACK_RSP] = f->cfa;
    out.known |= 1u << STACK_RSP;
    if (!(out.known >> STACK_PC & 1) || !out.reg[STACK_PC])
        return false;
    frame[i + 1] = out;
    return true;
}

/* The registers in DWARF's order. */
struct stack_frame stack_innermost(const struct program_registers *r)
{
    static const uint8_t order[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP,
                                    R8,  R9,  R10, R11, R12, R13, R14, R15};
    struct stack_frame f = {.known = (1u << STACK_REGISTERS) - 1};
    for (unsigned i = 0; i < STACK_PC; i++)
        f.reg[i] = r->gpr[order[i]];
    f.reg[STACK_PC] = r->rip;
    return f;
}

size_t stack_unwind(struct study *s, const struct stack_memory *memory, struct stack_frame *frame,
                    size_t room)
{
    size_t count = 1;
    while (count < room && unwind_one(s, memory, frame, count - 1) &&
           frame[count - 1].cfa > (count > 1 ? frame[count - 2].cfa : 0))
        count++;
    return count;
}

size_t stack_own(struct study *s, const struct stack_frame *frame, size_t count)
{
    struct source_line l;
    for (size_t i = 0; i < count; i++)
        if (study_own(s, stack_line_pc(frame, i), &l))
            return i;
    return count;
}
