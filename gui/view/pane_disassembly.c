/* pane_disassembly.c - the code around the program's counter, in step with it.
 * SPDX-License-Identifier: MIT */
#include "gui/view/disassembly.h"
#include "gui/view/panes.h"

struct disassembly_pane {
    struct pane pane;
    struct disassembly *code;
};

static void refresh(struct pane *pane)
{
    disassembly_refresh(((struct disassembly_pane *)pane)->code);
}

struct pane *disassembly_pane_new(struct window *w)
{
    struct disassembly_pane *p = g_new0(struct disassembly_pane, 1);
    p->code = disassembly_new(w, "Disassembly");
    p->pane.widget = disassembly_widget(p->code);
    p->pane.refresh = refresh;
    p->pane.refresh_on = PANE_MOVED | PANE_BIT(CHANGE_BREAKPOINTS);
    return &p->pane;
}
