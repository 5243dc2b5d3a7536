/* cpu.h - the general registers of a thread. SPDX-License-Identifier: MIT */
#ifndef ENGINE_X86_CPU_H
#define ENGINE_X86_CPU_H

#include "engine/rt/types.h"

struct cpu_state {
    uint64_t gpr[GPR_COUNT];
    gaddr rip;
    uint64_t rflags;
};

#endif
