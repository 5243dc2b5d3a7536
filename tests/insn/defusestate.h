/* defusestate.h - a machine state as one number per location (engine/x86/loc.h), and its memory.
 *
 * Not in it: exception masks, AC, TF and other flags that would only lead to faults; the GS base,
 * which the sandbox does not set.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_DEFUSESTATE_H
#define INSN_DEFUSESTATE_H

#include "engine/x86/loc.h"
#include "gen.h"

struct flat {
    uint8_t v[LOC_COUNT];
    uint64_t fsbase; /* v[LOC_FS_BASE] is a digest of it */
};

void defusestate_init(const struct cpu *cpu);
/* Does the CPU have this location, and can the sandbox set it? */
bool defusestate_present(unsigned loc);
void defusestate_from(const struct machine *m, struct flat *to);
/* `like` gives the parts that a flat state does not have. */
void defusestate_to(const struct flat *from, const struct machine *like, struct machine *m);
/* Another value. */
void defusestate_change(struct rng *r, struct flat *s, unsigned loc);

/* The sandbox's memory. */
enum { IMAGE_MOST = 64 * 1024 };
struct image {
    size_t bytes;
    uint8_t at[IMAGE_MOST];
};
void defusestate_save(uint64_t slot, struct image *to);
void defusestate_restore(uint64_t slot, const struct image *from);
/* Where an address is in the image; -1: nowhere. And back. */
long defusestate_offset(uint64_t slot, uint64_t addr);
uint64_t defusestate_address(uint64_t slot, size_t offset);

#endif
