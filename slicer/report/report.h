/* report.h - a slice for people: lines, how they depend on each other, in the order to read them.
 *
 * SPDX-License-Identifier: MIT
 *
 * A row is a line of a thread: all nodes of the slice that the thread executed there. Code without
 * source counts to the call in the user's code that it was executed for. Where there is no such
 * call either, a row is a function; of the user's code without lines it is an instruction. Rows are
 * ordered by their distance from the criterion in dependences between rows, then the later ones
 * first. In a forward slice and a chop, a row's distance is that along which something came from
 * the criterion, and the earlier ones are first. Nothing is printed here.
 */
#ifndef SLICER_REPORT_REPORT_H
#define SLICER_REPORT_REPORT_H

#include "slicer/criterion/criterion.h"
#include "slicer/report/marks.h"
#include "slicer/story/flows.h"

enum { REPORT_NONE = -1 };

/* If a slice has more nodes than this, only the last REPORT_LAST have edges, unless all nodes are
 * asked for: edges need a hundred bytes for each node, and half an hour for the largest slice. */
enum { REPORT_MOST = 2000000, REPORT_LAST = 1000000 };

struct report_row {
    uint32_t thread;  /* its number in positions */
    const char *file; /* NULL: no line */
    uint32_t line;
    bool own;             /* the user's code, see study_own() */
    const char *function; /* NULL: not known */
    const char *module;   /* NULL: not known */
    gaddr pc;             /* one of its instructions */
    uint64_t nodes;
    uint64_t left_out; /* so many instructions, for each of which no node stands; 0: it is code */
    uint64_t first, last; /* nodes, by number */
    struct position first_at, last_at;
    uint32_t distance; /* from the criterion; UINT32_MAX: no edge was found */
    int32_t edge;      /* that brought it in; REPORT_NONE: the criterion itself, or not shown */
    bool target;       /* of a chop: where it leads to */
    uint32_t number;   /* of use to report.c only */
};

/* Dependences of a row on another, all nodes together. */
struct report_edge {
    uint32_t row, on;
    unsigned kinds; /* enum slice_edge */
    uint64_t count;
    enum race race;                 /* the worst of them */
    struct slice_dependence sample; /* the latest of the strongest kind: value, address, control;
                                       of races, if there are some */
};

struct report_node {
    uint64_t insn, count;
    gaddr pc;
    uint32_t thread; /* in positions */
    uint32_t row;
    unsigned kinds;   /* of dependences on it; 0: the criterion */
    bool reads_flags; /* edges.h also tells of flags that an instruction only leaves alone */
    bool left_out;    /* it is not in the part that is shown; none of those is left in a report */
};

struct report {
    struct report_row *row;
    size_t rows;
    struct report_edge *edge;
    size_t edges;
    struct report_node *node; /* in order; NULL unless wanted */
    uint64_t nodes, threads;
    uint64_t lines; /* rows with nodes that are shown: lines, in each thread that executed them */
    uint64_t full;  /* nodes, of all of the part that is shown, without limits */
    bool forward;   /* rows are where something went, not where it came from */
    size_t others;  /* rows that are not the user's, if others are */
    bool bare;      /* few edges, see REPORT_MOST; rows without any are in the order of their last
                       execution */
    struct flows *flows; /* of the last REPORT_LAST nodes; NULL unless wanted */
};

/* Rows that are shown are of one of these threads, files and modules. Patterns are those of the
 * shell, for a path or for its last part. */
enum { REPORT_LIMITS = 32 };
struct report_limits {
    uint32_t thread[REPORT_LIMITS]; /* numbers in positions */
    const char *file[REPORT_LIMITS], *module[REPORT_LIMITS];
    size_t threads, files, modules; /* 0: of any */
};

struct report_options {
    bool nodes; /* list all nodes */
    bool flows; /* keep what a story is made from */
    bool fold;  /* code without source counts to its call */
    struct slice_options slice;
    enum slice_kind kind;
    const struct criterion *to;         /* of a chop */
    const struct report_limits *limits; /* NULL: none */
    const struct slice *part;           /* of the slice, that is shown; NULL: all of it */
};

struct report *report_new(struct study *s, const struct slice *slice,
                          const struct criterion *criterion, const struct report_options *options,
                          struct err *err);
void report_free(struct report *r); /* NULL is allowed */

/* Is the dependence one on flags that the node does not read? */
static inline bool report_is_idle(const struct slice_dependence *d, bool reads_flags)
{
    return d->kind != SLICE_CONTROL && !d->memory && d->addr >= LOC_CF &&
           d->addr <= LOC_FLAGS_REST && !reads_flags;
}

/* slicer/report/limit.c: leaves out what is none of these (NULL: no limits), and rows without
 * nodes, as those that a part of a slice does not have. Distances stay what they were. */
int report_limit(struct report *r, const struct report_limits *limits, struct err *err);
bool report_limit_module(const struct report_limits *limits, const char *module);

/* What flows along an edge: `total`, `%eax`, `8 bytes at 0x7ffe1234`; "" for control. */
void report_what(struct study *s, const struct slice_dependence *d, char *buf, size_t room);
/* Is that the name of a variable? */
bool report_is_named(struct study *s, const struct slice_dependence *d);

/* What stands for what the recording leaves out: "(left out: 876050 instructions)". */
void report_left_out(const struct report_row *row, char *buf, size_t room);

/* An executed instruction as GDB writes it; false: it is not known. */
bool report_insn(struct study *s, uint64_t insn, char *buf, size_t room);

/* `value` is called data: what people say. */
const char *report_kind(unsigned kinds);

#endif
