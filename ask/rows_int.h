/* rows_int.h - what rows.c and the forms of an answer share. SPDX-License-Identifier: MIT */
#ifndef ASK_ROWS_INT_H
#define ASK_ROWS_INT_H

#include "ask/rows.h"

struct rows_cell {
    char *text;                  /* of text, positions and places */
    uint64_t number;             /* of numbers; a place's pc */
    const char *file, *function; /* of a place */
    uint32_t line;
    bool set;
};

struct rows_row {
    struct rows_cell cell[ROWS_COLUMNS];
    uint64_t number; /* from 1 */
    uint64_t order;
    uint32_t thread, also;
    bool placed; /* it has an order */
};

struct rows_group {
    struct rows_row row;
    uint64_t count;
};

struct rows {
    struct rows_options options;
    struct rows_column column[ROWS_COLUMNS];
    char *name[ROWS_COLUMNS]; /* of these, as rows_begin() copied them */
    size_t columns;
    size_t given;             /* of a list that is grouped: those of the question */
    struct rows_row row;      /* being filled */
    struct rows_cell nowhere; /* of columns that are not there */
    uint64_t count;
    bool grouped[ROWS_COLUMNS];
    struct rows_group *group;
    size_t groups, group_room;
    char **note;
    size_t notes;
    bool cut, broken; /* at the limit; by the user */
    bool no_memory;
    bool foreign; /* the answer is no rows */
    /* A table: its first rows wait until its columns' widths are known. */
    struct rows_row *kept;
    size_t kept_rows;
    unsigned wide[ROWS_COLUMNS];
    bool begun; /* something was written */
};

/* The row that was filled, in the form that is wanted; it may take its cells. */
int rows_write(struct rows *r, struct err *err);
/* What is kept, the notes, the form's end. */
int rows_write_end(struct rows *r, struct err *err);

#endif
