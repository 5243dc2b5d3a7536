/* page.h - one source file: its text with marks, values under the pointer, dependences between the
 * lines.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef GUI_VIEW_PAGE_H
#define GUI_VIEW_PAGE_H

#include <gtksourceview/gtksource.h>

#include "gui/view/counts.h"
#include "gui/view/window.h"

struct page;

/* `text` is the file's, safe to show. The page lives as long as its widget. */
struct page *page_new(struct window *w, const char *path, const char *text);
GtkWidget *page_widget(struct page *p);
GtkSourceView *page_view(struct page *p);
const char *page_path(const struct page *p);

/* Puts the cursor there and scrolls so that it is seen with some lines around it. */
void page_show_line(struct page *p, unsigned line);
/* The line that is executed next (`innermost`), or the one of the frame that is looked at; 0: none
 * here. */
void page_set_current(struct page *p, unsigned line, bool innermost);
unsigned page_cursor_line(struct page *p);
/* The expression at the cursor, or what is selected; NULL: none. To be freed. */
char *page_cursor_expression(struct page *p);
/* The name at the cursor, if it is called or defined there; NULL: none. To be freed. */
char *page_cursor_function(struct page *p);
/* Breakpoints or the slice have changed. */
void page_refresh(struct page *p);
/* There is a trace now. */
void page_traced(struct page *p);
/* Opens or closes what the line depends on. */
void page_toggle_dependences(struct page *p, unsigned line);
/* Opens or closes its instructions. */
void page_toggle_code(struct page *p, unsigned line);
/* What the margin shows there, in words; to be freed. NULL: nothing. */
char *page_margin_words(struct page *p, unsigned line);

/* A grid as what is opened below a line, with the name that it has for those who cannot see it. */
GtkWidget *page_scrolled_new(GtkWidget *grid, const char *name);

/* hover.c: the value of what is under the pointer. */
void hover_add(struct window *w, GtkSourceView *view);

/* dependences.c: what a line of the slice depends on, with buttons that go there. */
GtkWidget *dependences_new(struct window *w, const char *file, unsigned line);

/* code.c: the instructions of a line. They come later; `fn` is called when they are there, as long
 * as the widget lives. */
GtkWidget *code_widget_new(struct window *w, const char *file, unsigned line, void (*fn)(void *arg),
                           void *arg);

#endif
