/* defusestate.c - a machine state as one number per location. SPDX-License-Identifier: MIT */
#include "defusestate.h"

#include <stdlib.h>
#include <string.h>

static const struct cpu *have;

void defusestate_init(const struct cpu *cpu)
{
    have = cpu;
}

bool defusestate_present(unsigned loc)
{
    if (loc == LOC_GS_BASE)
        return false;
    if (loc < LOC_VEC || loc >= LOC_X87 || have->avx512)
        return true;
    if (loc >= LOC_MASK)
        return false;
    unsigned reg = (loc - LOC_VEC) / LOC_VEC_BYTES, byte = (loc - LOC_VEC) % LOC_VEC_BYTES;
    return reg < 16 && byte < (have->avx ? 32 : 16);
}

static const struct {
    uint16_t loc;
    uint8_t bit;
} flag_bits[] = {
    {LOC_CF, 0}, {LOC_PF, 2},  {LOC_AF, 4},  {LOC_ZF, 6},
    {LOC_SF, 7}, {LOC_OF, 11}, {LOC_DF, 10}, {LOC_FLAGS_REST, 21},
};
enum { FLAG_BITS = sizeof flag_bits / sizeof *flag_bits };

static uint8_t digest(uint64_t v)
{
    v ^= v >> 32;
    v ^= v >> 16;
    return (uint8_t)(v ^ v >> 8);
}

/* The FXSAVE image counts from TOP. */
static void x87_from(const uint8_t fx[512], uint8_t *v)
{
    uint16_t control, status;
    uint32_t mxcsr;
    memcpy(&control, fx, 2);
    memcpy(&status, fx + 2, 2);
    memcpy(&mxcsr, fx + 24, 4);
    unsigned top = status >> 11 & 7;
    for (unsigned i = 0; i < 8; i++) {
        memcpy(v + loc_x87(i), fx + 32 + 16 * ((i - top) & 7), LOC_X87_BYTES);
        v[LOC_X87_TAG + i] = fx[4] >> i & 1;
    }
    v[LOC_C0] = status >> 8 & 1;
    v[LOC_C1] = status >> 9 & 1;
    v[LOC_C2] = status >> 10 & 1;
    v[LOC_C3] = status >> 14 & 1;
    v[LOC_X87_TOP] = (uint8_t)top;
    v[LOC_X87_CONTROL] = control >> 8 & 0x1f;
    v[LOC_X87_STATUS] = status & 0x7f;
    v[LOC_MXCSR_CONTROL] = (uint8_t)((mxcsr >> 12 & 0xe) | (mxcsr >> 6 & 1));
    v[LOC_MXCSR_STATUS] = mxcsr & 0x3f;
}

static void x87_to(const uint8_t *v, uint8_t fx[512])
{
    unsigned top = v[LOC_X87_TOP];
    uint16_t control = (uint16_t)(v[LOC_X87_CONTROL] << 8 | 0x7f);
    uint16_t status = (uint16_t)(v[LOC_X87_STATUS] | v[LOC_C0] << 8 | v[LOC_C1] << 9 |
                                 v[LOC_C2] << 10 | top << 11 | v[LOC_C3] << 14);
    uint32_t mxcsr = 0x1f80u | (v[LOC_MXCSR_CONTROL] & 0xeu) << 12 |
                     (v[LOC_MXCSR_CONTROL] & 1u) << 6 | v[LOC_MXCSR_STATUS];
    fx[4] = 0;
    for (unsigned i = 0; i < 8; i++) {
        memcpy(fx + 32 + 16 * ((i - top) & 7), v + loc_x87(i), LOC_X87_BYTES);
        fx[4] |= (uint8_t)(v[LOC_X87_TAG + i] << i);
    }
    memcpy(fx, &control, 2);
    memcpy(fx + 2, &status, 2);
    memcpy(fx + 24, &mxcsr, 4);
}

void defusestate_from(const struct machine *m, struct flat *to)
{
    memset(to, 0, sizeof *to);
    memcpy(to->v + LOC_GPR, m->gpr, sizeof m->gpr);
    memcpy(to->v + LOC_VEC, m->zmm, sizeof m->zmm);
    for (unsigned i = 0; i < 16 && !have->avx; i++)
        memcpy(to->v + loc_vec(i), m->fx + 160 + 16 * i, 16);
    memcpy(to->v + LOC_MASK, m->k, sizeof m->k);
    for (unsigned i = 0; i < FLAG_BITS; i++)
        to->v[flag_bits[i].loc] = m->flags >> flag_bits[i].bit & 1;
    x87_from(m->fx, to->v);
    to->fsbase = m->fsbase;
    to->v[LOC_FS_BASE] = digest(m->fsbase);
}

void defusestate_to(const struct flat *from, const struct machine *like, struct machine *m)
{
    *m = *like;
    memcpy(m->gpr, from->v + LOC_GPR, sizeof m->gpr);
    memcpy(m->zmm, from->v + LOC_VEC, sizeof m->zmm);
    for (unsigned i = 0; i < 16; i++)
        memcpy(m->fx + 160 + 16 * i, from->v + loc_vec(i), 16);
    memcpy(m->k, from->v + LOC_MASK, sizeof m->k);
    m->flags = 2;
    for (unsigned i = 0; i < FLAG_BITS; i++)
        m->flags |= (uint64_t)from->v[flag_bits[i].loc] << flag_bits[i].bit;
    x87_to(from->v, m->fx);
    m->fsbase = from->fsbase;
}

void defusestate_change(struct rng *r, struct flat *s, unsigned loc)
{
    static const uint8_t width[LOC_COUNT - LOC_X87_TAG] = {
        [LOC_X87_TOP - LOC_X87_TAG] = 3,      [LOC_X87_CONTROL - LOC_X87_TAG] = 5,
        [LOC_X87_STATUS - LOC_X87_TAG] = 7,   [LOC_MXCSR_CONTROL - LOC_X87_TAG] = 4,
        [LOC_MXCSR_STATUS - LOC_X87_TAG] = 6,
    };
    unsigned bits = loc < LOC_X87_TAG ? 8 : width[loc - LOC_X87_TAG];
    if (loc == LOC_FS_BASE) {
        s->fsbase = (s->fsbase ^ 64u << rng_below(r, 4));
        s->v[loc] = digest(s->fsbase);
        return;
    }
    bits = bits ? bits : 1;
    uint8_t flip = (uint8_t)(rng_u64(r) & ((1u << bits) - 1));
    s->v[loc] ^= flip ? flip : 1;
}

void defusestate_save(uint64_t slot, struct image *to)
{
    struct region regions[SANDBOX_REGIONS];
    sandbox_regions(slot, regions);
    to->bytes = 0;
    for (int i = 0; i < SANDBOX_REGIONS; i++) {
        if (to->bytes + regions[i].size > IMAGE_MOST)
            abort();
        memcpy(to->at + to->bytes, (void *)regions[i].base, regions[i].size);
        to->bytes += regions[i].size;
    }
}

void defusestate_restore(uint64_t slot, const struct image *from)
{
    struct region regions[SANDBOX_REGIONS];
    size_t at = 0;
    sandbox_regions(slot, regions);
    for (int i = 0; i < SANDBOX_REGIONS; i++) {
        memcpy((void *)regions[i].base, from->at + at, regions[i].size);
        at += regions[i].size;
    }
}

long defusestate_offset(uint64_t slot, uint64_t addr)
{
    struct region regions[SANDBOX_REGIONS];
    size_t at = 0;
    sandbox_regions(slot, regions);
    for (int i = 0; i < SANDBOX_REGIONS; i++) {
        if (addr - regions[i].base < regions[i].size)
            return (long)(at + (addr - regions[i].base));
        at += regions[i].size;
    }
    return -1;
}

uint64_t defusestate_address(uint64_t slot, size_t offset)
{
    struct region regions[SANDBOX_REGIONS];
    sandbox_regions(slot, regions);
    for (int i = 0; i < SANDBOX_REGIONS; i++) {
        if (offset < regions[i].size)
            return regions[i].base + offset;
        offset -= regions[i].size;
    }
    return 0;
}
