/* access.c - what instructions do that def/use sets do not tell. SPDX-License-Identifier: MIT */
#include "trace/access.h"

#include "trace/classes.h"

gaddr access_extent(const struct code_block *b, const struct plan_access *a, const uint64_t *values,
                    uint64_t *bytes)
{
    gaddr addr = code_address(a, values);
    *bytes = a->mem.bytes;
    if (!code_is_repeated(a))
        return addr;
    int64_t n = code_repeats(b, a, values);
    *bytes = (uint64_t)(n < 0 ? -n : n) * a->mem.bytes;
    return n < 0 ? addr + a->mem.bytes - *bytes : addr;
}

/* What is left out defines registers, and nothing is known of what it uses. */
static const struct defuse *left_out(struct defuse *out, uint64_t classes)
{
    struct loc_set set;
    classes_locations(classes, &set);
    *out = (struct defuse){0};
    for (struct loc_span span = loc_set_next(&set, 0); span.count && out->defs < DEFUSE_MOST_DEFS;
         span = loc_set_next(&set, span.first + span.count))
        out->def[out->defs++] = span;
    return out;
}

/* A system call's sets, without what it does not use. */
const struct defuse *access_call_defuse(struct defuse room[KINDS_ARGS], const struct defuse *du,
                                        const struct flow_call *call)
{
    if (flow_is_left_out(call))
        return left_out(room, call->arg[1]);
    static const uint8_t arg[KINDS_ARGS] = {RDI, RSI, RDX, R10, R8, R9};
    unsigned args = kinds_of(call->nr).args;
    struct defuse *out = &room[args];
    struct loc_set uses = {{0}};
    if (args == KINDS_ARGS)
        return du;
    for (unsigned i = 0; i < du->uses; i++)
        loc_set_add(&uses, du->use[i].first, du->use[i].count);
    for (unsigned i = args; i < KINDS_ARGS; i++)
        loc_set_remove(&uses, loc_gpr(arg[i]), LOC_GPR_BYTES);
    *out = *du;
    out->uses = 0;
    for (struct loc_span span = loc_set_next(&uses, 0); span.count;
         span = loc_set_next(&uses, span.first + span.count)) {
        span.kind = DEFUSE_VALUE;
        out->use[out->uses++] = span;
    }
    return out;
}

bool access_is_odd(const struct plan_access *a)
{
    return a->mem.shape == ACCESS_VECTOR ||
           (a->slot == PLAN_NONE && a->count == PLAN_NONE && a->add == 0);
}

static bool is_copy(const struct code_block *b, unsigned i)
{
    const struct code_insn *ci = &b->insn[i];
    switch (ci->in.mnemonic) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
        return ci->accesses == 2 && code_is_repeated(&b->access[ci->access_at]);
    default:
        return false;
    }
}

bool access_copies(const struct code_block *b, unsigned i, const uint64_t *values,
                   struct copied *out)
{
    if (!is_copy(b, i))
        return false;
    const struct plan_access *a = &b->access[b->insn[i].access_at];
    unsigned to = a->mem.write ? 0 : 1;
    out->element = a->mem.bytes;
    out->down = code_repeats(b, a, values) < 0;
    out->to = access_extent(b, &a[to], values, &out->bytes);
    out->from = access_extent(b, &a[1 - to], values, &out->bytes);
    return true;
}
