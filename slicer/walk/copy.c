/* copy.c - instructions that only carry bytes from one place to another.
 *
 * SPDX-License-Identifier: MIT
 *
 * Which instructions may be copies is a table (copies.def); what they copy follows from their
 * def/use sets: one place that is written, one that is read.
 */
#include "slicer/walk/copy.h"

static const bool may_copy[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define COPY(mnemonic) [ZYDIS_MNEMONIC_##mnemonic] = true,
#include "slicer/walk/copies.def"
#undef COPY
};

/* A repeated copy whose source and destination do not overlap. */
static bool repeated(const struct copied *c, struct copy *out)
{
    *out = (struct copy){.to = c->to,
                         .from = c->from,
                         .to_bytes = c->bytes,
                         .from_bytes = c->bytes,
                         .to_memory = true,
                         .from_memory = true};
    return c->bytes && !copied_overlaps(c);
}

/* The one access that reads, or writes. 0: there is none, -1: several, or one without a place. */
static int one_access(const struct forward_at *n, bool write, uint64_t *at, uint64_t *bytes)
{
    int found = 0;
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct defuse_access *a = &n->du->access[k];
        if (!(write ? a->at.write : a->at.read))
            continue;
        if (found || a->may || a->at.repeats || !forward_extent(n, k, at, bytes))
            return -1;
        found = 1;
    }
    return found;
}

/* The registers that it reads for their values; NULL: none, or several. */
static const struct loc_span *one_use(const struct defuse *du)
{
    const struct loc_span *found = NULL;
    for (unsigned k = 0; k < du->uses; k++) {
        if (du->use[k].kind != DEFUSE_VALUE)
            continue;
        if (found)
            return NULL;
        found = &du->use[k];
    }
    return found;
}

static bool keeps(const struct defuse *du)
{
    return du->uses && du->use[du->uses - 1].kind == DEFUSE_KEPT;
}

/* Is it in one register? */
static bool is_one(const struct loc_span *s)
{
    if (s->first < LOC_VEC)
        return s->first % LOC_GPR_BYTES + s->count <= LOC_GPR_BYTES;
    return s->first < LOC_MASK && (s->first - LOC_VEC) % LOC_VEC_BYTES + s->count <= LOC_VEC_BYTES;
}

static bool is_string(const struct forward_at *n)
{
    return n->du->accesses && n->du->access[0].at.shape == ACCESS_STRING;
}

static bool find_source(const struct forward_at *n, struct copy *out)
{
    int reads = one_access(n, false, &out->from, &out->from_bytes);
    const struct loc_span *use = one_use(n->du);
    bool values = n->du->uses && n->du->use[0].kind == DEFUSE_VALUE;
    out->from_memory = reads == 1;
    if (reads)
        return reads == 1 && (!values || is_string(n));
    bool pointer = n->in->mnemonic == ZYDIS_MNEMONIC_PUSH && use && use->first == loc_gpr(RSP);
    if (!use || !is_one(use) || pointer) /* a push of a constant uses the stack pointer alone */
        return false;
    out->from = use->first;
    out->from_bytes = use->count;
    return true;
}

static bool find_target(const struct forward_at *n, struct copy *out)
{
    int writes = one_access(n, true, &out->to, &out->to_bytes);
    out->to_memory = writes == 1;
    if (writes)
        return writes == 1;
    if (n->du->defs != 1 || !is_one(&n->du->def[0]))
        return false;
    out->to = n->du->def[0].first;
    out->to_bytes = n->du->def[0].count;
    return true;
}

bool copy_of(const struct forward_at *n, struct copy *out)
{
    struct copied copied;
    if (n->call || n->odd || n->in->mnemonic > ZYDIS_MNEMONIC_MAX_VALUE ||
        !may_copy[n->in->mnemonic])
        return false;
    if (forward_copies(n, &copied))
        return repeated(&copied, out);
    return !keeps(n->du) && find_source(n, out) && find_target(n, out) && out->from_bytes &&
           out->from_bytes <= out->to_bytes;
}

bool copy_source(const struct copy *c, uint64_t *at, uint64_t *bytes)
{
    uint64_t first = *at > c->to ? *at - c->to : 0;
    uint64_t end = *at + *bytes > c->to ? *at + *bytes - c->to : 0;
    end = end < c->to_bytes ? end : c->to_bytes;
    if (first >= end)
        return false;
    first = first < c->from_bytes ? first : c->from_bytes - 1;
    end = end < c->from_bytes ? end : c->from_bytes;
    *at = c->from + first;
    *bytes = end > first ? end - first : 1;
    return true;
}
