/* level.c - a CPU that the target takes for an older one. SPDX-License-Identifier: MIT */
#include "engine/os/level.h"

#include "engine/core/engine.h"
#include "engine/os/fpstate.h"
#include "engine/rt/rt.h"

enum { EAX, EBX, ECX, EDX, ANY_SUB = 0xff, STATE_V2 = 3, STATE_V3 = 7 };

/* Bits that an older CPU does not have: those below `level`. */
static const struct {
    uint32_t leaf;
    uint8_t sub, reg, level;
    uint32_t bits;
} rows[] = {
    {1, ANY_SUB, ECX, 3, 1u << 12 | 1u << 22 | 1u << 28 | 1u << 29}, /* fma, movbe, avx, f16c */
    {7, 0, EBX, 3, 1u << 3 | 1u << 5 | 1u << 8 | 1u << 29},          /* bmi1, avx2, bmi2, sha */
    {0x80000001, ANY_SUB, ECX, 3, 1u << 5 | 1u << 11 | 1u << 16 | 1u << 21}, /* lzcnt, AMD's own */
    /* mpx, AVX-512 */
    {7, 0, EBX, 4,
     1u << 14 | 1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 |
         1u << 31},
    /* AVX-512, protection keys, waitpkg, shadow stacks, vector forms of gf, aes, clmul */
    {7, 0, ECX, 4,
     1u << 1 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 9 | 1u << 10 |
         1u << 11 | 1u << 12 | 1u << 14},
    {7, 0, EDX, 4, 1u << 2 | 1u << 3 | 1u << 8 | 1u << 23}, /* AVX-512 */
    {7, 1, EAX, 4, ~0u},
    {7, 1, EDX, 4, ~0u},
    {0x24, ANY_SUB, EAX, 4, ~0u}, /* AVX10 */
    {0x24, ANY_SUB, EBX, 4, ~0u},
};

static uint64_t level;

void level_set(uint64_t to)
{
    if (to && to != 2 && to != 3)
        rt_die("engine option cpu=%lu: not 2 or 3", (unsigned long)to);
    level = to;
    if (!level)
        return;
    fpstate_limit(level == 2 ? STATE_V2 : STATE_V3);
    engine.rorx = engine.rorx && level > 2;
}

void level_hide(uint32_t leaf, uint32_t sub, uint32_t r[4])
{
    for (size_t i = 0; level && i < ARRAY_LEN(rows); i++)
        if (rows[i].leaf == leaf && (rows[i].sub == ANY_SUB || rows[i].sub == sub) &&
            level < rows[i].level)
            r[rows[i].reg] &= ~rows[i].bits;
}
