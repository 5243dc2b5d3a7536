/* compile.h - C and C++ expressions as bytecode that takes their values, and the values as text.
 *
 * SPDX-License-Identifier: MIT
 *
 * For a pc, once: which bytes have to be taken there so that the expressions' values are known,
 * wherever the compiler keeps them at that pc (location lists, the CFA, pieces, entry values). Then
 * for each row of a probe (replayer/probes.h): what they say, as GDB's `print` writes it.
 *
 *     struct compiled *c = compile_new(source, pc, &err);
 *     compile_when(c, "i > 3 && p", &err);
 *     compile_add(c, "p->count", &err);  compile_add(c, "name", &err);
 *     probe.take = compile_take(c, &probe.take_bytes);  probe.when = ...
 *     for each row: if (compile_read(c, pieces, n) > 0) puts(compile_text(c, 0));
 *
 * An expression that has no value at this pc has a text, too, that says why: `<optimized out>`. One
 * that fails in some rows says so there: `<cannot access memory at 0x10>`. The parser is
 * expression.c's; the bytecode calculates with 64-bit words alone, so what calculates with floating
 * point is completed by the reader.
 */
#ifndef SOURCE_COMPILE_H
#define SOURCE_COMPILE_H

#include "debug/probe.h"
#include "source/bytecode.h"
#include "source/functions.h"
#include "source/source.h"

struct compiled;

/* Limits: of a value's bytes, of a string's, of expressions. */
enum { COMPILE_BYTES = 4096, COMPILE_STRING = 200, COMPILE_EXPRESSIONS = 64 };

struct compiled *compile_new(struct source *s, gaddr pc, struct err *err);
/* Names are those of the function outside of so many calls that are inlined at pc. */
void compile_outside(struct compiled *c, uint32_t inlined);
void compile_free(struct compiled *c); /* NULL is allowed */

/* Returns the expression's number, from 0 on, also if it has no value here: compile_problem() has
 * the code, which is an expression_error or source_error. -1: too many, or no memory. */
int compile_add(struct compiled *c, const char *text, struct err *err);
/* The same of what a function returns; `where` is of this pc. */
int compile_add_result(struct compiled *c, const struct functions_returned *where, struct err *err);
int compile_problem(const struct compiled *c, unsigned number); /* 0: it has a value here */

/* Only rows in which it is true; to be given first. -1, with such a code: it has no value here. */
int compile_when(struct compiled *c, const char *text, struct err *err);

/* The bytecode. 0 bytes of a condition: always, or compile_read() decides. */
const uint8_t *compile_take(struct compiled *c, uint32_t *bytes);
const uint8_t *compile_condition(struct compiled *c, uint32_t *bytes);
bool compile_decides(const struct compiled *c); /* compile_read() does */

/* What a row has taken, in order. */
struct compile_piece {
    struct probe_piece head;
    const uint8_t *bytes;
};

/* 1: the row is wanted, and its texts are known; 0: the condition is not true; -1: that it cannot
 * be evaluated here, compile_reason() says why. */
int compile_read(struct compiled *c, const struct compile_piece *piece, size_t n);
/* The texts of the row that was read last; they live until the next one. */
const char *compile_text(const struct compiled *c, unsigned number);
const char *compile_reason(const struct compiled *c);
/* What a condition that fails in a row says there: enum agent_result. */
const char *compile_failure(unsigned result);

#endif
