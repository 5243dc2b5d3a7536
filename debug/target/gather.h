/* gather.h - the elements of a gather or scatter. SPDX-License-Identifier: MIT */
#ifndef DEBUG_TARGET_GATHER_H
#define DEBUG_TARGET_GATHER_H

#include "debug/flow.h"
#include "engine/core/thread.h"
#include "engine/x86/insn.h"

/* At most GATHER_MOST; returns how many. -1: it is not known how this instruction names them. */
enum { GATHER_MOST = 16 };
int gather_elements(struct thread *t, const struct insn *in, const struct insn_operands *ops,
                    const ZydisDecodedOperand *op, struct flow_range *out, bool write);

#endif
