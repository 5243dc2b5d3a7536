/* session.c - what recording and replaying have in common. SPDX-License-Identifier: MIT */
#include "engine/core/session.h"

#include "engine/os/fpstate.h"
#include "engine/rt/rt.h"

const struct session *session;

#define MIX 0x9e3779b97f4a7c15ull /* part of the pinball's format */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * MIX;
    return h ^ h >> 29;
}

/* Two words, folded by a full multiplication. Different keys tell pairs and places in them apart.
 */
static uint64_t fold(uint64_t a, uint64_t b, uint64_t key)
{
    __extension__ unsigned __int128 p = (unsigned __int128)(a ^ key) * (b ^ (key * MIX));
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Arithmetic flags are left out: the translator drops dead ones, and which ones are dead depends on
 * where blocks begin. This is done at every system call; the multiplications do not wait for each
 * other. */
uint64_t session_hash(const struct thread *t)
{
    const uint64_t *g = t->cpu.gpr;
    uint64_t flags = t->cpu.rflags & (FLAG_DF | FLAG_AC);
    uint64_t h =
        fold(t->cpu.rip, thread_count(t), 0xa0761d6478bd642full) +
        fold(flags, t->number, 0xe7037ed1a0b428dbull) + fold(g[0], g[1], 0x8ebc6af09c88c6e3ull) +
        fold(g[2], g[3], 0x589965cc75374cc3ull) + fold(g[4], g[5], 0x1d8e4e27c47d124full) +
        fold(g[6], g[7], 0xeb44accab455d165ull) + fold(g[8], g[9], 0x9fb21c651e98df25ull) +
        fold(g[10], g[11], 0xd6e8feb86659fd93ull) + fold(g[12], g[13], 0xc2b2ae3d27d4eb4full) +
        fold(g[14], g[15], 0x165667b19e3779f9ull);
    return mix(h, 0);
}

uint64_t session_hash_all(struct thread *t)
{
    enum { AT_MXCSR = 24, AT_ST = 32, AT_SOFTWARE = 464, AT_EXTENDED = 576 };
    uint64_t h = session_hash(t), bytes = fpstate_bytes();
    const uint64_t *x = (const uint64_t *)t->xsave;
    fpstate_save(t, fpstate_features());
    h = mix(h, (uint32_t)(x[0] & 0xffffffff)); /* control and status, not the last instruction */
    h = mix(h, (uint32_t)x[AT_MXCSR / 8]);
    for (uint64_t i = AT_ST; i < bytes; i += 8)
        if (i < AT_SOFTWARE || i >= AT_EXTENDED)
            h = mix(h, x[i / 8]);
    return h;
}

uint64_t session_hash_memory(const uint64_t *p, uint64_t bytes)
{
    uint64_t a = 1, b = 2, c = 3, d = 4;
    for (uint64_t i = 0; i < bytes / 8; i += 4) {
        a = mix(a, p[i]);
        b = mix(b, p[i + 1]);
        c = mix(c, p[i + 2]);
        d = mix(d, p[i + 3]);
    }
    return mix(mix(mix(a, b), c), d);
}
