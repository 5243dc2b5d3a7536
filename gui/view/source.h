/* source.h - the source window: a tab for each file. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_SOURCE_H
#define GUI_VIEW_SOURCE_H

#include "gui/view/page.h"

struct source *source_new(struct window *w);
GtkWidget *source_widget(struct source *s);
void source_changed(struct source *s, enum debugger_change change);

/* Opens the file, if it can be read, at the line; 0: wherever it was. */
bool source_show(struct source *s, const char *path, unsigned line);
/* The page in front, or NULL. */
struct page *source_page(struct source *s);
void source_find(struct source *s); /* opens the search bar */
void source_find_next(struct source *s, bool back);
void source_goto(struct source *s);         /* asks for a line or a function */
void source_close(struct source *s);        /* the tab in front */
void source_zoom(struct source *s, int by); /* 0: as at first */

/* Its family; NULL or "": the desktop's monospaced one. */
void source_use_font(struct source *s, const char *family);

#endif
