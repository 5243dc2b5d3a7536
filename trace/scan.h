/* scan.h - one pass forwards over a trace: what walking it backwards needs to know.
 *
 * SPDX-License-Identifier: MIT
 *
 * For each chunk: the frames at its beginning, which of its instructions restore a register that
 * their function had saved, which returns found a return address that was changed, and what all of
 * it does in short (gist.h). There are many restores: they are kept packed, a byte or two for each.
 */
#ifndef TRACE_SCAN_H
#define TRACE_SCAN_H

#include "trace/frames.h"
#include "trace/gist.h"

struct source;

enum { SCAN_MAX_SAVE = 10 }; /* saves of a function, unless somebody says otherwise */

struct scan_chunk {
    struct frames start;
    uint32_t thread; /* that runs when it begins */
    uint32_t restores, changes;
    uint8_t *packed; /* for scan_unpack() */
    struct gist gist;
};

/* Instructions of a chunk, by their numbers in it, ascending. */
struct scan_lists {
    uint32_t *restore, *changed; /* changed: returns */
    uint32_t restores, changes;
    size_t room;
};

/* A signal's delivery. */
struct scan_signal {
    uint64_t insn; /* instructions before it */
    gaddr frame, end, fpstate;
};

/* Told while a trace is gone through, chunk by chunk; true: the user has had enough. */
struct scan_progress {
    void *arg;
    bool (*tell)(void *arg, uint64_t done, uint64_t total); /* instructions; NULL: nobody asks */
};
enum { SCAN_STOPPED = -1301 }; /* err->code of scan_init(): the user had enough */

struct scan {
    uint32_t first; /* chunks before this one were not looked at: frames made there are not known */
    struct scan_signal *signal; /* in order */
    size_t signals, signal_room;
    struct scan_chunk *chunk;
    uint32_t chunks;
};

/* The first max_save instructions of a frame that save a register count, and those that write to a
 * place that call frame information names; `source` may be NULL. */
struct scan_options {
    unsigned max_save;
    struct source *source;
    uint32_t first; /* chunk */
    struct scan_progress progress;
};
int scan_init(struct scan *s, struct trace *trace, const struct scan_options *options,
              struct err *err);
void scan_deinit(struct scan *s);

/* The lists of a chunk. *out is {0} or has been used before. */
int scan_unpack(const struct scan_chunk *chunk, struct scan_lists *out, struct err *err);
void scan_lists_deinit(struct scan_lists *l);
bool scan_lists_has(const uint32_t *list, uint32_t count, uint32_t insn);

/* The signal that made the frame, the last one before `insn`; NULL: none. */
const struct scan_signal *scan_delivery(const struct scan *s, gaddr frame, uint64_t insn);

#endif
