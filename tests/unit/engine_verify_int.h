/* engine_verify_int.h - shared by the verifiers of blocks and of superblocks only.
 *
 * SPDX-License-Identifier: MIT
 *
 * The functions return false when something is wrong, and have said what.
 */
#ifndef TESTS_UNIT_ENGINE_VERIFY_INT_H
#define TESTS_UNIT_ENGINE_VERIFY_INT_H

#include <stdio.h>

#include "engine/core/translate.h"
#include "engine/x86/insn.h"

enum {
    MAX_GUEST = 64,
    MAX_HOST = 24 << 10,
    MAX_LEN = MAX_GUEST * INSN_MAX_BYTES,
};

/* Where a conditional jump, the last instruction, has led. */
enum way { UNDECIDED, TAKEN, FELL };

/* Register values are numbers with no meaning; so are sets of flags. */
struct sim {
    uint64_t host[GPR_COUNT], guest[GPR_COUNT];
    uint64_t host_flags, guest_flags;
    uint64_t rax, rcx, flags, s0, s1; /* the thread's spill slots */
    uint64_t target;                  /* of an indirect transfer, once loaded */
    int at;                           /* the target's instruction that comes next */
    bool looked_up;
    bool pushed;    /* the return address of a call */
    bool probed;    /* the probes due before what comes next have been heard */
    uint8_t way;    /* enum way */
    uint8_t expect; /* enum exit_kind that this way has to end in; 0: any */
};

struct decoded {
    ZydisDecodedInstruction z;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    const uint8_t *bytes;
    uint32_t off;
};

/* The block or superblock in work. */
struct verify {
    const struct block *b;
    const struct translate_options *opt;
    const struct code_source *src;
    struct insn insn[MAX_GUEST];
    int count;
    uint32_t code_len;          /* without the literals */
    uint32_t stop;              /* where a run from an entry ends, or 0 */
    uint8_t boundary[MAX_HOST]; /* an instruction starts here */
    uint8_t visited[MAX_HOST];  /* ... and a run came by */
    uint8_t looked_at[MAX_LEN]; /* target bytes that the block checks itself */
    uint64_t gs_base, fs_base;  /* the target's */
    uint64_t random;
    bool rcx_is_away; /* it may be overwritten while it is the engine's */
    char why[300];
};
extern struct verify verify;

#define FAIL(off, ...) (snprintf(verify.why, sizeof verify.why, __VA_ARGS__), verify_fail_at(off))
#define EXPECT(cond, off, ...)                                                                     \
    do {                                                                                           \
        if (!(cond))                                                                               \
            return FAIL(off, __VA_ARGS__);                                                         \
    } while (0)

bool verify_fail_at(uint32_t off);
uint64_t verify_fresh(void);
void verify_start(const struct block *b, const struct code_source *src,
                  const struct translate_options *opt);
struct sim verify_start_state(void);

/* Offsets go through the code and on through the cold part behind it. -1: not of this block. */
const uint8_t *verify_at(uint32_t off);
int64_t verify_off(const uint8_t *at);
uint32_t verify_bytes(void);
int64_t verify_jump(const struct decoded *h);    /* where a relative jump leads */
int64_t verify_literal(const struct decoded *h); /* of a push relative to rip */

bool verify_decode(uint32_t off, struct decoded *d);
void verify_decode_guest(const struct insn *in, struct decoded *d);
bool verify_read_insn(gaddr pc, struct insn *in);
const struct fault_point *verify_point_at(uint32_t off);

bool verify_same_registers(const struct sim *s, const uint64_t host[GPR_COUNT], uint32_t off);
bool verify_same_spilled_state(const struct sim *s, uint32_t off);
bool verify_same_fault_state(const struct sim *s, const struct fault_point *p);
bool verify_same_instruction(const struct sim *s, const struct insn *in, const struct decoded *h);

int64_t verify_slot_of(const ZydisDecodedOperand *op);
bool verify_is_reg(const ZydisDecodedOperand *op, ZydisRegister reg);
gaddr verify_address(const struct decoded *d, const ZydisDecodedOperand *op,
                     const uint64_t gpr[GPR_COUNT], gaddr next);

void verify_execute_copy(struct sim *s, const struct decoded *h);
bool verify_run_load_target(struct sim *s, const struct insn *in, const struct decoded *h);
bool verify_run_index(struct sim *s, const struct decoded *h);
bool verify_is_entry(const ZydisDecodedOperand *op, int64_t at);
bool verify_run_lea(struct sim *s, const struct decoded *h);
bool verify_run_mov(struct sim *s, const struct decoded *h);
bool verify_run_flag_move(struct sim *s, const struct decoded *h, uint32_t *next);

#endif
