/* counts.h - how often each line was executed, beside the source. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_COUNTS_H
#define GUI_VIEW_COUNTS_H

#include <gtksourceview/gtksource.h>

#include "gui/view/window.h"

struct counts;

/* Lives as long as the view. Asks once there is a trace. */
struct counts *counts_new(struct window *w, GtkSourceView *view, const char *path);
void counts_ask(struct counts *c);
/* 0: never, or not known. */
uint64_t counts_at(const struct counts *c, unsigned line);

#endif
