/* probes.h - values taken at places of a program, by replaying it once.
 *
 * SPDX-License-Identifier: MIT
 *
 * At each execution of a probe's pc the replaying process evaluates the bytecode `when`
 * (debug/bytecode.h: GDB's agent expressions, and three operations of our own); where that is not
 * 0, `take`, whose trace and take operations leave pieces in a row. Rows are streamed out by the
 * thousand. Several probes may have the same pc; each makes rows of its own.
 *
 *     struct probe p = {.pc = pc, .take = code, .take_bytes = probe_take_registers(mask, code)};
 *     probes = probes_new(&p, 1, &err);
 *     probes_run(pinball, probes, &options, take_row, arg, &err);
 *
 * A row is taken before its instruction, where GDB's breakpoint would stop. Rows come in the order
 * of the execution; a row of a system call comes when the call begins. So the k-th row of a thread
 * at a pc is that thread's k-th execution of it in the trace, but for attempts that came to
 * nothing: an instruction that faulted and a call that a signal handler interrupted are begun
 * again, and have another row then. When that is known, an `undone` row is told, which takes back
 * the row with the same probe and position; counting readers count one down. What the program died
 * of has a row and is not taken back.
 */
#ifndef REPLAYER_PROBES_H
#define REPLAYER_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/position.h"
#include "debug/bytecode.h"
#include "debug/probe.h"

struct pinball;
struct probes;

struct probe {
    uint64_t pc;
    const uint8_t *when; /* 0 bytes: always */
    uint32_t when_bytes;
    const uint8_t *take; /* 0 bytes: nothing but the row */
    uint32_t take_bytes; /* each at most AGENT_BYTES */
};

struct probe_row {
    uint32_t probe; /* index in the list */
    bool undone;    /* the row with this probe and position is taken back */
    /* AGENT_DONE, or why the evaluation ended early. A `when` that cannot be evaluated makes a row
     * without pieces; what `take` took before it failed is there. probe_text() has words. */
    enum agent_result when, take;
    struct position at;   /* before the instruction at pc */
    uint64_t ticks;       /* of all threads */
    uint64_t value;       /* top of the stack when `take` ended, 0 if it was empty */
    const uint8_t *bytes; /* pieces: probe_piece() */
    uint32_t n;
};

/* 0: go on; 1: enough; -1 with *err set. The row is good until it returns. */
typedef int probe_fn(void *arg, const struct probe_row *row, struct err *err);

struct probes_options {
    const struct position *from, *to;            /* a window; NULL: from the begin, to the end */
    void (*progress)(void *arg, uint64_t ticks); /* now and then; NULL: not wanted */
    bool (*stop)(void *arg);                     /* asked now and then; NULL: never */
    void *arg;                                   /* of these two */
};

/* The next piece of a row, whose place is *at; 0 is the first. 1: there is one, with its contents
 * in *bytes; 0: no more. */
int probe_piece(const struct probe_row *row, uint32_t *at, struct probe_piece *piece,
                const uint8_t **bytes);
const char *probe_text(enum agent_result result);

/* ---- simple bytecode ---- */

enum { PROBE_TAKE_REGISTERS = 64 * 3 + 1 }; /* bytes */
/* Takes the registers whose bits are set (1ull << AGENT_RDI ...), the lowest number first, each a
 * piece. Returns how many bytes of `code` there are. */
uint32_t probe_take_registers(uint64_t mask, uint8_t code[PROBE_TAKE_REGISTERS]);

/* ---- replaying ---- */

/* A list, checked and packed. NULL with *err set: bytecode that cannot be evaluated, too much. */
struct probes *probes_new(const struct probe *list, size_t n, struct err *err);
/* From what another process packed. */
struct probes *probes_unpack(const void *packed, size_t bytes, struct err *err);
void probes_free(struct probes *p); /* NULL is allowed */
const void *probes_packed(const struct probes *p, size_t *bytes);

/* Replays the recording once. 0: to the end; 1: `fn` or options->stop had enough; -1. */
int probes_run(struct pinball *pinball, const struct probes *p, const struct probes_options *o,
               probe_fn *fn, void *arg, struct err *err);

/* The same in two halves, for rows that cross a process: whole rows, checked, to `rows`; and rows
 * from there on to `fn`. */
int probes_stream(struct pinball *pinball, const struct probes *p, const struct probes_options *o,
                  int (*rows)(void *arg, const void *rows, size_t bytes, struct err *err),
                  void *arg, struct err *err);
int probes_each(const struct probes *p, const void *rows, size_t bytes, probe_fn *fn, void *arg,
                struct err *err);

#endif
