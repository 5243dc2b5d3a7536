/* window.h - the window: what its parts share.
 *
 * SPDX-License-Identifier: MIT
 *
 * A window has one recording. Each part (source, panes, timeline, toolbar) is a file of its own;
 * they know the debugger and this header, not each other. What changed is told to all of them; a
 * part that nobody sees remembers that it is out of date, and asks when it is shown.
 */
#ifndef GUI_VIEW_WINDOW_H
#define GUI_VIEW_WINDOW_H

#include <adwaita.h>

#include "gui/link/debugger.h"
#include "gui/model/settings.h"

struct window;
struct source;
struct toasts;

enum pane_place { PLACE_LEFT, PLACE_RIGHT_TOP, PLACE_RIGHT_BOTTOM, PLACES };

struct pane;

struct pane_kind {
    const char *name, *title; /* for settings; for people */
    enum pane_place place;    /* where it is at first */
    struct pane *(*make)(struct window *w);
};

/* Each pane's struct begins with this. */
struct pane {
    const struct pane_kind *kind;
    struct window *window;
    GtkWidget *widget;
    /* Something changed; may be NULL. */
    void (*changed)(struct pane *pane, enum debugger_change change);
    /* It is seen, and what it shows may be old; may be NULL. */
    void (*refresh)(struct pane *pane);
    unsigned refresh_on; /* bits of changes that make it old */
    bool old;
};

#define PANE_BIT(change) (1u << (change))
/* Another place or frame. */
#define PANE_MOVED       (PANE_BIT(CHANGE_STOP) | PANE_BIT(CHANGE_FRAME))

struct window {
    AdwApplicationWindow *window;
    struct debugger *debugger;
    struct settings *settings;
    char *drdebug; /* the program */
    struct source *source;
    struct timeline_view *timeline;
    GPtrArray *panes; /* of struct pane * */
    GtkWidget *places[PLACES];
    GtkWidget *pages; /* start page, or the session */
    struct toasts *toasts;
    GtkWidget *banner, *banner_label, *banner_button;
    GtkWidget *status, *position, *work, *work_label, *work_bar;
    GtkWidget *title, *main_paned, *left_paned, *right_paned;
    GtkWidget *menu;       /* of an expression */
    bool closing, fitting; /* fitting: the source will be asked for its size again */
    int guide;             /* guide.c: the step that is next, or 0 */
    bool why_at_end;       /* a live program goes to its end, where its failure can be asked */
    unsigned pulse;        /* a source of the main loop */
    unsigned pulses;       /* since what is done began */
    char *relogged;        /* the recording of a slice that is being made */
    char *expression;      /* what a menu's Why?, Slice and their kind are about */
};

/* window.c */
struct window *window_new(GtkApplication *app, const char *drdebug);
void window_open(struct window *w, const char *path);
/* The session, though nothing is open yet: the terminal is in it. */
void window_show_session(struct window *w);
/* A few words over the session, for some seconds; one after the other. */
void window_toast(struct window *w, const char *text);
/* A strip above the source; `action` is one of the window's, NULL: no button. text NULL: none. */
void window_announce(struct window *w, const char *text, const char *button, const char *action);
struct pane *window_pane(struct window *w, const char *name);
void window_show_pane(struct window *w, const char *name);
/* About an expression: the menu that Why? and its kind are in, at a widget. */
void window_menu(struct window *w, const char *expression, GtkWidget *at);

/* actions.c: buttons, menus and keys from actions.def. */
void actions_add(struct window *w);
void actions_update(struct window *w);
GtkWidget *actions_toolbar(struct window *w);
/* NAME=KEY with spaces between; names of actions.def. What is not named has its own key. */
void actions_use_keys(struct window *w, const char *keys);
GMenuModel *actions_menu(struct window *w);

/* panes.c: from panes.def. */
void panes_make(struct window *w);
void panes_changed(struct window *w, enum debugger_change change);
void panes_save(struct window *w);

/* start.c */
GtkWidget *start_new(struct window *w);
void start_refresh(struct window *w);

/* A notebook's tab, whose label this is, has no name of its own in GTK 4.8. */
void window_name_tab(GtkWidget *label, const char *name);

/* shown in `code` class: a label that takes text of a recording, never markup. */
GtkWidget *window_label(const char *text);

#endif
