/* shelf.h - contents of files that many recordings of one process keep, read once.
 *
 * SPDX-License-Identifier: MIT
 *
 * Used by one writer after the other (writer_share()). A file is known by its identity as keep.c
 * writes it: device, number, size and times. The shelf owns what it holds.
 */
#ifndef PINBALL_SHELF_H
#define PINBALL_SHELF_H

#include <stdbool.h>
#include <stddef.h>

struct shelf;

struct shelf *shelf_new(void); /* NULL: no memory */
void shelf_free(struct shelf *shelf);

/* What the file held; NULL: it is not there. */
char *shelf_find(const struct shelf *shelf, const char *identity, size_t *bytes);
/* Takes `data`, which comes from malloc(). False: there is no room, and it stays the caller's. */
bool shelf_put(struct shelf *shelf, const char *identity, char *data, size_t bytes);

#endif
