/* debugger_own.h - what debugger.c and debugger_work.c share. SPDX-License-Identifier: MIT */
#ifndef GUI_LINK_DEBUGGER_OWN_H
#define GUI_LINK_DEBUGGER_OWN_H

#include "gui/link/debugger.h"
#include "gui/link/remote.h"

struct debugger_own {
    char *drdebug, *gdb;
    char *path;             /* of the recording, where it is */
    char *spec;             /* the same for people: HOST:DIR if it is on another host */
    struct remote *remote;  /* NULL: it is on this machine */
    char *remote_gdb;       /* the number of its process there */
    GHashTable *sources;    /* of another host: path -> text, "" if there is none */
    GPtrArray *fetches;     /* questions about such sources that are under way */
    unsigned stops;         /* how often it has stopped */
    struct program program; /* of a live session */
    char *tty;
    char *places;     /* of sources: FROM=TO, with spaces between; or NULL */
    GPtrArray *again; /* commands that bring back breakpoints, or NULL */
    char *again_at;   /* a position to go to, or NULL */
    bool ended;       /* the program has: its recording is opened as soon as GDB has */
    struct debugger_listener listener;
    struct job *opening;
    bool busy, breakpoints_asked;
    bool place_again;                  /* where the stop is was asked twice */
    bool timeline_asked, timeline_old; /* asked for; to be asked for again */
    struct timeline *coming;           /* its turns come row by row; or NULL */
    char *guest;     /* the number of the breakpoint that a run to a line has set */
    bool guest_back; /* that run goes backwards */
    GQueue *tasks;   /* work in the background: the first one is under way */
    struct job *job;
    uint64_t generation; /* grows when work is forgotten */
};

extern const struct debugger_listener debugger_silence;

/* debugger_remote.c: these words, or what starts them on the recording's host. To be freed with
 * g_strfreev(). */
char **debugger_words(struct debugger *d, enum remote_use use, const char *const words[]);
/* Reaches the host; then the recording is asked for there. */
void debugger_connect(struct debugger *d);
void debugger_forget_sources(struct debugger *d);
void debugger_fetch_free(void *fetch);
/* Looks at the first frame whose source is there; the array has the sources of all, and may be
 * changed. */
void debugger_find_source(struct debugger *d, GPtrArray *paths);
void debugger_ask_info(struct debugger *d);
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
