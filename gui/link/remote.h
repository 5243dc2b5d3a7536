/* remote.h - a recording that is on another host, reached by the ssh client of this machine.
 *
 * SPDX-License-Identifier: MIT
 *
 * Nothing is installed or left there but drdebug itself. One connection is kept open: it says which
 * drdebug the host has, and tells when the host is lost. All that the window starts for such a
 * recording (GDB, questions, the trace) is started there, through that connection if this ssh can
 * share one, and ends when its own side of the connection is closed.
 */
#ifndef GUI_LINK_REMOTE_H
#define GUI_LINK_REMOTE_H

#include <stdbool.h>

#include "base/err.h"

struct remote;

struct remote_listener {
    void (*connected)(void *arg);
    /* The connection could not be made, or is lost: `words` say why. */
    void (*lost)(void *arg, const char *words);
    void *arg;
};

enum remote_use {
    REMOTE_GDB, /* tells its process as =remote,pid="..."; lives as long as its input is open */
    REMOTE_JOB, /* has no input; lives as long as the input of its ssh is open */
};

/* HOST:DIR, as scp has it: a colon before any slash. A file of this machine that has such a name is
 * meant if it is there. `path` gets DIR, to be freed; NULL: only ask. */
bool remote_is(const char *text, char **host, char **path);

struct remote *remote_new(const char *host, const struct remote_listener *listener);
void remote_free(struct remote *r);

const char *remote_host(const struct remote *r);
bool remote_is_connected(const struct remote *r);
/* Once it was lost. -1: ssh cannot be started; lost() is not called then. */
int remote_connect(struct remote *r, struct err *err);

/* What starts these words there; to be freed with g_strfreev(). */
char **remote_words(const struct remote *r, enum remote_use use, const char *const words[]);
/* What Ctrl-C does to a GDB. */
void remote_interrupt(const struct remote *r, const char *pid);

#endif
