/* gen_int.h - shared by the generator's files only. See gen.h for the rules.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_GEN_INT_H
#define INSN_GEN_INT_H

#include "gen.h"

#define MAX_ITEMS  24
#define MAX_FIXUPS 64

enum fixup_kind { FIX_REL8, FIX_REL32, FIX_ABS64, FIX_TABLE };

/* A reference to an item of the current block, resolved when the block is complete. */
struct fixup {
    enum fixup_kind kind;
    uint16_t at;     /* offset of the field in the code, or of the entry in the table */
    uint16_t target; /* item index; the item count means the block's end */
};

struct block {
    unsigned count, current;
    uint16_t item_off[MAX_ITEMS + 1];
    struct fixup fixups[MAX_FIXUPS];
    unsigned fixup_count;
    struct block *outer;
};

enum theme { THEME_INT, THEME_X87, THEME_SSE, THEME_AVX, THEME_MIX, THEME_COUNT };

struct gen {
    struct rng *r;
    const struct gen_options *opt;
    struct sequence *seq;
    struct block *block;
    ZydisDecoder decoder;
    enum theme theme;
    bool faults;     /* this sequence may choose bad addresses */
    bool in_func;    /* a return address is at [rsp] */
    bool keep_flags; /* take only instructions that leave the flags alone */
    uint16_t reserved;
    uint8_t pin_a, pin_b, pin_index; /* registers with known values all through */
    unsigned labels;                 /* used entries of the label table */
};

/* emit.c: bytes, fixups, small encodings */
void emit(struct gen *g, const uint8_t *bytes, size_t n, bool structural);
#define EMIT(g, ...)                                                                               \
    emit(g, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), false)
#define EMIT_STRUCTURAL(g, ...)                                                                    \
    emit(g, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), true)
void emit_unit(struct gen *g); /* what follows is a new unit */
void emit_mov_imm(struct gen *g, unsigned reg, uint64_t value, bool structural);
/* `opcode` followed by a 32-bit displacement relative to rip and `imm_size` bytes of immediate. */
void emit_rip(struct gen *g, const uint8_t *opcode, size_t n, uint64_t target, const uint8_t *imm,
              size_t imm_size);
#define EMIT_RIP(g, target, imm, imm_size, ...)                                                    \
    emit_rip(g, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), target,    \
             imm, imm_size)
uint64_t emit_here(const struct gen *g); /* the address of the next byte */
void emit_patch(struct gen *g, uint16_t at, uint64_t value, unsigned size);
void emit_fixup(struct gen *g, enum fixup_kind kind, uint16_t at, unsigned target);
int emit_new_label(struct gen *g); /* an entry of the label table, -1 when all are used */
void emit_set_label(struct gen *g, int label, uint64_t addr);
void emit_resolve(struct gen *g, struct block *b);

/* generic.c: one random instruction with its setup; false when no luck */
bool generic_item(struct gen *g);
unsigned generic_free_reg(struct gen *g); /* a register that may be written, not rsp; NO_REG */
uint64_t generic_target(struct gen *g, bool low); /* a data address */
uint64_t generic_rip_target(struct gen *g);

/* constructs.c */
void construct_item(struct gen *g);
unsigned gen_depth(const struct gen *g); /* of the block in work */
/* hotpaths.c: with opt->loops */
void hotpaths_item(struct gen *g);
void hotpaths_fill_table(struct gen *g);
/* gen.c */
void gen_block(struct gen *g, unsigned items);

#endif
