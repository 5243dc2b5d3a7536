/* describer.h - what a program did, in words: `openat(AT_FDCWD, "d", O_RDONLY) = 3<d>`.
 *
 * SPDX-License-Identifier: MIT
 *
 * The form is strace's; descriptors are followed by what they lead to. arguments.def says what the
 * arguments of a call are; a call that it does not have shows them in hexadecimal. Events are to be
 * given in their order, all of them from the first on: descriptors are known by the calls before.
 * Used by one thread.
 */
#ifndef DEBUG_EVENTS_DESCRIBER_H
#define DEBUG_EVENTS_DESCRIBER_H

#include "debug/debuggee.h"
#include "debug/events/descriptors.h"
#include "debug/events/words.h"

struct describer;

enum call_class {
    CLASS_NONE,
    CLASS_FILE,
    CLASS_NET,
    CLASS_MEMORY,
    CLASS_PROCESS,
    CLASS_IPC,
    CLASS_SIGNAL,
    CLASS_TIME,
};

enum { DESCRIBED_FDS = 16, DESCRIBED_PATHS = 4 };

/* An event in words. Good until the next one is described. */
struct described {
    const char *kind; /* call, signal, ... */
    const char *text;
    /* What follows is about a call, also one that another event tells of. */
    const char *call; /* its name; NULL: none, or unknown */
    enum call_class class;
    int error; /* 0: it did not fail */
    int64_t fd[DESCRIBED_FDS];
    unsigned fds;
    const char *path[DESCRIBED_PATHS]; /* names it was given, and those of its descriptors */
    unsigned paths;
};

struct describer *describer_new(void);    /* NULL: no memory */
void describer_free(struct describer *d); /* NULL is allowed */

/* An event of a kind that nobody knows is described as such. */
void describer_event(struct describer *d, const struct debuggee_event *event,
                     struct described *out);

/* The same for an event whose words are not wanted. */
void describer_follow(struct describer *d, const struct debuggee_event *event);

const char *describer_kind(enum event_kind kind); /* "call"; NULL: there is no such kind */

#endif
