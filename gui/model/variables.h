/* variables.h - variables as a list that remembers what it showed, to mark what has changed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef GUI_MODEL_VARIABLES_H
#define GUI_MODEL_VARIABLES_H

#include "gui/model/value.h"

struct variable {
    char *name, *value, *type; /* as they are shown */
    char *expression;          /* for GDB */
    bool changed;              /* since the list was made of the same function and thread */
    bool has_parts;            /* it is a structure, an array or a pointer */
};

void variable_free(void *variable); /* as GLib calls it */

struct variables {
    char *scope;     /* function and thread */
    GPtrArray *list; /* of struct variable * */
};

void variables_init(struct variables *v);
void variables_deinit(struct variables *v);

/* The variables of a frame: the answers to -stack-list-variables with --all-values, and with
 * --simple-values for the types; the second may be NULL. Variables of the same scope whose value
 * differs from the one that was there are marked. */
void variables_take(struct variables *v, const char *scope, const struct value *values,
                    const struct value *types);

/* By its type, as GDB writes it. */
bool variables_type_has_parts(const char *type);

/* How many elements an array of this type has, such as char [100001]. 0: it is no array. */
uint64_t variables_elements(const char *type);

#endif
