/* classes.c - registers, a bit for each. SPDX-License-Identifier: MIT */
#include "trace/classes.h"

#include <string.h>

#include "pinball/record_gap.h"
#include "trace/state.h"

_Static_assert((int)GAP_VECTORS == (int)GPR_COUNT && GAP_MASKS == GAP_VECTORS + (int)LOC_VECS &&
                   CLASSES_ALL == (1ull << GAP_REGISTERS) - 1,
               "a bit for each");

static unsigned class_of(unsigned loc)
{
    return loc < LOC_VEC    ? loc / LOC_GPR_BYTES
           : loc < LOC_MASK ? GAP_VECTORS + (loc - LOC_VEC) / LOC_VEC_BYTES
           : loc < LOC_X87  ? (unsigned)GAP_MASKS
           : loc < LOC_CF   ? (unsigned)GAP_X87
           : loc < LOC_C0   ? (unsigned)GAP_FLAGS
                            : (unsigned)GAP_REST;
}

static uint64_t classes_of_span(struct loc_span s)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < s.count; i++)
        all |= 1ull << class_of(s.first + i);
    return all;
}

uint64_t classes_of(const struct loc_set *set)
{
    uint64_t all = 0;
    for (struct loc_span s = loc_set_next(set, 0); s.count;
         s = loc_set_next(set, s.first + s.count))
        all |= classes_of_span(s);
    return all;
}

uint64_t classes_defined(const struct code_block *b, unsigned first, unsigned end)
{
    static const unsigned flags[] = {0, DEFUSE_FRAME, DEFUSE_STACK_POINTER};
    uint64_t all = 0;
    for (unsigned i = first; i < end; i++) {
        const struct insn *in = &b->insn[i].in;
        struct insn_operands ops;
        struct defuse du;
        if (in->kind == INSN_ILLEGAL)
            continue;
        insn_operands(in, &ops);
        for (unsigned k = 0; k < sizeof flags / sizeof *flags; k++) {
            struct defuse_how how = DEFUSE_HOW;
            how.flags = flags[k];
            memset(&du, 0, sizeof du);
            defuse_of(in, &ops, &how, &du);
            for (unsigned n = 0; n < du.defs; n++)
                all |= classes_of_span(du.def[n]);
        }
        if (state_is(in))
            all |= classes_of_span((struct loc_span){.first = STATE_FIRST, .count = STATE_COUNT});
    }
    return all;
}

void classes_locations(uint64_t classes, struct loc_set *out)
{
    memset(out, 0, sizeof *out);
    for (unsigned loc = 0; loc < LOC_COUNT; loc++)
        if (classes >> class_of(loc) & 1)
            loc_set_add(out, loc, 1);
}
