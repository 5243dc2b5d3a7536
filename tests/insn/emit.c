/* emit.c - append instructions to a sequence and tie branches to items.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "gen_int.h"

void emit(struct gen *g, const uint8_t *bytes, size_t n, bool structural)
{
    struct sequence *s = g->seq;
    if (s->size + n > SEQ_MAX_CODE || s->insn_count == SEQ_MAX_INSNS)
        abort(); /* SEQ_SOFT_LIMIT leaves room for every construct */
    s->insns[s->insn_count++] = (struct seq_insn){.off = (uint16_t)s->size,
                                                  .unit = (uint16_t)(s->unit_count - 1),
                                                  .len = (uint8_t)n,
                                                  .structural = structural};
    memcpy(s->code + s->size, bytes, n);
    s->size += n;
}

void emit_unit(struct gen *g)
{
    g->seq->unit_count++;
}

uint64_t emit_here(const struct gen *g)
{
    return g->seq->entry + g->seq->size;
}

void emit_patch(struct gen *g, uint16_t at, uint64_t value, unsigned size)
{
    memcpy(g->seq->code + at, &value, size);
}

void emit_mov_imm(struct gen *g, unsigned reg, uint64_t value, bool structural)
{
    uint8_t b[10] = {(uint8_t)(0x48 | reg >> 3), (uint8_t)(0xb8 | (reg & 7))};
    size_t n = 10;

    if (value <= UINT32_MAX && rng_percent(g->r, 60)) {
        size_t rex = reg >= 8;
        b[0] = 0x41;
        b[rex] = (uint8_t)(0xb8 | (reg & 7));
        memcpy(b + rex + 1, &value, 4);
        n = rex + 5;
    } else if ((int64_t)value == (int32_t)value && rng_percent(g->r, 60)) {
        b[1] = 0xc7;
        b[2] = (uint8_t)(0xc0 | (reg & 7));
        memcpy(b + 3, &value, 4);
        n = 7;
    } else {
        memcpy(b + 2, &value, 8);
    }
    emit(g, b, n, structural);
}

void emit_rip(struct gen *g, const uint8_t *opcode, size_t n, uint64_t target, const uint8_t *imm,
              size_t imm_size)
{
    uint8_t b[15];
    uint32_t disp = (uint32_t)(target - (emit_here(g) + n + 4 + imm_size));
    memcpy(b, opcode, n);
    memcpy(b + n, &disp, 4);
    if (imm_size)
        memcpy(b + n + 4, imm, imm_size);
    emit(g, b, n + 4 + imm_size, false);
}

void emit_fixup(struct gen *g, enum fixup_kind kind, uint16_t at, unsigned target)
{
    struct block *b = g->block;
    if (b->fixup_count == MAX_FIXUPS)
        abort();
    b->fixups[b->fixup_count++] = (struct fixup){kind, at, (uint16_t)target};
}

int emit_new_label(struct gen *g)
{
    return g->labels < TABLE_NLABELS ? (int)g->labels++ : -1;
}

void emit_set_label(struct gen *g, int label, uint64_t addr)
{
    memcpy(g->seq->table + TABLE_LABELS + 8 * label, &addr, 8);
}

/* A short branch that does not reach its item goes to the next instruction instead. */
void emit_resolve(struct gen *g, struct block *b)
{
    for (unsigned i = 0; i < b->fixup_count; i++) {
        const struct fixup *f = &b->fixups[i];
        uint16_t to = b->item_off[f->target];
        int rel = to - f->at - (f->kind == FIX_REL8 ? 1 : 4);
        uint64_t addr = g->seq->entry + to;
        switch (f->kind) {
        case FIX_REL8:
            emit_patch(g, f->at, rel <= 127 ? (uint64_t)rel : 0, 1);
            break;
        case FIX_REL32:
            emit_patch(g, f->at, (uint64_t)rel, 4);
            break;
        case FIX_ABS64:
            emit_patch(g, f->at, addr, 8);
            break;
        case FIX_TABLE:
            memcpy(g->seq->table + f->at, &addr, 8);
            break;
        }
    }
}
