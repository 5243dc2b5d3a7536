/* sandbox.h - memory, machine state and faults of one random sequence.
 *
 * sandbox_init() maps the regions of layout.h once. For each sequence the caller writes code with
 * sandbox_write_code(), fills memory and runs it from a given machine state with sandbox_run(); a
 * fault ends the sequence and is reported with the state the handler saw; or, with places to go on
 * at, the first faults are noted and the sequence goes on behind them. One thread only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_SANDBOX_H
#define INSN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

#ifndef ENGINE_RT_TYPES_H /* has the same */
enum gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
#endif

struct machine {
    uint64_t gpr[16];
    uint64_t flags;
    uint64_t fsbase;
    uint64_t k[8];
    uint8_t pad[48];
    uint8_t fx[512];     /* FXSAVE image: x87, MXCSR, xmm */
    uint8_t zmm[32][64]; /* as much of each vector register as the CPU has */
};

struct fault {
    int signo; /* 0: the sequence came to its end */
    int code;
    uint64_t addr;
    uint64_t trapno;
    uint64_t err;
    uint64_t rip;
    struct machine at; /* the ucontext */
};

#define SANDBOX_RESUMES 12

struct outcome {
    struct machine end;
    struct fault fault; /* that ended it */
    struct fault past[SANDBOX_RESUMES];
    unsigned past_count;
};

/* A fault in [entry, entry + size) goes on at the first of these offsets behind it. */
struct resume {
    uint64_t entry;
    uint64_t kept_flags; /* of what the handler finds */
    uint32_t size;
    unsigned count;
    uint16_t off[1536];
};

enum code_area { AREA_LOW, AREA_FAR, AREA_ALIAS, AREA_RWX, AREA_COUNT };

struct cpu {
    bool avx, avx512, fsgsbase, umip;
};

/* A writable piece of the sandbox, for filling, hashing and printing. */
struct region {
    const char *name;
    uint64_t base;
    size_t size;
};
#define SANDBOX_REGIONS 5

int sandbox_init(const struct cpu *cpu); /* -1 with a message on standard error */
uint64_t sandbox_slot(enum code_area area, unsigned slot);
void sandbox_regions(uint64_t slot_base, struct region out[SANDBOX_REGIONS]);
void sandbox_write_code(enum code_area area, uint64_t addr, const uint8_t *code, size_t size);
/* `resume` may be NULL. */
void sandbox_run(const struct machine *start, uint64_t entry, const struct resume *resume,
                 struct outcome *out);

#endif
