/* timeline_divert.c - throw-away copies of a timeline's process. SPDX-License-Identifier: MIT */
#include "replayer/timeline_divert.h"

#include "replayer/timeline_private.h"

int timeline_divert(struct timeline *t, struct err *err)
{
    if (t->diversion)
        return 0;
    t->diversion = replay_copy(timeline_replay(t), err);
    if (!t->diversion)
        return -1;
    if (timeline_give_stops(t, t->diversion, err) || replay_divert(t->diversion, err)) {
        timeline_divert_end(t);
        return -1;
    }
    return 0;
}

bool timeline_diverted(const struct timeline *t)
{
    return t->diversion != NULL;
}

void timeline_divert_end(struct timeline *t)
{
    replay_free(t->diversion);
    replay_free(t->parked);
    t->diversion = t->parked = NULL;
}

void timeline_divert_park(struct timeline *t)
{
    replay_free(t->parked);
    t->parked = t->diversion;
    t->diversion = NULL;
}

void timeline_divert_unpark(struct timeline *t)
{
    replay_free(t->diversion);
    t->diversion = t->parked;
    t->parked = NULL;
}

void timeline_divert_end_parked(struct timeline *t)
{
    replay_free(t->parked);
    t->parked = NULL;
}

struct replay *timeline_divert_parked(struct timeline *t)
{
    if (t->parked && replay_gone(t->parked))
        timeline_divert_end_parked(t);
    return t->parked;
}

size_t timeline_write(struct timeline *t, uint64_t addr, const void *bytes, size_t n)
{
    return t->diversion ? replay_write(t->diversion, addr, bytes, n) : 0;
}

int timeline_set_registers(struct timeline *t, uint32_t thread,
                           const struct program_registers *registers, struct err *err)
{
    if (!t->diversion)
        return err_set(err, "a recording cannot be changed");
    return replay_set_registers(t->diversion, thread, registers, err);
}

int timeline_divert_run(struct timeline *t, uint32_t thread, bool step, struct debuggee_stop *stop,
                        struct err *err)
{
    struct mailbox_run how = {.flags = RUN_OUTPUT,
                              .run_thread = thread,
                              .step_thread = step ? (thread ? thread : t->at.thread) : 0};
    if (!t->diversion)
        return err_set(err, "there is no diversion");
    t->interrupted = false;
    if (timeline_give_stops(t, t->diversion, err))
        return -1;
    t->walks = true;
    int result = replay_go(t->diversion, &how, err);
    t->walks = false;
    if (result || replay_failure(t->diversion, err))
        return -1;
    debuggee_stopped(&replay_stopped(t->diversion)->what, stop);
    return 0;
}
