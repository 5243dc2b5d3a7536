/* bookmarks.h - places that somebody wants to find again, kept with the pinball.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef REPLAYER_BOOKMARKS_H
#define REPLAYER_BOOKMARKS_H

#include <stddef.h>

#include "base/err.h"
#include "base/position.h"

struct pinball;

struct bookmark {
    struct position at;
    char *note;
};

/* {0} is an empty list. */
struct bookmarks {
    struct bookmark *list;
    size_t count;
};

int bookmarks_read(struct bookmarks *b, const struct pinball *pinball, struct err *err);
/* Kept in the list in any case. -1: not with the pinball. */
int bookmarks_add(struct bookmarks *b, struct pinball *pinball, const struct position *at,
                  const char *note, struct err *err);
void bookmarks_deinit(struct bookmarks *b);

#endif
