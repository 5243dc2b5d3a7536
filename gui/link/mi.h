/* mi.h - lines of GDB's machine interface (GDB manual, "GDB/MI Output Syntax").
 *
 * SPDX-License-Identifier: MIT
 *
 * What GDB prints may hold a stranger's names and values, so that a line may be anything. A line
 * that is none of MI's is a record of kind MI_OTHER with the line as its text: GDB prints some as
 * they are.
 */
#ifndef GUI_LINK_MI_H
#define GUI_LINK_MI_H

#include <stdbool.h>
#include <stdint.h>

#include "gui/model/value.h"

enum mi_kind {
    MI_OTHER = 0,
    MI_RESULT = '^',
    MI_EXEC = '*',
    MI_STATUS = '+',
    MI_NOTIFY = '=',
    MI_CONSOLE = '~',
    MI_TARGET = '@',
    MI_LOG = '&',
    MI_PROMPT = '(',
};

struct mi_record {
    enum mi_kind kind;
    uint64_t token;        /* 0: none */
    char *name;            /* of results and notices: done, error, stopped, ... */
    struct value *results; /* their fields: a tuple */
    char *text;            /* of streams, and of MI_OTHER */
};

/* Never fails: see above. The line comes without its newline. */
struct mi_record *mi_parse(const char *line);
void mi_free(struct mi_record *record);

/* A word as an argument of an MI command, quoted if it has to be. To be freed by the caller. */
char *mi_quote(const char *word);

#endif
