/* disassembly.h - the code around the program's counter, as a list. SPDX-License-Identifier: MIT
 *
 * It is shown in a pane, and in the place of a source that is not there.
 */
#ifndef GUI_VIEW_DISASSEMBLY_H
#define GUI_VIEW_DISASSEMBLY_H

#include "gui/view/window.h"

struct disassembly;

struct disassembly *disassembly_new(struct window *w, const char *name);
GtkWidget *disassembly_widget(struct disassembly *d);
/* Asks for it again. */
void disassembly_refresh(struct disassembly *d);

#endif
