/* trace_text.h - traces from text, for tests of what reads them.
 *
 * SPDX-License-Identifier: MIT
 *
 * A line is one of these; numbers are hexadecimal but for counts and numbers of threads, calls and
 * signals; `#` begins a comment. A PLACE is a block's name, NAME+I for its instruction number I, or
 * a number.
 *
 *     block NAME ADDRESS: INSN; INSN; ...   code; INSN is of the table in trace_text.c, or
 *                                           call, jmp, je, jne with a block's name
 *     thread N PLACE [REG=VALUE...]         thread N runs from here on; it begins at PLACE
 *     thread N                              it goes on
 *     NAME [REG=VALUE...] [then REG=VALUE...] [x COUNT]
 *                                           the block is executed, with these values before it, and
 *                                           these after it; COUNT times
 *     mark WORD                             the next instruction's number gets a name
 *     cut PLACE                             the last block was left before PLACE
 *     call NR [ARG...] [-> PLACE] [r|w|m ADDRESS BYTES]...
 *                                           the system call that ends the last block did this, and
 * the thread goes on at PLACE, or behind it sigreturn FRAME -> PLACE access PLACE [r|w ADDRESS
 * BYTES]...   what the instruction there did, which no slot tells signal N at PLACE to PLACE frame
 * ADDRESS interrupted at the first, goes on in the second begin N                               the
 * thread that runs makes thread N
 *
 * The stack pointer is followed; other registers keep the value they were given. The trace is made
 * by collector.h, so what it says must follow from the code. A mistake fails the test and names its
 * line.
 */
#ifndef TESTS_UNIT_TRACE_TEXT_H
#define TESTS_UNIT_TRACE_TEXT_H

#include "trace/trace.h"

struct trace_text;

struct trace_text *trace_text_new(const char *text);
void trace_text_free(struct trace_text *t);

struct trace *trace_text_trace(const struct trace_text *t);
int trace_text_file(const struct trace_text *t); /* it is in */
uint64_t trace_text_mark(const struct trace_text *t, const char *word);
gaddr trace_text_place(const struct trace_text *t, const char *place);

/* The mnemonics of the table, for tests that make up code; NULL: there are no more. None of the
 * `plain` ones leaves the block or moves the stack. */
const char *trace_text_insn(unsigned i, bool *plain);

#endif
