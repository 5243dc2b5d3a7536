/* debugger_own.h - what debugger.c and debugger_work.c share. SPDX-License-Identifier: MIT */
#ifndef GUI_LINK_DEBUGGER_OWN_H
#define GUI_LINK_DEBUGGER_OWN_H

#include "gui/link/debugger.h"

struct debugger_own {
    char *drdebug, *path, *gdb;
    struct program program; /* of a live session */
    char *tty;
    char *sources;    /* FROM=TO, with spaces between; or NULL */
    GPtrArray *again; /* commands that bring back breakpoints, or NULL */
    char *again_at;   /* a position to go to, or NULL */
    bool ended;       /* the program has: its recording is opened as soon as GDB has */
    struct debugger_listener listener;
    struct job *opening;
    bool busy, breakpoints_asked;
    bool timeline_asked, timeline_old; /* asked for; to be asked for again */
    char *guest;     /* the number of the breakpoint that a run to a line has set */
    bool guest_back; /* that run goes backwards */
    GQueue *tasks;   /* work in the background: the first one is under way */
    struct job *job;
    uint64_t generation; /* grows when work is forgotten */
};

extern const struct debugger_listener debugger_silence;

/* What starts GDB on a program, ended by NULL; to be freed. NULL: that was told. */
char **debugger_live_words(struct debugger *d);
/* The breakpoints and the place, for the next GDB. */
void debugger_remember(struct debugger *d);
void debugger_set_sources(struct debugger *d); /* tells GDB */
void debugger_start_gdb(struct debugger *d);
void debugger_set_state(struct debugger *d, enum session_state state);
void debugger_tell(struct debugger *d, enum debugger_change change);
void debugger_complain(struct debugger *d, const char *text);
void debugger_ask_timeline(struct debugger *d);
void debugger_forget_work(struct debugger *d);

#endif
