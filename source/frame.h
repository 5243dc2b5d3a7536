/* frame.h - call frame information: where a function keeps its caller's registers.
 *
 * SPDX-License-Identifier: MIT
 *
 * From .eh_frame, else .debug_frame. Registers have their DWARF numbers (source/variable.h).
 */
#ifndef SOURCE_FRAME_H
#define SOURCE_FRAME_H

#include "source/source.h"

/* The canonical frame address at a pc: the value rsp had before the call that made the frame. */
struct source_cfa {
    uint16_t reg;
    int64_t offset; /* CFA = reg + offset */
};

/* False where there is no rule, or one that is no register plus offset (PLT stubs). */
bool source_cfa(struct source *s, gaddr pc, struct source_cfa *out);

/* At that pc the caller's register `reg` is at CFA + *offset. */
bool source_saved(struct source *s, gaddr pc, unsigned reg, int64_t *offset);

/* A register that a function saves. */
struct source_save {
    uint16_t reg;   /* 16 is the return address */
    int64_t offset; /* its value is at CFA + offset */
    gaddr from;     /* the first pc at which it is there: past the instruction that saves it */
};

/* All registers that the function at pc (any pc of it) saves, by (from, reg); one that is saved at
 * several places, or restored and saved again, has several entries only if offsets differ. Returns
 * how many there are; fills in at most `room`. */
size_t source_saves(struct source *s, gaddr pc, struct source_save *out, size_t room);

/* A place that some row of the entry for a pc names for a register. */
struct source_slot {
    uint16_t reg;
    int64_t offset; /* from the CFA */
};

/* Those of register `reg`, for the entry that has pc: how many, and a *list that lives as long as
 * the source. Cheap: nothing else of the module's debug information is read. */
size_t source_slots(struct source *s, gaddr pc, unsigned reg, const struct source_slot **list);

#endif
