/* expression.h - the expression that a place in a source line means. SPDX-License-Identifier: MIT
 */
#ifndef GUI_MODEL_EXPRESSION_H
#define GUI_MODEL_EXPRESSION_H

/* The name at a byte of the line, with all that leads to it from the left: at `key` in
 * `x = list->head[i].key;` it is list->head[i].key. NULL: there is no name, or it is a word of the
 * language. Calls are left out: they would be executed. To be freed. */
char *expression_at(const char *line, unsigned column);
/* The name at a byte of the line, if a bracket follows it: a function that is called or defined,
 * with what qualifies it, Shop::sell. NULL: there is none. To be freed. */
char *function_at(const char *line, unsigned column);

#endif
