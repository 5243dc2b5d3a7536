/* slices.h - a slice as the window shows it: lines, and what each depends on.
 *
 * SPDX-License-Identifier: MIT
 *
 * Made of what -pin-slice, -pin-why and -pin-list answer (gdb/slices.py).
 */
#ifndef GUI_MODEL_SLICES_H
#define GUI_MODEL_SLICES_H

#include "gui/model/value.h"

/* What a line depends on: one edge. */
struct slice_dependence {
    char *position, *file, *text, *kind, *what, *race; /* race: NULL or its name */
    unsigned line, thread;
    uint64_t times;
};

struct slice_row {
    char *position, *file, *text, *kind, *what;
    unsigned line, thread;
    unsigned rank;          /* in the story, from 1; 0: it is not in it */
    GPtrArray *dependences; /* of struct slice_dependence * */
};

struct slice {
    unsigned number; /* GDB's; 0: none */
    char *kind, *title, *size;
    char *findings;      /* what looks like the bug, a line each */
    GPtrArray *story;    /* of struct slice_row *: those that say most, the best first */
    GPtrArray *rows;     /* of struct slice_row *: all */
    GHashTable *by_line; /* a line's number -> GPtrArray of its rows, of whatever file */
};

/* NULL: this is no answer about a slice. */
struct slice *slice_new(const struct value *answer);
void slice_free(struct slice *s);

/* The rows of a source line, one for each thread that executed it: to be freed with
 * g_ptr_array_unref(). */
GPtrArray *slice_at(const struct slice *s, const char *file, unsigned line);

/* In words: "T2 racy_counter.c:32, total: value, race". To be freed. */
char *slice_dependence_words(const struct slice_dependence *d);

#endif
