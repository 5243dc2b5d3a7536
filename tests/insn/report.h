/* report.h - one sequence's outcome as a hash, or as text with a field per line.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_REPORT_H
#define INSN_REPORT_H

#include <stdio.h>

#include "gen.h"

uint64_t report_hash(uint64_t hash, const struct sequence *seq, const struct outcome *out);
void report_code(FILE *to, const struct sequence *seq);
/* Lines "PREFIX.FIELD VALUE". */
void report_machine(FILE *to, const char *prefix, const struct machine *m, const struct cpu *cpu);
void report_fault(FILE *to, const char *prefix, const struct sequence *seq, const struct fault *f);
/* The words of memory that differ from `before`, an image of all regions in order. */
void report_memory(FILE *to, const char *prefix, const struct sequence *seq, const uint8_t *before);
size_t report_memory_size(void);
void report_memory_save(const struct sequence *seq, uint8_t *image);
const char *report_signal(int signo);

#endif
