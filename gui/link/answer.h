/* answer.h - what `drdebug ask --json` prints (docs/ask.md), as one value. SPDX-License-Identifier:
 * MIT */
#ifndef GUI_LINK_ANSWER_H
#define GUI_LINK_ANSWER_H

#include "gui/model/value.h"

/* A tuple with `columns`, `rows`, `complete`, `notes`. NULL: it is no such answer. */
struct value *answer_parse(const char *text);

/* A cell as text, to be freed: a place is its words, a flag the column's name, null nothing. */
char *answer_cell(const struct value *row, const char *column);

#endif
