/* slots.c - which places of a frame call frame information names for registers.
 *
 * SPDX-License-Identifier: MIT
 *
 * The rows of an entry come from a small program. Which offsets any row has for a register can be
 * read off the program without running it: each is an operand of one of its instructions. So an
 * entry costs about a microsecond, and is looked at once.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "source/frame_int.h"

enum { MOST = 4096 /* slots of an entry: more is nonsense */ };

/* What the instructions of a program have behind their first byte. */
enum operand { NOTHING, BYTES, ADDRESS, UNSIGNED, SIGNED, BLOCK };

struct form {
    uint8_t operand[2];
    uint8_t bytes; /* of BYTES */
    bool saves;    /* the first operand is a register, the second one where it is */
    bool negated;
};

static const struct form forms[0x40] = {
    [DW_CFA_set_loc] = {.operand = {ADDRESS}},
    [DW_CFA_advance_loc1] = {.operand = {BYTES}, .bytes = 1},
    [DW_CFA_advance_loc2] = {.operand = {BYTES}, .bytes = 2},
    [DW_CFA_advance_loc4] = {.operand = {BYTES}, .bytes = 4},
    [DW_CFA_MIPS_advance_loc8] = {.operand = {BYTES}, .bytes = 8},
    [DW_CFA_offset_extended] = {{UNSIGNED, UNSIGNED}, .saves = true},
    [DW_CFA_offset_extended_sf] = {{UNSIGNED, SIGNED}, .saves = true},
    [DW_CFA_GNU_negative_offset_extended] = {{UNSIGNED, UNSIGNED}, .saves = true, .negated = true},
    [DW_CFA_restore_extended] = {.operand = {UNSIGNED}},
    [DW_CFA_undefined] = {.operand = {UNSIGNED}},
    [DW_CFA_same_value] = {.operand = {UNSIGNED}},
    [DW_CFA_register] = {.operand = {UNSIGNED, UNSIGNED}},
    [DW_CFA_def_cfa] = {.operand = {UNSIGNED, UNSIGNED}},
    [DW_CFA_def_cfa_sf] = {.operand = {UNSIGNED, SIGNED}},
    [DW_CFA_def_cfa_register] = {.operand = {UNSIGNED}},
    [DW_CFA_def_cfa_offset] = {.operand = {UNSIGNED}},
    [DW_CFA_def_cfa_offset_sf] = {.operand = {SIGNED}},
    [DW_CFA_def_cfa_expression] = {.operand = {BLOCK}},
    [DW_CFA_expression] = {.operand = {UNSIGNED, BLOCK}},
    [DW_CFA_val_expression] = {.operand = {UNSIGNED, BLOCK}},
    [DW_CFA_val_offset] = {.operand = {UNSIGNED, UNSIGNED}},
    [DW_CFA_val_offset_sf] = {.operand = {UNSIGNED, SIGNED}},
    [DW_CFA_GNU_args_size] = {.operand = {UNSIGNED}},
};

static bool read_operand(const struct source_fde *f, const struct form *form, unsigned kind,
                         const uint8_t **at, const uint8_t *end, int64_t *value)
{
    uint64_t number;
    switch (kind) {
    case NOTHING:
        return true;
    case ADDRESS:
        return source_frame_number(at, end, f->encoding, &number);
    case UNSIGNED:
    case SIGNED:
        return source_frame_leb(at, end, kind == SIGNED, value);
    case BLOCK:
        if (!source_frame_leb(at, end, false, value))
            return false;
        break;
    default:
        *value = form->bytes;
    }
    if (*value < 0 || *value > end - *at)
        return false;
    *at += *value;
    return true;
}

static void add(struct source_fde *f, int64_t reg, int64_t offset)
{
    if (reg < 0 || reg > UINT16_MAX || f->slots >= MOST)
        return;
    for (size_t i = 0; i < f->slots; i++)
        if (f->slot[i].reg == reg && f->slot[i].offset == offset)
            return;
    *SOURCE_PUSH(f->slot, f->slots) = (struct source_slot){(uint16_t)reg, offset};
}

/* Wraps around where the file is nonsense. */
static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static void read_program(struct source_fde *f, const uint8_t *at, const uint8_t *end)
{
    while (at && at < end) {
        unsigned op = *at++;
        int64_t value[2] = {op & 0x3f, 0};
        if ((op & 0xc0) == DW_CFA_offset) {
            if (!read_operand(f, &forms[0], UNSIGNED, &at, end, &value[1]))
                return;
            add(f, value[0], times(value[1], f->factor));
        }
        if (op & 0xc0) /* with an operand in its first byte, and no other one */
            continue;
        const struct form *form = &forms[op];
        if (op > DW_CFA_val_expression && op != DW_CFA_GNU_window_save && !form->operand[0])
            return; /* its length is not known */
        for (int i = 0; i < 2; i++)
            if (!read_operand(f, form, form->operand[i], &at, end, &value[i]))
                return;
        if (form->saves)
            add(f, value[0], times(value[1], form->negated ? -f->factor : f->factor));
    }
}

static int by_register(const void *a, const void *b)
{
    const struct source_slot *x = a, *y = b;

    if (x->reg != y->reg)
        return x->reg < y->reg ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

size_t source_slots(struct source *s, gaddr pc, unsigned reg, const struct source_slot **list)
{
    uint64_t addr;
    struct source_mod *m = source_module_find(s, pc, &addr);
    struct source_fde *f = m ? source_frame_entry(m, addr) : NULL;
    size_t first = 0, count = 0;

    *list = NULL;
    if (!f)
        return 0;
    if (!f->known) {
        f->known = true;
        read_program(f, f->common, f->com_end);
        read_program(f, f->program, f->end);
        if (f->slots)
            qsort(f->slot, f->slots, sizeof *f->slot, by_register);
    }
    while (first < f->slots && f->slot[first].reg < reg)
        first++;
    while (first + count < f->slots && f->slot[first + count].reg == reg)
        count++;
    *list = f->slot + first;
    return count;
}

void source_slots_free(struct source_mod *m)
{
    for (size_t i = 0; i < m->fdes; i++)
        free(m->fde[i].slot);
    for (size_t i = 0; i < m->debug_fdes; i++)
        free(m->debug_fde[i].slot);
    free(m->fde);
    free(m->debug_fde);
}
