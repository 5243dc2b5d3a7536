/* margin.h - the strip beside the source: breakpoints, the current line, dependences to be opened.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef GUI_VIEW_MARGIN_H
#define GUI_VIEW_MARGIN_H

#include <gtksourceview/gtksource.h>
#include <stdbool.h>

enum margin_mark {
    MARGIN_BREAKPOINT = 1,
    MARGIN_DISABLED = 2, /* the breakpoint is */
    MARGIN_CONDITION = 4,
    MARGIN_CURRENT = 8, /* the line that is executed next */
    MARGIN_FRAME = 16,  /* the line of another frame that is looked at */
    MARGIN_SLICE = 32,  /* has dependences */
    MARGIN_OPEN = 64,   /* and shows them */
};

#define GUI_TYPE_MARGIN gui_margin_get_type()
G_DECLARE_FINAL_TYPE(GuiMargin, gui_margin, GUI, MARGIN, GtkSourceGutterRenderer)

/* Lines count from 1. `which` are the marks that this strip shows. */
GtkSourceGutterRenderer *gui_margin_new(unsigned which, int width,
                                        unsigned (*marks)(void *arg, unsigned line),
                                        void (*clicked)(void *arg, unsigned line, unsigned button),
                                        void *arg);

#endif
