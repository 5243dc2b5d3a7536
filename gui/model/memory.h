/* memory.h - bytes as people read them. SPDX-License-Identifier: MIT */
#ifndef GUI_MODEL_MEMORY_H
#define GUI_MODEL_MEMORY_H

#include "gui/model/value.h"

enum { MEMORY_COLUMNS = 16 };

struct memory_row {
    uint64_t address;
    char hex[3 * MEMORY_COLUMNS + 2]; /* "48 65 6c 6c ..." with a gap in the middle */
    char text[MEMORY_COLUMNS + 1];    /* what is printable, else a dot */
    bool changed;                     /* since the last look at the same bytes */
};

/* Rows of the answer to -data-read-memory-bytes; `old` is the last answer's rows, or NULL. */
GArray *memory_rows(const struct value *answer, const GArray *old);

/* What bytes can be read as, in the order of memory_types. */
struct memory_type {
    const char *name;
    unsigned bytes;
    enum { MEMORY_SIGNED, MEMORY_UNSIGNED, MEMORY_FLOAT, MEMORY_ADDRESS } kind;
};

extern const struct memory_type memory_types[];
enum { MEMORY_TYPES = 8 };

struct memory_number {
    uint64_t address;
    double value;
    char text[40];
};

/* struct memory_number of the same answer, read as an array of the type. */
GArray *memory_numbers(const struct value *answer, const struct memory_type *type);

#endif
