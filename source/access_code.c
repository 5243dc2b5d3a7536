/* access_code.c - the code of a function, to be gone through backwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * It is decoded once from its begin, which marks where instructions are and where jumps lead to.
 */
#include <stdlib.h>

#include "source/access_int.h"
#include "source/module.h"
#include "source/source_int.h"

enum { CODE_MOST = 1 << 20, BEGINS = 1, TARGET = 2 };

static void mark_target(struct access_code *c, gaddr target)
{
    if (target >= c->start && target < c->end)
        c->mark[target - c->start] |= TARGET;
}

/* Where a line begins, a jump through a table may lead. */
static void mark_lines(struct source *s, struct access_code *c)
{
    uint64_t at;
    const struct source_mod *m = source_module_at(s, c->start, &at);
    for (size_t i = 0; m && i < m->rows; i++)
        if (m->row[i].addr >= at && m->row[i].addr - at < c->end - c->start)
            c->mark[m->row[i].addr - at] |= TARGET;
}

static void mark_all(struct source *s, struct access_code *c)
{
    bool tables = false;
    for (gaddr pc = c->start; pc < c->end;) {
        struct insn in;
        if (insn_decode(&in, pc, c->byte + (pc - c->start), c->end - pc))
            break;
        c->mark[pc - c->start] |= BEGINS;
        if (in.kind == INSN_JMP || in.kind == INSN_JCC || in.kind == INSN_JCXZ)
            mark_target(c, in.target);
        tables = tables || in.kind == INSN_JMP_IND;
        pc += in.len;
    }
    if (tables)
        mark_lines(s, c);
}

bool access_code_read(struct source *s, gaddr pc, struct access_code *out)
{
    uint64_t at;
    struct source_mod *m = source_module_at(s, pc, &at);
    *out = (struct access_code){0};
    if (!m || !source_function(s, pc, &out->start, &out->end) || out->end <= out->start ||
        out->end - out->start > CODE_MOST)
        return false;
    size_t bytes = out->end - out->start;
    out->byte = malloc(bytes);
    out->mark = calloc(bytes, 1);
    if (!out->byte || !out->mark ||
        source_elf_bytes(m, at - (pc - out->start), out->byte, bytes) != bytes) {
        access_code_free(out);
        return false;
    }
    insn_init();
    mark_all(s, out);
    return true;
}

void access_code_free(struct access_code *c)
{
    free(c->byte);
    free(c->mark);
    *c = (struct access_code){0};
}

bool access_code_at(const struct access_code *c, gaddr pc, struct insn *in)
{
    return pc >= c->start && pc < c->end && (c->mark[pc - c->start] & BEGINS) &&
           insn_decode(in, pc, c->byte + (pc - c->start), c->end - pc) == 0;
}

bool access_code_before(const struct access_code *c, gaddr pc, struct insn *in)
{
    if (pc <= c->start || pc >= c->end || (c->mark[pc - c->start] & TARGET))
        return false;
    for (gaddr at = pc - 1; at >= c->start && pc - at <= INSN_MAX_BYTES; at--)
        if (c->mark[at - c->start] & BEGINS)
            return access_code_at(c, at, in) && at + in->len == pc;
    return false;
}
