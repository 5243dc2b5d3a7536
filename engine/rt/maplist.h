/* maplist.h - the kernel's list of a process's mappings, /proc/PID/maps.
 *
 * SPDX-License-Identifier: MIT
 *
 * The one reader of that file, for code inside a target and outside. It needs no memory but the
 * caller's buffer, which is filled before the first entry is told: a caller that changes the
 * mappings on the way and gave a buffer for the whole list sees it as it was.
 */
#ifndef ENGINE_RT_MAPLIST_H
#define ENGINE_RT_MAPLIST_H

#include "engine/rt/types.h"

enum { MAPLIST_LEAST = 128 }; /* bytes of a buffer: all of an entry but its path */

struct maplist_entry {
    gaddr start, end;
    int prot;
    bool shared;
    uint64_t offset, dev, ino; /* the device as stat tells it */
    const char *path;          /* "": none; "[stack]" and its kind; valid until the next entry */
};

struct maplist {
    long fd;
    char *buf;
    size_t size, at, have; /* of buf: what of it is still to be told */
    bool cut;              /* the rest of a line that did not fit comes next */
};

/* 0, or a negative errno. pid 0: the calling process. */
long maplist_open(struct maplist *m, int pid, char *buf, size_t size);
bool maplist_next(struct maplist *m, struct maplist_entry *e); /* false: there are no more */
void maplist_close(struct maplist *m);

#endif
