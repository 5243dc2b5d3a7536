/* leave.h - a recording with gaps: parts of the execution are left out, and what they did is put
 * in.
 *
 * SPDX-License-Identifier: MIT
 *
 * The caller says, in the order of the execution, what to leave out, by the places where the first
 * and the next instruction begin; and which memory the instructions in between have written. All
 * else that they changed is found out by the replay. docs/internals/relogger.md.
 *
 *     l = leave_new(pinball, dir, &options, &err);
 *     leave_begin(l, &at, &err);              the new recording begins here
 *     leave_out(l, &gap, &err);               as often as needed
 *     leave_end(l, NULL, &err);
 *     leave_free(l);
 */
#ifndef REPLAYER_LEAVE_H
#define REPLAYER_LEAVE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/position.h"

struct pinball;
struct text;
struct leave;
struct written;
struct kept_statement;
struct gap_frame;
struct code_way;

struct leave_options {
    const struct text *head;     /* lines for the new recording's head */
    const struct position *from; /* where `switches` count from; NULL: the last program's begin */
    bool output;                 /* what is written in gaps appears in the new recording's replay */
    void (*message)(void *arg, const char *line); /* as in replay.h */
    void *arg;
};

/* Right before an instruction is executed. */
struct leave_at {
    struct position at;
    uint64_t switches; /* of threads, before that; a gap is one, too */
};

/* What a thread did in a gap, for traces of the new recording: frames of calls that it left, and
 * that it made since; registers that it wrote (enum gap_register). */
struct leave_did {
    const struct gap_frame *frame;
    uint32_t frames, left;
    uint64_t wrote;
};

struct leave_gap {
    struct leave_at from, to;
    uint64_t insns;          /* between them */
    struct written *written; /* by them; it is changed */
    /* Asked for a thread that is new or was changed, and goes on at pc. `same`: registers that have
     * the value that they had. */
    int (*did)(void *arg, uint32_t thread, uint64_t pc, uint64_t same, struct leave_did *out,
               struct err *err);
    void *arg;
};

/* err->code EEXIST: the directory is there. REPLAY_DIVERGED: as in replay.h. */
struct leave *leave_new(struct pinball *pinball, const char *dir,
                        const struct leave_options *options, struct err *err);
/* Without leave_end() the new recording is removed. NULL is allowed. */
void leave_free(struct leave *l);

int leave_begin(struct leave *l, const struct leave_at *at, struct err *err);
/* What the trace has shown of the code; right behind that. */
int leave_ways(struct leave *l, const struct code_way *list, uint64_t ways, struct err *err);
int leave_out(struct leave *l, const struct leave_gap *gap, struct err *err);
/* A statement that is not left out, for those who walk it; in the order of the execution. */
int leave_keep(struct leave *l, const struct kept_statement *statement, struct err *err);
int leave_end(struct leave *l, const struct position *to, struct err *err); /* NULL: all the rest */

#endif
