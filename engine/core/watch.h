/* watch.h - memory that is watched: which instructions may touch it.
 *
 * SPDX-License-Identifier: MIT
 *
 * A tool that watches ranges of memory answers `select` with watch_wants(): a few instructions in
 * the code cache then compare most accesses with the ranges, without flags, and only a possible hit
 * comes to the tool as a PROBE_WATCH. The comparison is coarse: the tool looks at the accesses
 * itself.
 */
#ifndef ENGINE_CORE_WATCH_H
#define ENGINE_CORE_WATCH_H

#include "engine/rt/types.h"
#include "engine/x86/insn.h"

enum { WATCH_RANGES = 16 };

struct watch_range {
    gaddr addr;
    uint32_t bytes; /* at most 4,096 */
    bool read, write;
};

/* Replaces all; the caller drops translations. */
void watch_set(const struct watch_range *list, int count);

/* 0, PROBE_WATCH, or PROBE_MEMORY for what must be looked at each time. */
unsigned watch_wants(const struct insn *in);

/* For translate.c: the comparison before the instruction. */
struct job;
void watch_emit(struct job *j, const struct insn *in, unsigned probe);

/* For superblock.c, which knows where rcx is: how many comparisons the instruction needs, and each
 * of them. It reads the target's rcx if watch_reads_rcx() says so, and leaves anything in it.
 * Returns the rel32 of a jump that is taken on what may be a hit. */
enum { WATCH_CHECKS = 4 };
int watch_checks(const struct insn *in);
bool watch_reads_rcx(int i);
uint8_t *watch_emit_check(struct job *j, const struct insn *in, int i);

#endif
