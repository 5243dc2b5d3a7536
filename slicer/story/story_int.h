/* story_int.h - what the files of slicer/story share: the search. SPDX-License-Identifier: MIT */
#ifndef SLICER_STORY_STORY_INT_H
#define SLICER_STORY_STORY_INT_H

#include "slicer/story/story.h"

#define STORY_NO_ENTRY UINT32_MAX

struct entry {
    uint32_t cost, order;
    uint32_t base; /* the cost of the use that its run of copies ends with */
    uint32_t node; /* that this leads to */
    uint32_t from; /* entry; NO_ENTRY: the criterion */
    uint32_t copies;
    const struct flows_edge *via; /* the last step; NULL: none */
    const char *detail;           /* of the mark */
    uint32_t via_node;            /* whose edge that is */
    uint32_t use_node;            /* that the run of copies ends with */
    int32_t parent;               /* row of the story */
    uint8_t kind;                 /* enum slice_edge */
    uint8_t race;
    uint8_t mark;  /* enum mark */
    uint8_t about; /* the same, of what this is a part of, or decided for */
    bool carried;  /* only the line of a copy is offered */
    uint8_t crowd; /* rows of its function that it has paid for */
    bool again;    /* and that its line was told with another row */
    uint8_t depth; /* rows from the criterion to its parent */
};

struct search {
    struct study *study;
    const struct report *report;
    const struct flows *flows;
    const struct criterion *of;
    const struct findings *findings;
    struct story *out;
    struct entry *entry;
    size_t entries, entry_room;
    uint32_t *heap; /* entries */
    size_t heaped, heap_room;
    unsigned begun; /* marks that the search began with, a bit each */
    uint8_t *seen;  /* by edge, and behind these by want: kinds of wants that followed it */
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

/* Is a line told with a row, as one that decided? */
bool story_attached(const struct story_row *x, uint32_t row);

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
