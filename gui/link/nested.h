/* nested.h - values in values, as JSON and GDB's machine interface write them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Both have texts in quotes, lists in [] and tuples in {}, with commas. A form is what differs.
 * Functions that fail give NULL or false; where the reader is then is of no matter.
 */
#ifndef GUI_LINK_NESTED_H
#define GUI_LINK_NESTED_H

#include <stdbool.h>

#include "gui/model/value.h"

struct nested {
    const char *at; /* what is not read yet */
    const struct nested_form *form;
    int depth;
};

struct nested_form {
    bool spaced; /* there may be space around everything */
    /* What stands behind a backslash. */
    bool (*escape)(struct nested *r, GString *out);
    /* A value in a list or tuple, with its name. */
    struct value *(*item)(struct nested *r, enum value_kind in);
    /* A value without quotes and brackets; NULL: the form has none. */
    struct value *(*word)(struct nested *r, const char *name);
};

void nested_skip(struct nested *r); /* space, if the form has some */
bool nested_take(struct nested *r, char c);
char *nested_text(struct nested *r); /* in quotes; to be freed */
/* NULL also if it is nested beyond reason. */
struct value *nested_value(struct nested *r, const char *name);

#endif
