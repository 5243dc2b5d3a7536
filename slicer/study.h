/* study.h - a pinball, its trace, its debug information and a slicer, opened together.
 *
 * SPDX-License-Identifier: MIT
 *
 * The trace is a file beside the pinball's own (DIR/trace), collected when it is first wanted;
 * where that cannot be, and for windows, it is in the user's cache ($XDG_CACHE_HOME/drdebug), from
 * which old ones are removed. A trace of another pinball is refused. Used by one thread.
 */
#ifndef SLICER_STUDY_H
#define SLICER_STUDY_H

#include "replayer/replay.h"
#include "slicer/collect.h"
#include "slicer/slice.h"
#include "slicer/source_variable.h"

struct study_options {
    const char *trace;                /* a file; NULL: the default place */
    const struct position *from, *to; /* a window; NULL: from the begin, to the end */
    bool fresh;                       /* collect it, even if it is there */
    bool kept;                        /* do not collect it: -1 with err->code ENOENT */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *arg;
};

struct study {
    struct pinball *pinball;
    struct trace *trace;
    struct source *source;
    struct slicer *slicer;
    char *trace_path;
    bool has_to; /* a window ends here: */
    struct position to;
    bool collected; /* just now, with this result: */
    struct collect_result result;
    struct study_private *own;
};

struct study *study_open(const char *path, const struct study_options *options, struct err *err);
void study_close(struct study *s); /* NULL is allowed */

/* Collects the trace alone, if it is not there: for `drdebug trace`. Slices and source are NULL. */
struct study *study_collect(const char *path, const struct study_options *options, struct err *err);

/* source_line(). True where the line is of code that the user has: there is a source line, and its
 * text can be read or it is no system library's. */
bool study_line(struct study *s, gaddr pc, struct source_line *out);
/* The same, or of a module that has no lines at all but is no system library. */
bool study_own(struct study *s, gaddr pc, struct source_line *out);

/* Was the text of a file changed after the recording was made? Of a packed one nothing is known. */
bool study_text_changed(struct study *s, const char *file);

/* An instruction by its number. */
struct study_insn {
    uint32_t thread; /* as in trace_step.thread */
    const struct code_block *block;
    uint32_t index; /* in the block */
};
int study_insn(struct study *s, uint64_t number, struct study_insn *out, struct err *err);

/* Registers at a position, by replaying as far as there. */
int study_registers(struct study *s, const struct position *at, struct replay_registers *out,
                    struct err *err);

/* A replay that has come to instruction `insn`, at this position; trace_insns(): to the trace's
 * end, when everything is as all threads left it. NULL with *err set. To be freed. */
struct replay *study_replay(struct study *s, uint64_t insn, const struct position *at,
                            struct err *err);
/* A replay that is before that goes on to there. */
int study_replay_on(struct study *s, struct replay *r, uint64_t insn, const struct position *at,
                    struct err *err);

/* How the recording ended: enum end_reason, the status, the last position. */
uint32_t study_end(const struct study *s, int *status, struct position *at);

#endif
