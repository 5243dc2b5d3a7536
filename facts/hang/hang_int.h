/* hang_int.h - between the files that find out about a hang. SPDX-License-Identifier: MIT */
#ifndef FACTS_HANG_HANG_INT_H
#define FACTS_HANG_HANG_INT_H

#include "facts/hang/hang.h"
#include "facts/hang/history.h"
#include "study/past.h"

/* A thread at the end. */
struct hang_place {
    struct hang_thread thread;
    bool futex; /* it waits on one */
    gaddr fs_base;
    struct stack_frame frame[STACK_FRAMES];
    size_t frames, own; /* own: the innermost in the user's own code; frames: none */
};

struct hang_job {
    struct study *study;
    struct past *end;
    struct history history;
    struct hang_place *place;
    size_t places;
    uint32_t circles;
};

#endif
