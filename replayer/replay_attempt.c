/* replay_attempt.c - which way a branch goes if memory had other bytes. SPDX-License-Identifier:
 * MIT */
#include "replayer/replay_private.h"

/* One instruction of a copy that has left the log. *pc: the next one; 0: it cannot go on. */
static int step(struct replay *copy, uint32_t thread, uint64_t *pc, struct err *err)
{
    const struct mailbox_run how = {.run_thread = thread, .step_thread = thread};
    struct program_registers registers;
    *pc = 0;
    if (replay_go(copy, &how, err) || replay_failure(copy, err))
        return -1;
    if (replay_stopped(copy)->what.reason != STOP_STEP)
        return 0;
    if (replay_registers(copy, thread, &registers, err))
        return -1;
    *pc = registers.rip;
    return 0;
}

static int walk(struct replay *copy, const struct replay_attempt *a, uint64_t *next,
                struct err *err)
{
    struct program_registers registers;
    if (replay_registers(copy, a->thread, &registers, err))
        return -1;
    uint64_t pc = registers.rip;
    for (unsigned i = 0; pc && i < a->steps; i++) {
        bool there = pc == a->branch;
        if (step(copy, a->thread, &pc, err))
            return -1;
        if (there) {
            *next = pc;
            return 0;
        }
    }
    return 0;
}

int replay_attempt(struct replay *r, const struct replay_attempt *a, uint64_t *next,
                   struct err *err)
{
    struct replay *copy = replay_copy(r, err);
    *next = 0;
    if (!copy)
        return -1;
    int bad = replay_divert(copy, err);
    if (!bad && a->bytes > sizeof a->value)
        bad = err_set(err, "too many bytes to change");
    if (!bad && replay_write(copy, a->addr, &a->value, a->bytes) != a->bytes)
        bad = err_set(err, "the memory cannot be changed");
    if (!bad)
        bad = walk(copy, a, next, err);
    replay_free(copy);
    return bad ? -1 : 0;
}
