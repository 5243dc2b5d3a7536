/* move.h - how a debuggee moves, and where and why it stops.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DEBUG_MOVE_H
#define DEBUG_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/position.h"
#include "debug/stop.h"

struct debuggee_stop {
    enum stop_kind why;
    struct position at;
    uint64_t ticks, events; /* so far, of all threads */
    uint64_t addr;          /* STOP_WATCH: the watched range's */
    enum watch_kind watch_kind;
    int signal;
    long call;
    uint32_t reason; /* enum end_reason; 0: the recording was cut off here */
    int32_t status;
    bool gone;            /* STOP_END: the program was alive, and is no more */
    uint8_t siginfo[128]; /* STOP_SIGNAL */
};

enum debuggee_way {
    MOVE_NONE,     /* stays */
    MOVE_ON,       /* to the next stop; what is at now itself does not count */
    MOVE_STEP,     /* until `thread` has executed an instruction and is outside [low, high) */
    MOVE_BACK,     /* to the last stop before now */
    MOVE_BACK_ONE, /* to before the last instruction that `thread` has executed */
    /* The same for somebody who will step back again wherever it stops on one of `edges` (sorted):
     * turns of a loop that has nothing else are left out. */
    MOVE_BACK_LOOP,
    MOVE_TO, /* to `to`, regardless of stops, as all below. One that there is not is an error. */
    MOVE_TO_TICKS,
    MOVE_TO_BEGIN,
    MOVE_TO_END,
    MOVE_TO_RECORDED, /* alive and not recorded: to the end of what was recorded last */
};

struct debuggee_move {
    enum debuggee_way way;
    uint32_t thread; /* 0: the one of now; the others run meanwhile as they do */
    uint64_t low, high;
    const struct stop_edge *edges;
    size_t edge_count;
    struct position to; /* MOVE_ON: not past it, thread 0: no end; of a living program of no use */
    uint64_t ticks;     /* of all threads, from the begin */
    /* Alive, MOVE_ON and MOVE_STEP: the thread that alone may run, 0: all; what is delivered in
     * place of the signal that it stopped for, or has come now, 0: none. */
    uint32_t alone;
    int signal;
};

#endif
