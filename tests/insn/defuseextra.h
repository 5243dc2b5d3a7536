/* defuseextra.h - instructions that random sequences cannot have, because they need a setup of
 * their own: branches, stack frames, whole states.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_DEFUSEEXTRA_H
#define INSN_DEFUSEEXTRA_H

#include "defusejudge.h"

/* A subject in slot `slot` of AREA_RWX, its code written. False: this CPU does not have it. */
bool defuseextra_make(struct rng *r, const struct cpu *cpu, unsigned slot, struct subject *s);

#endif
