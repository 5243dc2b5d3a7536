/* loc.c - sets and names of locations. SPDX-License-Identifier: MIT */
#include "engine/x86/loc.h"

#include "engine/rt/rt.h"

void loc_set_add_many(struct loc_set *set, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        set->bits[i / 64] |= 1ull << i % 64;
}

void loc_set_remove_many(struct loc_set *set, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        set->bits[i / 64] &= ~(1ull << i % 64);
}

struct loc_span loc_set_next(const struct loc_set *set, unsigned from)
{
    while (from < LOC_COUNT && !loc_set_has(set, from))
        from += set->bits[from / 64] >> from % 64 ? 1 : 64 - from % 64;
    unsigned end = from;
    while (end < LOC_COUNT && loc_set_has(set, end))
        end++;
    return (struct loc_span){.first = from & 0xfff, .count = (end - from) & 0xfff};
}

static void name_part(char *out, size_t size, const char *reg, unsigned from, unsigned count)
{
    if (count == 1)
        rt_format(out, size, "%s[%u]", reg, from);
    else
        rt_format(out, size, "%s[%u..%u]", reg, from, from + count - 1);
}

/* Parts of a general register that have a name of their own. */
static void name_gpr(unsigned reg, unsigned from, unsigned count, char *out, size_t size)
{
    static const char stem[8][3] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
    char whole[8];
    if (reg < 8)
        rt_format(whole, sizeof whole, "r%s", stem[reg]);
    else
        rt_format(whole, sizeof whole, "r%u", reg);
    if (from == 0 && count == 8)
        rt_format(out, size, "%s", whole);
    else if (from == 0 && (count == 4 || count == 2) && reg < 8)
        rt_format(out, size, "%s%s", count == 4 ? "e" : "", stem[reg]);
    else if (from == 0 && (count == 4 || count == 2 || count == 1) && reg >= 8)
        rt_format(out, size, "%s%s", whole, count == 4 ? "d" : count == 2 ? "w" : "b");
    else if (from == 0 && count == 1 && reg < 4)
        rt_format(out, size, "%cl", stem[reg][0]);
    else if (from == 0 && count == 1)
        rt_format(out, size, "%sl", stem[reg]);
    else if (from == 1 && count == 1 && reg < 4)
        rt_format(out, size, "%ch", stem[reg][0]);
    else
        name_part(out, size, whole, from, count);
}

static void name_vec(unsigned reg, unsigned from, unsigned count, char *out, size_t size)
{
    char whole[8];
    unsigned end = from + count;
    rt_format(whole, sizeof whole, "%cmm%u", end <= 16 ? 'x' : end <= 32 ? 'y' : 'z', reg);
    if (from == 0 && (count == 16 || count == 32 || count == 64))
        rt_format(out, size, "%s", whole);
    else
        name_part(out, size, whole, from, count);
}

static void name_bytes(const char *stem, unsigned reg, unsigned from, unsigned count,
                       unsigned whole, char *out, size_t size)
{
    char name[8];
    rt_format(name, sizeof name, "%s%u", stem, reg);
    if (from == 0 && count == whole)
        rt_format(out, size, "%s", name);
    else
        name_part(out, size, name, from, count);
}

static const char *single(unsigned loc)
{
    static const char *const name[LOC_COUNT - LOC_CF] = {
        [LOC_CF - LOC_CF] = "CF",
        [LOC_PF - LOC_CF] = "PF",
        [LOC_AF - LOC_CF] = "AF",
        [LOC_ZF - LOC_CF] = "ZF",
        [LOC_SF - LOC_CF] = "SF",
        [LOC_OF - LOC_CF] = "OF",
        [LOC_DF - LOC_CF] = "DF",
        [LOC_FLAGS_REST - LOC_CF] = "other flags",
        [LOC_C0 - LOC_CF] = "C0",
        [LOC_C1 - LOC_CF] = "C1",
        [LOC_C2 - LOC_CF] = "C2",
        [LOC_C3 - LOC_CF] = "C3",
        [LOC_X87_TOP - LOC_CF] = "x87 TOP",
        [LOC_X87_CONTROL - LOC_CF] = "x87 control",
        [LOC_X87_STATUS - LOC_CF] = "x87 exceptions",
        [LOC_MXCSR_CONTROL - LOC_CF] = "mxcsr control",
        [LOC_MXCSR_STATUS - LOC_CF] = "mxcsr exceptions",
        [LOC_FS_BASE - LOC_CF] = "fs base",
        [LOC_GS_BASE - LOC_CF] = "gs base",
    };
    return name[loc - LOC_CF];
}

unsigned loc_name(struct loc_span span, char *out, size_t size)
{
    static const struct {
        unsigned base, end, bytes;
    } file[] = {
        {LOC_GPR, LOC_VEC, LOC_GPR_BYTES},
        {LOC_VEC, LOC_MASK, LOC_VEC_BYTES},
        {LOC_MASK, LOC_X87, LOC_MASK_BYTES},
        {LOC_X87, LOC_X87_TAG, LOC_X87_BYTES},
        {LOC_X87_TAG, LOC_CF, 1},
    };
    unsigned i = 0;
    while (i < ARRAY_LEN(file) && span.first >= file[i].end)
        i++;
    if (i == ARRAY_LEN(file)) {
        rt_format(out, size, "%s", span.first < LOC_COUNT ? single(span.first) : "?");
        return 1;
    }
    unsigned bytes = file[i].bytes, reg = (span.first - file[i].base) / bytes;
    unsigned from = (span.first - file[i].base) % bytes;
    unsigned count = span.count < bytes - from ? span.count : bytes - from;
    switch (i) {
    case 0:
        name_gpr(reg, from, count, out, size);
        break;
    case 1:
        name_vec(reg, from, count, out, size);
        break;
    case 2:
        name_bytes("k", reg, from, count, bytes, out, size);
        break;
    case 3:
        if (from == 0 && count == 8)
            rt_format(out, size, "mm%u", reg);
        else
            name_bytes("fpr", reg, from, count, bytes, out, size);
        break;
    default:
        rt_format(out, size, "tag%u", reg);
    }
    return count;
}
