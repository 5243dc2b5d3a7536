/* lookahead.c - read the target's code for the translator.
 *
 * SPDX-License-Identifier: MIT
 *
 * A tick may overwrite arithmetic flags that no instruction reads before writing them. The
 * translator finds out by looking a few instructions ahead, also into other pages: the translation
 * then depends on them, and a change to any of them drops it.
 */
#include "engine/core/job.h"
#include "engine/rt/rt.h"

/* Decodes the instruction at pc, fetching across a page end where needed. 0, or -1 with *fault. */
static int read_insn(const struct code_source *src, gaddr pc, struct insn *in, gaddr *fault)
{
    uint8_t bytes[INSN_MAX_BYTES];
    size_t n = src->fetch(pc, bytes, sizeof bytes);
    *fault = pc;
    if (!n)
        return -1;
    if (n < sizeof bytes && insn_decode(in, pc, bytes, n) == 0 && in->kind != INSN_ILLEGAL)
        return 0;
    if (n < sizeof bytes) {
        size_t more = src->fetch(pc + n, bytes + n, sizeof bytes - n);
        *fault = pc + n;
        n += more;
    }
    return insn_decode(in, pc, bytes, n);
}

int lookahead_block(struct job *j, gaddr pc, gaddr *fault)
{
    gaddr page = PAGE_DOWN(pc), at = pc;
    j->count = 0;
    while (j->count < (j->opt->one ? 1 : MAX_INSNS)) {
        struct insn *in = &j->insn[j->count];
        if (PAGE_DOWN(at) != page)
            break;
        if (read_insn(j->src, at, in, fault) < 0)
            return j->count ? 0 : -1; /* the fault belongs to the next block */
        j->count++;
        at += in->len;
        if (insn_ends_block(in))
            break;
    }
    return 0;
}

static bool depends_on(const struct job *j, gaddr page)
{
    for (int i = 0; i < j->pages; i++)
        if (j->page[i] == page)
            return true;
    return false;
}

bool lookahead_own(struct job *j, gaddr pc)
{
    if (depends_on(j, PAGE_DOWN(pc)))
        return true;
    if (j->pages == j->pages_most)
        return false;
    j->page[j->pages++] = PAGE_DOWN(pc);
    return true;
}

static bool may_depend(struct job *j, gaddr pc)
{
    return depends_on(j, PAGE_DOWN(pc)) || (j->src->steady(pc) && lookahead_own(j, pc));
}

uint32_t lookahead_live(struct job *j, gaddr pc)
{
    uint32_t undecided = FLAGS_ARITH, live = 0;
    if (j->opt->exact_flags)
        return FLAGS_ARITH;
    for (int i = 0; i < LOOKAHEAD && undecided; i++) {
        struct insn in;
        gaddr fault;
        if (!may_depend(j, pc) || read_insn(j->src, pc, &in, &fault) < 0 ||
            !may_depend(j, pc + in.len - 1))
            break;
        live |= in.flags_read & undecided;
        undecided &= ~(in.flags_kill | in.flags_read);
        pc += in.len;
        if (in.kind == INSN_JMP || in.kind == INSN_CALL)
            pc = in.target;
        else if (in.kind != INSN_PLAIN)
            break;
    }
    return live | undecided;
}

static uint32_t live_after(struct job *j)
{
    const struct insn *last = &j->insn[j->count - 1];
    switch (last->kind) {
    case INSN_JMP:
    case INSN_CALL:
        return lookahead_live(j, last->target);
    case INSN_PLAIN:
        return lookahead_live(j, last->pc + last->len);
    default:
        return FLAGS_ARITH;
    }
}

uint32_t lookahead_live_in(struct job *j)
{
    uint32_t undecided = FLAGS_ARITH, live = 0;
    if (j->opt->exact_flags || j->opt->one)
        return FLAGS_ARITH;
    for (int i = 0; i < j->count && undecided; i++) {
        live |= j->insn[i].flags_read & undecided;
        undecided &= ~(j->insn[i].flags_kill | j->insn[i].flags_read);
    }
    return live | (undecided ? undecided & live_after(j) : 0);
}
