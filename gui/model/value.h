/* value.h - what GDB and drdebug answer, as a tree.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB's machine interface and JSON have the same shapes: texts, lists, and tuples of named values.
 * Both parsers (gui/link/mi.h, gui/link/json.h) make this tree, so that a pane does not care where
 * an answer comes from. Numbers and truth values are texts; JSON's null is a value without a text.
 * A value owns all below it. What is asked of a NULL value is NULL, so that a path needs no checks
 * on its way.
 */
#ifndef GUI_MODEL_VALUE_H
#define GUI_MODEL_VALUE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum value_kind { VALUE_TEXT, VALUE_LIST, VALUE_TUPLE, VALUE_NULL };

struct value {
    enum value_kind kind;
    char *name;       /* in a tuple, and in MI's lists of results; else NULL */
    char *text;       /* of VALUE_TEXT: valid UTF-8 */
    GPtrArray *items; /* of lists and tuples: struct value * */
};

struct value *value_new(enum value_kind kind, const char *name);
struct value *value_new_text(const char *name,
                             const char *text); /* bytes that are no UTF-8 are replaced */
void value_free(struct value *v);
void value_add(struct value *to, struct value *item); /* takes it */

/* A tuple's member, or NULL. */
const struct value *value_get(const struct value *v, const char *name);
/* Its text, or NULL if there is none. */
const char *value_text(const struct value *v, const char *name);
/* Its text, or "". */
const char *value_say(const struct value *v, const char *name);
/* Its text as a number in any of C's forms, or `otherwise`. */
uint64_t value_number(const struct value *v, const char *name, uint64_t otherwise);
bool value_is_true(const struct value *v, const char *name);

unsigned value_count(const struct value *v);
const struct value *value_at(const struct value *v, unsigned i);

#endif
