/* story_int.h - what the files of slicer/story share: the search. SPDX-License-Identifier: MIT */
#ifndef SLICER_STORY_STORY_INT_H
#define SLICER_STORY_STORY_INT_H

#include "slicer/story/story.h"
#include "slicer/story/usual.h"

#define STORY_NO_ENTRY UINT32_MAX

/* Bytes that a step brings: those that the use of its run of copies took, of all that it read. */
struct part {
    uint64_t at; /* of the step's place */
    uint32_t bytes;
    uint32_t skip; /* in what the use read */
    bool extended; /* the use has no byte of them: zeros, or their sign */
};

/* Where the ways went through an edge, if not with all of its bytes. */
struct passage {
    uint64_t at;
    uint32_t bytes, next; /* number plus one; 0: none */
    uint8_t kind;
};

struct entry {
    uint32_t cost, order;
    uint32_t base; /* the cost of the use that its run of copies ends with */
    uint32_t node; /* that this leads to */
    uint32_t from; /* entry; NO_ENTRY: the criterion */
    uint32_t copies;
    const struct flows_edge *via; /* the last step; NULL: none */
    const struct flows_edge *use; /* the first one of the run; NULL: none */
    struct part part;             /* of the last step */
    const char *detail;           /* of the mark */
    uint32_t via_node;            /* whose edge that is */
    uint32_t use_node;            /* that the run of copies ends with */
    int32_t parent;               /* row of the story */
    uint8_t kind;                 /* enum slice_edge */
    uint8_t race;
    uint8_t mark;  /* enum mark */
    uint8_t about; /* the same, of what this is a part of, or decided for */
    bool carried;  /* only the line of a copy is offered */
    bool passed;   /* a copy that is a step of a run */
    uint8_t crowd; /* rows of its function that it has paid for */
    bool again;    /* and that its line was told with another row */
    uint8_t depth; /* rows from the criterion to its parent */
    uint8_t rare;  /* doublings: the rarest step of the run */
};

struct search {
    struct study *study;
    const struct report *report;
    const struct flows *flows;
    const struct criterion *of;
    const struct findings *findings;
    const struct report *known; /* lines that are not told; NULL: all are */
    struct usual *usual;
    struct story *out;
    struct entry *entry;
    size_t entries, entry_room;
    uint32_t *heap; /* entries */
    size_t heaped, heap_room;
    unsigned begun; /* marks that the search began with, a bit each */
    uint8_t *seen;  /* by edge, and behind these by want: kinds of wants that followed it */
    struct passage *passage;
    uint32_t *through; /* by edge: the latest passage, its number plus one */
    size_t passages, passage_room;
    bool folds; /* what was computed in the function of a row is told with the row */
    bool whole; /* nothing was left to tell */
    struct err *err;
};

/* The row of the report that a node is in; NULL: none. */
static inline const struct report_row *story_report_row(const struct search *t, uint32_t node)
{
    uint32_t row = t->flows->row_of[node];
    return row < t->report->rows ? &t->report->row[row] : NULL;
}

/* The row of the story with this line; STORY_NONE: none. What is marked needs the same mark. */
int32_t story_find_row(const struct search *t, const struct report_row *r, enum race race);

/* Has a report the line of another's row? */
bool story_knows(const struct report *known, const struct report_row *r);

/* Is a line told with a row, as one that decided? */
bool story_attached(const struct story_row *x, uint32_t row);

/* run.c: what of an entry's bytes an edge of its node, which is a copy, brings. False: nothing. */
bool run_brings(const struct search *t, const struct entry *e, const struct flows_edge *x,
                struct part *out);
/* Was an edge not followed yet for such a want, with these bytes? -1: no memory. */
int run_follow(struct search *t, const struct entry *e);
/* The last step of an entry, and the first one of its run: what flowed, without other bytes. */
struct slice_dependence run_begin(const struct search *t, const struct entry *e);
struct slice_dependence run_end(const struct search *t, const struct entry *e);

/* cost.c: what an entry's last step costs, with the copies on the way; and what is added for rows
 * that its function has by now. */
uint32_t cost_of(const struct search *t, struct entry *e);
uint32_t cost_of_crowd(const struct search *t, struct entry *e);
enum cost_of { COST_CARRYING, COST_ERROR, COST_SIZE };
uint32_t cost_fixed(enum cost_of what);
/* Is its node in the function of the use? */
bool cost_same_function(const struct search *t, const struct entry *e);
/* Does a node make its result from no values? */
bool cost_is_constant(const struct search *t, uint32_t node);

#endif
