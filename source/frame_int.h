/* frame_int.h - entries of call frame information, between the files that read them.
 * SPDX-License-Identifier: MIT */
#ifndef SOURCE_FRAME_INT_H
#define SOURCE_FRAME_INT_H

#include "source/frame.h"
#include "source/source_int.h"

/* An entry (FDE), with what its CIE says for it. Pointers are into the module's file. */
struct source_fde {
    uint64_t low, high;              /* the code that it is about */
    const uint8_t *program, *end;    /* its rules, one after the other */
    const uint8_t *common, *com_end; /* those that come before them */
    int64_t factor;                  /* of offsets */
    unsigned encoding;               /* of addresses */
    bool known;                      /* the slots are: */
    struct source_slot *slot;
    size_t slots;
};

/* The entry that has addr, of .eh_frame, else of .debug_frame; or NULL. Reads nothing of the
 * module's other debug information. */
struct source_fde *source_frame_entry(struct source_mod *m, uint64_t addr);

/* The caller's value of a register is saved, at `offset` from the CFA, when addr is executed. */
bool source_frame_saved(struct source_mod *m, uint64_t addr, int reg, int64_t *offset);

/* Reads a number of that form (DW_EH_PE_*), without what it is relative to. */
bool source_frame_number(const uint8_t **at, const uint8_t *end, unsigned encoding,
                         uint64_t *value);
bool source_frame_leb(const uint8_t **at, const uint8_t *end, bool is_signed, int64_t *value);

/* source/slots.c */
void source_slots_free(struct source_mod *m);

#endif
