/* fpstate.c - the extended registers in memory. SPDX-License-Identifier: MIT */
#include "engine/os/fpstate.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/rt/rt.h"

enum {
    COMPONENTS = 20,
    LEGACY_BYTES = 512,
    HEADER_BYTES = 64,
    FIRST_EXTENDED = LEGACY_BYTES + HEADER_BYTES
};
enum {
    AT_FCW = 0,
    AT_FSW = 2,
    AT_FOP = 6,
    AT_FIP = 8,
    AT_FDP = 16,
    AT_MXCSR = 24,
    AT_MXCSR_MASK = 28,
    AT_ST = 32,
    AT_XMM = 160,
    AT_BV = 512
};

#define COMPACT_BIT (1ull << 63)

/* Tiles (AMX) are hidden from the target: the kernel gives them only to a process that asks, and
 * reading or writing their data before is an illegal instruction. Signal frames have room for their
 * configuration all the same, as natively; nothing is ever in it. */
#define TILE_CONFIG (1ull << 17)
#define TILE_DATA   (1ull << 18)
#define HIDDEN      (TILE_CONFIG | TILE_DATA)

static uint64_t features;      /* XCR0, as signal frames have it: less TILE_DATA */
static uint64_t limit = ~0ull; /* components that the target may know of: level.h */
static uint32_t mxcsr_mask;    /* bits that this CPU has in MXCSR */
static struct {
    uint32_t offset, bytes;
    bool align64;
} component[COMPONENTS];
static uint64_t total_bytes;

static void cpuid(uint32_t leaf, uint32_t sub, uint32_t r[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                     : "a"(leaf), "c"(sub));
}

/* Where the last of some components ends, in the standard format. */
static uint32_t end_of(uint64_t some)
{
    uint32_t end = FIRST_EXTENDED, r[4];
    for (uint32_t i = 2; i < 63; i++) {
        if (!(some >> i & 1))
            continue;
        cpuid(0xd, i, r);
        if (1ull << i == TILE_CONFIG) /* a recording's, which this CPU need not have */
            r[0] = 64, r[1] = 2752;
        if (r[0] + r[1] > end)
            end = r[0] + r[1];
    }
    return end;
}

static void set_features(uint64_t to)
{
    features = to;
    total_bytes = to ? end_of(to) : LEGACY_BYTES;
}

void fpstate_init(void)
{
    uint32_t r[4];
    uint8_t fx[LEGACY_BYTES] __attribute__((aligned(16)));
    __asm__ volatile("fxsave64 (%0)" : : "r"(fx) : "memory");
    memcpy(&mxcsr_mask, fx + AT_MXCSR_MASK, 4);
    if (!mxcsr_mask)
        mxcsr_mask = 0xffbf;
    cpuid(1, 0, r);
    total_bytes = LEGACY_BYTES;
    if (!(r[2] >> 27 & 1))
        return; /* no xsave: fxsave it is */
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    uint64_t enabled = ((uint64_t)hi << 32 | lo) & ~TILE_DATA;
    for (uint32_t i = 2; i < COMPONENTS; i++) {
        if (!((enabled & ~HIDDEN) >> i & 1))
            continue;
        cpuid(0xd, i, r);
        component[i].bytes = r[0];
        component[i].offset = r[1];
        component[i].align64 = r[2] >> 1 & 1;
    }
    set_features(enabled);
    if (total_bytes > XSAVE_BYTES)
        rt_die("engine: this CPU's register state of %u bytes is more than %d",
               (unsigned)total_bytes, XSAVE_BYTES);
}

uint64_t fpstate_bytes(void)
{
    return total_bytes;
}

uint64_t fpstate_features(void)
{
    return features;
}

uint64_t fpstate_visible(void)
{
    return features & ~HIDDEN;
}

void fpstate_limit(uint64_t to)
{
    limit = to;
    set_features(features & to);
}

bool fpstate_restrict(uint64_t to)
{
    if (to & ~(features | TILE_CONFIG))
        return false;
    set_features(to);
    return true;
}

/* What the hardware answered to cpuid, as the target may see it. */
void fpstate_hide(uint32_t leaf, uint32_t sub, uint32_t r[4])
{
    if (leaf == 7 && sub == 0)
        r[3] &= ~(1u << 22 | 1u << 24 | 1u << 25); /* bf16, tiles, int8 */
    if (leaf == 7 && sub == 1) {
        r[0] &= ~(1u << 21); /* fp16 */
        r[3] &= ~(1u << 8);  /* complex */
    }
    const uint64_t hidden = HIDDEN | ~limit;
    bool tiles = leaf == 0x1d || leaf == 0x1e;
    if (tiles || (leaf == 0xd && sub > 1 && sub < 64 && (hidden >> sub & 1)))
        memset(r, 0, 4 * sizeof *r);
    if (leaf != 0xd || sub > 1 || !features)
        return;
    uint32_t all[4];
    cpuid(0xd, 0, all);
    uint64_t there = (uint64_t)all[3] << 32 | all[0];
    if (!(there & hidden))
        return;
    if (sub == 0) {
        r[0] &= (uint32_t)~hidden;
        r[3] &= (uint32_t)(~hidden >> 32);
        r[1] = end_of(fpstate_visible());
        r[2] = end_of(there & ~hidden);
    } else if (~limit) { /* AVX is all that can be left behind the header */
        r[1] = end_of(fpstate_visible());
        r[2] = r[3] = 0;
    } else if (all[1] >
               end_of(there & ~hidden)) { /* they are enabled, and last in the compact format */
        uint32_t config[4], data[4];
        cpuid(0xd, 17, config);
        cpuid(0xd, 18, data);
        r[1] -= config[0] + data[0];
    }
}

static bool all_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

/* Values that are not the reset state. */
static uint64_t in_use(const uint8_t *x, uint64_t mask)
{
    static const uint8_t fresh[8] = {0x7f, 0x03};
    uint64_t bv = 0;
    if (memcmp(x + AT_FCW, fresh, 8) || !all_zero(x + AT_FIP, 16) || !all_zero(x + AT_ST, 128))
        bv |= 1;
    if (!all_zero(x + AT_XMM, 256) || memcmp(x + AT_MXCSR, (const uint8_t[4]){0x80, 0x1f}, 4))
        bv |= 2;
    for (int i = 2; i < COMPONENTS; i++)
        if ((mask >> i & 1) && !all_zero(x + component[i].offset, component[i].bytes))
            bv |= 1ull << i;
    return bv & mask;
}

/* The target's address for one of the cache; others stay. */
static gaddr target_pc(gaddr host)
{
    if (!cache_contains(host))
        return host;
    const struct block *b = cache_block_at(host);
    const struct fault_point *p = b ? cache_fault_point(b, host) : NULL;
    return p ? cache_point_pc(b, p) : 0;
}

gaddr fpstate_x87_pc(uint16_t status, gaddr fip)
{
    enum { PENDING = 0x80 };
    return status & PENDING ? target_pc(fip) : 0;
}

void fpstate_fix_fxsave(uint8_t *x)
{
    uint16_t status;
    gaddr fip;
    memcpy(&status, x + AT_FSW, 2);
    memcpy(&fip, x + AT_FIP, 8);
    fip = fpstate_x87_pc(status, fip);
    memset(x + AT_FOP, 0, 2);
    memcpy(x + AT_FIP, &fip, 8);
    memset(x + AT_FDP, 0, 8);
}

void fpstate_save(struct thread *t, uint64_t mask)
{
    uint8_t *x = t->xsave;
    if (!features) {
        __asm__ volatile("fxsave64 %0" : "=m"(*(uint8_t(*)[LEGACY_BYTES])x));
        fpstate_fix_fxsave(x);
        return;
    }
    memset(x, 0, total_bytes);
    mask &= fpstate_visible();
    __asm__ volatile("xsave64 (%0)"
                     :
                     : "r"(x), "a"((uint32_t)mask), "d"((uint32_t)(mask >> 32))
                     : "memory");
    if (mask & 1)
        fpstate_fix_fxsave(x);
    uint64_t bv = in_use(x, mask);
    memcpy(x + AT_BV, &bv, 8);
}

void fpstate_load(struct thread *t, uint64_t mask)
{
    uint8_t *x = t->xsave;
    uint32_t mxcsr;
    memcpy(&mxcsr, x + AT_MXCSR, 4);
    mxcsr &= mxcsr_mask;
    memcpy(x + AT_MXCSR, &mxcsr, 4);
    if (!features) {
        __asm__ volatile("fxrstor64 (%0)" : : "r"(x) : "memory");
        return;
    }
    uint64_t bv;
    memcpy(&bv, x + AT_BV, 8);
    bv &= fpstate_visible();
    memset(x + AT_BV, 0, HEADER_BYTES);
    memcpy(x + AT_BV, &bv, 8);
    mask &= fpstate_visible() & ~(1ull << 9); /* protection keys stay */
    __asm__ volatile("xrstor64 (%0)"
                     :
                     : "r"(x), "a"((uint32_t)mask), "d"((uint32_t)(mask >> 32))
                     : "memory");
}

void fpstate_reset(struct thread *t)
{
    memset(t->xsave, 0, FIRST_EXTENDED);
    memcpy(t->xsave + AT_FCW, &(uint16_t){0x37f}, 2);
    memcpy(t->xsave + AT_MXCSR, &(uint32_t){0x1f80}, 4);
    fpstate_load(t, features);
}

/* xsave and xsavec write only the components asked for, and the former leaves other bytes alone. */
bool fpstate_xsave(struct thread *t, gaddr addr, uint64_t mask, bool compact)
{
    uint8_t *x = t->xsave;
    uint64_t old_bv = 0, header[8] = {0};
    mask &= fpstate_visible();
    fpstate_save(t, mask);
    uint64_t bv = in_use(x, mask);
    if (!compact && !engine_read(&old_bv, addr + AT_BV, 8))
        return false;
    header[0] = compact ? bv : (old_bv & ~mask) | bv;
    header[1] = compact ? mask | COMPACT_BIT : 0;
    bool ok = true;
    uint64_t written = compact ? bv : mask;
    if (written & 1)
        ok &= engine_write(addr, x, AT_MXCSR) && engine_write(addr + AT_ST, x + AT_ST, 128);
    if (mask & 6) /* MXCSR and its mask go with SSE and AVX */
        ok &= engine_write(addr + AT_MXCSR, x + AT_MXCSR, 8);
    if (written & 2)
        ok &= engine_write(addr + AT_XMM, x + AT_XMM, 256);
    ok &= engine_write(addr + AT_BV, header, compact ? sizeof header : 8);
    uint64_t at = FIRST_EXTENDED;
    for (int i = 2; i < COMPONENTS; i++) {
        if (!(mask >> i & 1))
            continue;
        if (compact && component[i].align64)
            at = (at + 63) & ~63ull;
        uint64_t where = compact ? at : component[i].offset;
        at += component[i].bytes;
        if (written >> i & 1)
            ok &= engine_write(addr + where, x + component[i].offset, component[i].bytes);
    }
    return ok;
}
