/* compile_int.h - what compile.c knows of a row, for its reader. SPDX-License-Identifier: MIT */
#ifndef SOURCE_COMPILE_INT_H
#define SOURCE_COMPILE_INT_H

#include "source/compile.h"
#include "source/operand.h"
#include "source/render.h"

enum { COMPILE_TEXT = 16 << 10, COMPILE_WHY = 600 };

enum part_kind { PART_MEMORY, PART_TERM, PART_GONE };

/* Bytes of a value. */
struct part {
    enum part_kind kind;
    uint32_t at, bytes; /* in the value */
    struct term t;      /* of memory: its address */
};

struct item {
    int problem; /* not 0: `why` is all that there is */
    char why[COMPILE_WHY];
    struct source_type type, reference;
    bool referred;
    uint64_t n; /* of the value's bytes that are taken */
    struct part *part;
    size_t parts;
    unsigned leads; /* pieces behind those of the parts */
    uint8_t *bytes; /* of the row */
    bool *missing;
    char *text;
};

struct compiled {
    struct source *source;
    gaddr pc;
    struct expression_scene scene;
    struct terms terms;
    struct bytecode take, when;
    bool ended;          /* the code for taking is complete */
    bool reader_decides; /* whether `truth`, the condition, holds */
    struct term truth;
    char reason[COMPILE_WHY];
    struct item item[COMPILE_EXPRESSIONS];
    unsigned items;
};

/* Memory that the pieces have at an address: the one that reaches furthest from there, at most
 * `bytes`; RENDER_UNREAD: none. */
size_t compile_memory(const struct compile_piece *piece, size_t n, gaddr addr, void *out,
                      size_t bytes);

#endif
