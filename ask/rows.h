/* rows.h - the rows of an answer, written as they are found: a table, JSON, CSV, or a count.
 *
 * SPDX-License-Identifier: MIT
 *
 * A question says which columns it has, then fills the cells of a row, which are empty at first,
 * and ends it. What the user limits (threads, a moment, how many) is looked at here, so a question
 * tells all that it finds until a row answers that there are enough.
 *
 *     rows_begin(r, columns, n, err);
 *     rows_position(r, AT, &at, insn);  rows_text(r, NAME, name);
 *     if ((end = rows_end(r, err)))     1: enough, -1: error
 *         return end;
 *
 * Text may hold anything; it is made safe where it is printed. A table is narrow enough for the
 * terminal: its last column is cut there.
 */
#ifndef ASK_ROWS_H
#define ASK_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/position.h"

enum rows_type {
    ROWS_TEXT,
    ROWS_NUMBER,   /* unsigned, decimal */
    ROWS_SIGNED,   /* decimal */
    ROWS_HEX,      /* an address */
    ROWS_POSITION, /* a moment, as `pin goto` takes it */
    ROWS_PLACE,    /* file:line; JSON has file, line and function apart */
    ROWS_FLAG,     /* set: the column's name is shown, or true */
};

struct rows_column {
    const char *name; /* lower case, one word; JSON's member */
    enum rows_type type;
};

/* A place in the program. Anything may be missing. */
struct rows_place {
    const char *file;
    uint32_t line;
    const char *function;
    uint64_t pc;
};

enum rows_form { ROWS_TABLE, ROWS_JSON, ROWS_CSV };

enum { ROWS_COLUMNS = 32 };

struct rows_options {
    enum rows_form form;
    uint64_t limit;    /* 0: none */
    uint32_t thread;   /* this one's alone; 0: all */
    bool count;        /* say only how many */
    const char *group; /* columns by which they are counted, with commas; NULL: they are not */
    uint64_t after;    /* rows whose order (rows_position()) is not below it */
    FILE *out;
    unsigned width; /* of the terminal; 0: it is none */
};

struct rows;

struct rows *rows_new(const struct rows_options *options, struct err *err);
void rows_free(struct rows *r); /* NULL is allowed */

/* The columns; their names are copied. Extra columns of the user's expressions come
 * last. Once. */
int rows_begin(struct rows *r, const struct rows_column *column, size_t n, struct err *err);

void rows_text(struct rows *r, unsigned column, const char *text); /* copied; NULL: empty */
void rows_printf(struct rows *r, unsigned column, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void rows_number(struct rows *r, unsigned column, uint64_t number);
void rows_signed(struct rows *r, unsigned column, int64_t number);
void rows_hex(struct rows *r, unsigned column, uint64_t number);
void rows_flag(struct rows *r, unsigned column, bool set);
void rows_place(struct rows *r, unsigned column, const struct rows_place *place);
/* The first position of a row is its moment: `order` grows with the execution, in what the question
 * counts in (instructions of a trace; ticks of all threads), and --after and --thread go by it. */
void rows_position(struct rows *r, unsigned column, const struct position *at, uint64_t order);
/* For a row without a position; and that it is of another thread, too. */
void rows_thread(struct rows *r, uint32_t thread);
void rows_also(struct rows *r, uint32_t thread);
/* For a row without a position: it is wanted if it ends behind --after. */
void rows_order(struct rows *r, uint64_t order);
/* The thread that --thread names; 0: rows of all are wanted. */
uint32_t rows_only(const struct rows *r);

/* 0: go on; 1: enough, the rest is not wanted; -1 with *err set. */
int rows_end(struct rows *r, struct err *err);

/* A line for people below the table (JSON: in "notes"): what was left out, and why. */
void rows_note(struct rows *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes what is left. `interrupted`: says that there may be more. */
int rows_finish(struct rows *r, bool interrupted, struct err *err);

/* Is anything of that column shown? Rows that are only counted need no values. */
bool rows_shows(const struct rows *r, unsigned column);
/* For an answer in another program's form, instead of rows: it is written there. Text in it must
 * be made safe by base/plain.h. */
FILE *rows_foreign(struct rows *r);

uint64_t rows_count(const struct rows *r); /* of those that were wanted */

#endif
