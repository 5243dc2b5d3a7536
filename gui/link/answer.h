/* answer.h - what `drdebug ask --json` prints (docs/ask.md), as one value. SPDX-License-Identifier:
 * MIT */
#ifndef GUI_LINK_ANSWER_H
#define GUI_LINK_ANSWER_H

#include "gui/model/value.h"

struct answer;

/* Is told of each row; what it is told belongs to the answer. */
typedef void answer_row(void *arg, const struct value *row);

/* It comes line by line. With fn its rows are told and not kept. */
struct answer *answer_new(answer_row *fn, void *arg);
void answer_take_line(struct answer *a, const char *line);
/* A tuple with `columns`, `rows`, `complete`, `notes`. NULL: it was no such answer, or was cut off.
 * `a` is gone then. */
struct value *answer_end(struct answer *a);

/* A cell as text, to be freed: a place is its words, a flag the column's name, null nothing. */
char *answer_cell(const struct value *row, const char *column);

#endif
