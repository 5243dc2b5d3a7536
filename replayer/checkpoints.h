/* checkpoints.h - copies of a replaying process, in the order of their moments.
 *
 * SPDX-License-Identifier: MIT
 *
 * A checkpoint is a copy that waits: to go somewhere, a copy of it is made. There are three kinds.
 * The one at a program's begin stays. Marks are left all along the way; when there are too many,
 * every other one goes, so that they cover everything evenly. Neighbours are left on the way to a
 * place, closer and closer to it, since whoever went back once does so again; the oldest go first.
 *
 * A list belongs to one thread.
 */
#ifndef REPLAYER_CHECKPOINTS_H
#define REPLAYER_CHECKPOINTS_H

#include "replayer/replay_private.h"

enum checkpoint_kind { CHECKPOINT_BEGIN, CHECKPOINT_MARK, CHECKPOINT_NEIGHBOUR };

struct checkpoint {
    struct replay *replay;
    struct mailbox_moment at;
    uint64_t ticks;   /* of all threads, before it */
    uint64_t ns;      /* that it takes to replay up to here */
    uint64_t serial;  /* grows */
    unsigned program; /* that runs */
    enum checkpoint_kind kind;
};

struct checkpoints {
    struct checkpoint *list; /* sorted */
    size_t count, room;
    uint64_t serial;
    uint64_t memory_bytes; /* all of them may use about so much */
    uint64_t apart_ns;     /* marks are at least so far from each other */
};

void checkpoints_init(struct checkpoints *c, uint64_t memory_bytes);
void checkpoints_deinit(struct checkpoints *c);

/* Drops those whose process has ended. */
void checkpoints_drop_gone(struct checkpoints *c);

/* -1: before, 0: the same, 1: behind. */
int checkpoints_compare(const struct mailbox_moment *a, const struct mailbox_moment *b);

/* The last one that is before `at`, or at it too if `or_at`; -1: none. */
int checkpoints_before(const struct checkpoints *c, const struct mailbox_moment *at, bool or_at);

/* Adds a copy of `from`, and drops others if there are too many. -1 with *err set: no copy could be
 * made (REPLAY_GONE: one of the two processes has ended); going back then takes longer. */
int checkpoints_add(struct checkpoints *c, struct replay *from, const struct checkpoint *what,
                    struct err *err);

#endif
