/* memo.h - a file with what a search knows, so that another one goes on from there.
 *
 * SPDX-License-Identifier: MIT
 *
 * Lines of text: the profile, which orders were exposed, failed or are predicted, pairs of writes
 * and reads, shares of strategies, failures. The last line is a sum over all others, so a file that
 * was cut or changed is refused. It is written as a whole beside its place and then renamed; a
 * reader sees the old one or the new one. While a search uses it, it is locked.
 *
 * A memo belongs to a program's file: another build has other instructions.
 */
#ifndef MAPLE_BRIDGE_MEMO_H
#define MAPLE_BRIDGE_MEMO_H

#include "maple-bridge/failures.h"
#include "maple-bridge/portfolio.h"
#include "maple-bridge/scout.h"

/* What one of several jobs has run. */
struct memo_part {
    uint32_t job, jobs; /* 1 to jobs; jobs 0: it is no part */
    uint64_t first;     /* runs before it */
    uint64_t runs;      /* of all jobs together */
    uint64_t base;      /* sum of the memo that it began with */
};

struct memo_state {
    uint64_t program; /* memo_program() */
    uint64_t runs, batches;
    struct memo_part part;
    struct failures failures;
};

struct memo;

/* Locks it, and makes an empty one if it is not there. NULL with *err: another search has it. */
struct memo *memo_open(const char *path, struct err *err);
void memo_close(struct memo *m); /* NULL is allowed */

/* 1; 0: it is new and empty; -1 with *err: damaged, or of another program. The profile and the
 * portfolio must be empty; *sum is the memo's. */
int memo_read(struct memo *m, struct memo_state *state, struct scout *profile,
              struct portfolio *portfolio, uint64_t *sum, struct err *err);

/* The memo's text, to be freed, as it is now; memo_write() brings one to the disk. */
char *memo_text(const struct memo_state *state, const struct scout *profile,
                const struct portfolio *portfolio, struct err *err);
int memo_write(struct memo *m, const char *text, struct err *err);

/* A number for what the file has. */
int memo_program(const char *path, uint64_t *out, struct err *err);

#endif
