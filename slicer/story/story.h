/* story.h - the short story of a backward slice: the few rows that say what happened.
 *
 * SPDX-License-Identifier: MIT
 *
 * The story is taken best first from the criterion, by the weights of weights.def, over executed
 * instructions. A run of copies (slicer/walk/copy.h) is one step: its row is the line that made the
 * value, and says who carried it. A line is told once, unless a dependence on it is marked; a row
 * that decided something is told for a row that is told. docs/slicing.md, "The story".
 *
 *     struct story *t = story_new(study, report, criterion, &err);
 *     for (size_t i = 0; i < t->rows; i++)
 *         story_words(study, report, &t->row[i], NULL, text, sizeof text);
 */
#ifndef SLICER_STORY_STORY_H
#define SLICER_STORY_STORY_H

#include "slicer/story/findings.h"

enum {
    STORY_ROWS = 10,
    STORY_CARRIERS = 3,
    STORY_DECISIONS = 3,
    STORY_PARTS = 3,
    STORY_SITES = 3,
    STORY_CALLS = 3,
    STORY_MERGED = 8,
    STORY_OUTSIDE_ROOM = 128,
    STORY_NONE = -1
};

enum story_how {
#define HOW(name, rank, words) STORY_##name,
#include "slicer/story/hows.def"
#undef HOW
};

struct story_row {
    uint32_t row;     /* of the report */
    int32_t cause_of; /* another row of the story; STORY_NONE: it is the criterion */
    enum story_how how;
    struct slice_dependence use;    /* what flowed, at the step of the run that has a name for it */
    struct slice_dependence across; /* the step from thread to thread; kind 0: none */
    struct slice_dependence came;   /* the first step, from the row's own instruction */
    struct slice_dependence taken;  /* the last one of the run of copies, with the same bytes */
    bool extended;                  /* or zeros or the sign that they were extended by */
    char outside[STORY_OUTSIDE_ROOM]; /* a call, in words: whoever knows may fill it in */
    uint64_t insn;                    /* of the row's line that did it */
    struct position at;
    enum race race;
    enum mark mark;
    const char *detail; /* of the mark: who, how far; NULL: nothing. It is the findings' */
    uint64_t copies;    /* of the run between the two */
    const char *carrier[STORY_CARRIERS]; /* functions that made them, except those of both ends */
    gaddr carried[STORY_CARRIERS];       /* one of their instructions */
    uint32_t carriers;                   /* may be more than are named */
    uint32_t cost;                       /* of the way from the criterion */
    uint64_t count;                      /* executions of this dependence between these lines */
    uint32_t
        decision[STORY_DECISIONS]; /* rows of the report, in the same function: these decided */
    uint32_t decisions;
    uint32_t part[STORY_PARTS]; /* and these made what the row was made from */
    uint32_t parts;
    uint32_t call[STORY_CALLS]; /* rows of the report: these called the row's function */
    uint32_t calls;
    uint32_t merged[STORY_MERGED]; /* lines whose code is one with that of these */
    uint32_t mergeds;
    gaddr also[STORY_SITES]; /* instructions of the line in other calls that were inlined */
    uint32_t alsos;
};

struct story {
    struct story_row row[STORY_ROWS];
    size_t rows; /* the first is the criterion */
};

/* The report has flows. NULL with *err set. */
struct story *story_new(struct study *s, const struct report *r, const struct criterion *c,
                        const struct findings *f, struct err *err);
/* The story of instructions, each a SLICE_USES of the criterion, with lines that another report has
 * not. Its first row is the instructions' line. Positions are not filled in. */
struct story *story_beside(struct study *s, const struct report *r, const struct criterion *c,
                           const struct findings *f, const struct report *known, struct err *err);
void story_free(struct story *t); /* NULL is allowed */

const char *story_how(enum story_how how); /* "computed" */

/* `total = 3, read by T1, race, with :10, decided at :12, called at main.c:7, carried by f (2
 * copies), 40 times`; "" if there is nothing to say. `value` may be NULL. */
void story_words(struct study *s, const struct report *r, const struct story_row *row,
                 const char *value, char *out, size_t room);

/* What a branch that led past a line costs more than a row of the story: once, and for each that is
 * nearer. */
uint32_t story_missed_cost(bool each);

/* Is a row of the report in it? */
bool story_has(const struct story *t, uint32_t row);

#endif
