/* debugger_own.h - what debugger.c and debugger_work.c share. SPDX-License-Identifier: MIT */
#ifndef GUI_LINK_DEBUGGER_OWN_H
#define GUI_LINK_DEBUGGER_OWN_H

#include "gui/link/debugger.h"

struct debugger_own {
    char *drdebug, *path;
    struct debugger_listener listener;
    struct job *opening;
    bool busy, breakpoints_asked;
    char *guest;     /* the number of the breakpoint that a run to a line has set */
    bool guest_back; /* that run goes backwards */
    GQueue *tasks;   /* work in the background: the first one is under way */
    struct job *job;
    uint64_t generation; /* grows when work is forgotten */
};

extern const struct debugger_listener debugger_silence;

void debugger_tell(struct debugger *d, enum debugger_change change);
void debugger_complain(struct debugger *d, const char *text);
void debugger_ask_timeline(struct debugger *d);
void debugger_forget_work(struct debugger *d);

#endif
