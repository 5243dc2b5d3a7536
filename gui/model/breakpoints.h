/* breakpoints.h - the breakpoints that GDB has. SPDX-License-Identifier: MIT */
#ifndef GUI_MODEL_BREAKPOINTS_H
#define GUI_MODEL_BREAKPOINTS_H

#include "gui/model/value.h"

struct breakpoint {
    char *number, *type, *where, *file, *condition; /* file, condition: NULL if there is none */
    uint64_t address;                               /* 0: not known */
    unsigned line, thread;                          /* 0: none */
    uint64_t hits, ignore;
    bool enabled, temporary;
};

/* struct breakpoint * of the answer to -break-list. */
GPtrArray *breakpoints_new(const struct value *answer);
/* The first one at a source line, or NULL. */
const struct breakpoint *breakpoints_at(const GPtrArray *all, const char *file, unsigned line);
/* As a command that makes it again in another GDB; NULL: it cannot be made again. To be freed. */
char *breakpoint_command(const struct breakpoint *b);

#endif
