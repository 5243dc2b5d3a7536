/* functions.h - functions by their names, and lines by their files.
 *
 * SPDX-License-Identifier: MIT
 *
 * A name is `[MODULE!]NAME`; both may have *, ? and [..]. A name without these is also the end of a
 * C++ name behind `::`, and template arguments may be left out. A module is named by its path or
 * the last part of that. Functions of libraries without debug information are known by their
 * symbols; so are those of libraries whose debug information is in another file, unless MODULE
 * names them. PLT stubs are not what they are named after.
 */
#ifndef SOURCE_FUNCTIONS_H
#define SOURCE_FUNCTIONS_H

#include "source/source.h"
#include "source/variable.h"

enum functions_kind {
    FUNCTIONS_WHOLE,
    FUNCTIONS_INLINED, /* an instance of it in another one */
    /* A stub that jumps to a function of this name, of whatever module: with indirect functions
     * (memcpy) the only one who knows what that is. */
    FUNCTIONS_STUB,
};

struct functions_one {
    const char *name, *module;
    gaddr entry;
    enum functions_kind kind;
    int32_t scope;    /* for functions_within() */
    const char *file; /* of an instance: where it was called; NULL: not known */
    uint32_t line;
};

/* By address, each once. {0} is an empty list. */
struct functions {
    struct functions_one *at;
    size_t count;
};

void functions_deinit(struct functions *list);

/* -1 with SOURCE_NO_FUNCTION: there is no such function; the message names similar ones. */
int functions_find(struct source *s, const char *pattern, struct functions *out, struct err *err);
/* Is there an indirect function of that name? What is called is known to its stubs only. */
bool functions_chosen(struct source *s, const char *pattern);
/* The name, or its end behind `::`; template arguments may be left out. */
bool functions_name_matches(const char *name, const char *wanted);
/* Is the module that pc is in the one that the pattern asks for? */
bool functions_in_module(struct source *s, const char *pattern, gaddr pc);

/* Does the code at pc belong to an inlined instance? */
bool functions_within(struct source *s, const struct functions_one *instance, gaddr pc);

/* source/functions_values.c: where GDB stops for a function that begins there: behind its prologue.
 */
gaddr functions_body(struct source *s, gaddr entry);
/* Where a call of it begins, of an inlined instance, too. */
gaddr functions_entered(struct source *s, const struct functions_one *function);
/* How many calls that are inlined in it are around pc: `frame.inlined` of its variables there. */
uint32_t functions_inside(struct source *s, const struct functions_one *function, gaddr pc);
/* The names of its parameters, at most `room`. Returns how many. */
size_t functions_parameters(struct source *s, const struct functions_one *function,
                            const char **name, size_t room);
/* Where what it gives back is, at the function's return. False: it gives nothing back, or it is not
 * known. */
struct functions_returned {
    struct source_place place;
    bool led; /* the place has a pointer to it */
};
bool functions_result(struct source *s, const struct functions_one *function,
                      struct functions_returned *out);

/* Lines that have code, in whatever order, several times: of the program, and of libraries that
 * have debug information in them or were asked about before. Not 0 ends it. */
typedef int functions_line_fn(void *arg, gaddr pc, const char *file, uint32_t line);
int functions_lines(struct source *s, functions_line_fn *fn, void *arg);

#endif
