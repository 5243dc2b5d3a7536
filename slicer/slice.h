/* slice.h - dynamic slices of a trace: why does a value have its value.
 *
 * SPDX-License-Identifier: MIT
 *
 * A node is an instruction that was executed, by its number in the trace. It is in the slice of a
 * location at a point if the location's value there depends on it: by value, by address or by
 * control (docs/slicing.md says exactly what depends on what). A slice is a set of nodes.
 */
#ifndef SLICER_SLICE_H
#define SLICER_SLICE_H

#include "base/err.h"
#include "trace/trace.h"

struct trace_index;
struct slice;

enum slice_edge {
    SLICE_VALUE = 1 << 0,
    SLICE_ADDRESS = 1 << 1,
    SLICE_CONTROL = 1 << 2,
    SLICE_ALL = SLICE_VALUE | SLICE_ADDRESS | SLICE_CONTROL,
};

enum { SLICE_MAX_SAVE = 10 };

enum slice_kind { SLICE_BACKWARD, SLICE_FORWARD, SLICE_CHOP };

/* Something that carries no dependence: an instruction's use of it is none. */
enum slice_prune_kind {
    SLICE_PRUNE_MEMORY,   /* `bytes` bytes at addr */
    SLICE_PRUNE_REGISTER, /* `bytes` locations from `addr` on (enum loc), of all threads */
    SLICE_PRUNE_FRAME,    /* `bytes` bytes at addr from the CFA of the frame that uses them */
};

struct slice_prune {
    enum slice_prune_kind kind;
    uint64_t addr, bytes;
    gaddr from, to; /* for instructions at pcs in [from, to); both 0: for all */
};

struct slice_options {
    unsigned edges;     /* enum slice_edge; 0: all */
    bool keep_saves;    /* do not look through saved and restored registers */
    bool stack_pointer; /* rsp and rbp carry dependences like other registers */
    bool relocated;     /* reads of what the loader made read-only are uses, too */
    unsigned max_save;  /* saves of a function that are looked for; 0: SLICE_MAX_SAVE */
    uint64_t first;     /* nothing before this instruction */
    uint64_t most;      /* ends when it has so many nodes; 0: all of them */
    const struct slice_prune *prune;
    size_t prunes;
    bool unset;      /* of edges: memory that is read and that nobody defined is told, too */
    bool whole;      /* read all chunks, also those in which nothing is wanted */
    size_t remember; /* bytes of what is remembered of blocks, about; 0: enough for most */
};

enum slice_want_kind {
    SLICE_MEMORY,   /* `bytes` bytes at addr */
    SLICE_REGISTER, /* `bytes` locations from `addr` on (enum loc), of a thread */
    SLICE_USES,     /* all that instruction `at` uses; it is in the slice itself */
};

struct slice_want {
    enum slice_want_kind kind;
    uint64_t at;     /* before the instruction with this number; trace_insns(): at the end */
    uint32_t thread; /* as in trace_step.thread */
    uint64_t addr, bytes;
};

/* NULL with *err set. */
struct slice *slice_backward(struct trace_index *index, const struct slice_want *want, size_t wants,
                             const struct slice_options *options, struct err *err);
void slice_free(struct slice *slice); /* NULL is allowed */

/* All that depends on what the wants name: on the locations' values at their points, or on the
 * instructions themselves (SLICE_USES), which are then in it. `first` and `most` do not count. */
struct slice *slice_forward(struct trace_index *index, const struct slice_want *want, size_t wants,
                            const struct slice_options *options, struct err *err);
/* What is in both: of a forward and a backward slice, all that leads from one to the other. NULL:
 * no memory. */
struct slice *slice_chop(const struct slice *a, const struct slice *b, const struct trace *trace);
/* What is in a, not in b. */
struct slice *slice_minus(const struct slice *a, const struct slice *b, const struct trace *trace);

uint64_t slice_count(const struct slice *slice); /* nodes */
bool slice_has(const struct slice *slice, uint64_t insn);
/* The next node at or after `from`; UINT64_MAX: none. And the last one before `to`. */
uint64_t slice_next(const struct slice *slice, uint64_t from);
uint64_t slice_previous(const struct slice *slice, uint64_t to);

/* Memory whose value was made before the trace begins. */
enum { SLICE_BEFORE = 64 };
struct slice_before {
    gaddr addr;
    uint64_t bytes;
};

struct slice_figures {
    uint64_t pairs;  /* restores that were looked through */
    uint64_t chunks; /* of the trace that were read */
    uint64_t from;   /* nothing before this instruction was looked at: it had enough nodes, or the
                        user had enough; 0: all was */
    bool stopped;    /* the user had */
    struct slice_before before[SLICE_BEFORE]; /* by address; so many, of as many as fit */
    size_t befores;
};
void slice_figures(const struct slice *slice, struct slice_figures *out);

#endif
