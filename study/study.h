/* study.h - a pinball, its trace, its index and its debug information, opened together.
 *
 * SPDX-License-Identifier: MIT
 *
 * The trace is a file beside the pinball's own (DIR/trace), collected when it is first wanted;
 * where that cannot be, for a stranger's recording and for windows, it is in the user's cache
 * ($XDG_CACHE_HOME/drdebug), from which old ones are removed. A trace of another pinball is
 * refused. Used by one thread.
 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include <stdio.h>

#include "replayer/replay.h"
#include "source/variable.h"
#include "trace/collect.h"
#include "trace/index.h"

struct study_options {
    const char *trace;                /* a file; NULL: the default place */
    const struct position *from, *to; /* a window; NULL: from the begin, to the end */
    bool fresh;                       /* collect it, even if it is there */
    struct sourcefile_places places;  /* folders with sources, and nothing else */
    bool untraced;                    /* no trace at all: the log and replays are enough */
    bool modules;                     /* with `untraced`: but debug information */
    bool kept;                        /* do not collect it: -1 with err->code ENOENT */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *arg;
};

/* What analyses of facts/ keep with a study, from when it is first wanted. */
enum study_fact {
    STUDY_ORDER,
    STUDY_RACES,
    STUDY_LOCKS,
    STUDY_LOCKSETS,
    STUDY_HEAP,
    STUDY_HANG,
    STUDY_FACTS
};

struct study {
    struct pinball *pinball;
    struct trace *trace; /* NULL, as are source and index, if none was wanted */
    struct source *source;
    struct trace_index *index;
    char *trace_path;
    bool has_to; /* a window ends here: */
    struct position to;
    bool collected; /* just now, with this result: */
    struct collect_result result;
    struct {
        void *made; /* NULL: nobody wanted it yet */
        void (*free)(void *made);
    } fact[STUDY_FACTS];
    struct study_private *own;
};

struct study *study_open(const char *path, const struct study_options *options, struct err *err);
void study_close(struct study *s); /* NULL is allowed */

/* Its two halves. The first collects the trace alone, if it is not there: slices and source are
 * NULL. The second reads debug information; for a stranger's pinball it must be called in a
 * confined process (broker.h). */
struct study *study_collect(const char *path, const struct study_options *options, struct err *err);
int study_analyse(struct study *s, struct err *err);

/* source_line(). True where the line is of code that the user has: there is a source line, and it
 * is no system library's, or its text can be read. A header of the system is not the user's: what
 * was inlined from there is in the line that called it, and what was not is code without source. */
bool study_line(struct study *s, gaddr pc, struct source_line *out);
/* The same, or of a module that has no lines at all but is no system library. */
bool study_own(struct study *s, gaddr pc, struct source_line *out);

/* In words: "work.c:12" of such a line, else what is known of the pc. */
void study_place(struct study *s, gaddr pc, char *buf, size_t room);

/* Was the text of a file changed after the recording was made? Nothing is known of a packed one. */
bool study_text_changed(struct study *s, const char *file);

/* An instruction by its number. */
struct study_insn {
    uint32_t thread; /* as in trace_step.thread */
    const struct code_block *block;
    uint32_t index; /* in the block */
};
int study_insn(struct study *s, uint64_t number, struct study_insn *out, struct err *err);

/* Registers at a position, by replaying as far as there. */
int study_registers(struct study *s, const struct position *at, struct program_registers *out,
                    struct err *err);

/* The past (past.h) at instruction `insn`, as past_go() has it. NULL with *err set. To be freed. */
struct past *study_past(struct study *s, uint64_t insn, const struct position *at, struct err *err);

/* The past at the end of the recording, or of its window. It belongs to the study. */
struct past *study_at_end(struct study *s, struct err *err);

/* Creates a file that the user named, for the result; the broker does it in a study that is
 * confined. NULL with *err set. */
FILE *study_create(struct study *s, const char *path, struct err *err);

/* Did the program replace itself (execve)? The trace is of what it did since. */
bool study_replaced(const struct study *s);

/* How the recording ended: enum end_reason, the status, the last position. */
uint32_t study_end(const struct study *s, int *status, struct position *at);

#endif
