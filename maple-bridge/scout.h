/* scout.h - which instructions touch memory that threads share, from a recording.
 *
 * SPDX-License-Identifier: MIT
 *
 * A recording is traced, and facts/ tells which words several threads touch. Instructions of the
 * user's own code that touch them are sites (agenda.h). So are a library's if they work on a word
 * by which threads synchronise, or for the user's data (memcpy), but not those of an allocator or
 * of the C library for itself. Profiles of several runs are added up: later ones reach other code.
 *
 * Beside that a profile has pairs of accesses that a thread made one after the other, from which
 * orders are made up (idioms.h).
 */
#ifndef MAPLE_BRIDGE_SCOUT_H
#define MAPLE_BRIDGE_SCOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "maple-bridge/agenda.h"

enum { SCOUT_PLACE = 96 };

struct scout_site {
    uint64_t key;
    uint32_t group; /* number of a variable, in the order of keys */
    bool sync;      /* a library's */
    bool reads, writes;
    char place[SCOUT_PLACE]; /* "work.c:12" */
};

/* A thread executed the first and soon after the second one. */
struct scout_pair {
    uint64_t first, then; /* keys */
    bool same;            /* at the same word */
};

struct scout {
    struct scout_site *site; /* by key */
    size_t sites;
    struct scout_pair *pair; /* by their keys */
    size_t pairs;
    uint32_t groups;
    uint32_t threads;           /* of the recording */
    struct scout_union *joined; /* of use to scout.c */
    size_t joins;
};

/* Adds what a recording tells. `libraries`: with all that they do. */
int scout_add(struct scout *p, const char *dir, bool libraries, struct err *err);
void scout_deinit(struct scout *p); /* {0} is empty */

const struct scout_site *scout_find(const struct scout *p, uint64_t key); /* or NULL */

/* Writes sites and their number into an agenda; number 0 is none. What does not fit is left out. */
void scout_tell(const struct scout *p, struct agenda *agenda);
/* The site of the profile that has this number in an agenda; NULL: none. */
const struct scout_site *scout_site(const struct scout *p, uint32_t number);

#endif
