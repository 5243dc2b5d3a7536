/* registers.h - registers by name, by DWARF's number, and their values in a replay.
 *
 * SPDX-License-Identifier: MIT
 *
 * Locations are those of engine/x86/loc.h.
 */
#ifndef SOURCE_REGISTERS_H
#define SOURCE_REGISTERS_H

#include "debug/program.h"
#include "engine/x86/loc.h"

/* `rax`, `bl`, `ymm3`, `k1`, `zf`, `flags` (the six of arithmetic): its first location, and how
 * many there are. */
bool registers_find(const char *name, unsigned *first, unsigned *count);

/* 0-15 general, 17-32 and 67-82 vector, 118-125 mask registers: the first location, and how many
 * there are at most. */
bool registers_dwarf(unsigned number, unsigned *first, unsigned *most);
/* The number of the register that has a location; -1: none. */
int registers_number(uint64_t loc);

/* Copies `count` bytes from location `first` on. False: not those of general registers, nor of one
 * vector or mask register that this CPU has. */
bool registers_value(const struct program_registers *r, uint64_t first, uint64_t count, void *out);

#endif
