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
#include <stdio.h>

#include "base/err.h"
#include "facts/order/numbers.h"
#include "maple-bridge/agenda.h"
#include "maple-bridge/feasible.h"

enum { SCOUT_PLACE = 96, SCOUT_FUNCTION = 64, SCOUT_WINDOW = 1000, SCOUT_SHIFT = 3 };

struct scout_site {
    uint64_t key;
    uint32_t group; /* number of a variable, in the order of sites */
    bool sync;      /* a library's */
    bool reads, writes;
    bool sliced;             /* in the slice (scout_slice()) */
    bool idle;               /* no event: there is a slice, and nothing of its variable is in it */
    char place[SCOUT_PLACE]; /* "work.c:12" */
    char function[SCOUT_FUNCTION];
    uint64_t text; /* hash of the line's text without spaces; 0: not known */
};

/* A thread executed the first and soon after the second one. */
struct scout_pair {
    uint64_t first, then; /* keys */
    bool same;            /* at the same word */
};

/* Two sites touched the same word. */
struct scout_union {
    uint64_t a, b; /* keys */
};

struct scout {
    struct scout_site *site; /* in the order in which they were found: their numbers stay */
    size_t sites;
    struct numbers keys; /* of them, in the same order */
    struct scout_pair *pair;
    size_t pairs;
    struct numbers paired; /* key and key, the lowest bit of the second one is `same` */
    struct scout_union *joined;
    size_t joins;
    uint32_t groups;
    uint32_t threads;          /* of the recording */
    unsigned shift;            /* scout_options' */
    struct feasible *feasible; /* what the recording that was added last rules out */
};

struct scout_options {
    bool libraries;  /* with all that they do */
    uint64_t window; /* a pair's second instruction comes so many after its first, at most */
    unsigned shift;  /* accesses to the same 1 << shift bytes are to the same word */
};

/* Adds what a recording tells. */
int scout_add(struct scout *p, const char *dir, const struct scout_options *o, struct err *err);
void scout_deinit(struct scout *p); /* {0} is empty */

/* From now on only variables are varied of which something is in the slice of a criterion
 * (slicer/criterion/criterion.h), in a recording that was added. */
int scout_slice(struct scout *p, const char *dir, const char *criterion, struct err *err);

/* What a memo keeps of it: lines of text. scout_line() takes one of them: 1; 0: it is no line of
 * these; -1: a damaged one, or no memory. scout_settle() follows the last one. */
void scout_write(const struct scout *p, FILE *to);
int scout_line(struct scout *p, const char *line);
int scout_settle(struct scout *p);

const struct scout_site *scout_find(const struct scout *p, uint64_t key); /* or NULL */

/* Writes sites and their number into an agenda; number 0 is none. What does not fit is left out. */
void scout_tell(const struct scout *p, struct agenda *agenda);
/* The site of the profile that has this number in an agenda; NULL: none. */
const struct scout_site *scout_site(const struct scout *p, uint32_t number);

#endif
