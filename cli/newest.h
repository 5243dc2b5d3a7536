/* newest.h - the pinball that a verb is about when none is named.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_NEWEST_H
#define CLI_NEWEST_H

#include <limits.h>
#include <stddef.h>

#include "base/err.h"

/* The name of the *.pinball in the working directory that changed last. */
int newest_find(char path[PATH_MAX], struct err *err);

/* A name for a new one of `program`: NAME.pinball, NAME.1.pinball, ...; the first that is not
 * there. `kind` comes behind the name: "" or ".maple". */
void newest_name(const char *program, const char *kind, char path[PATH_MAX]);

/* The pinball of a verb that takes one: its only argument behind the options, or else the newest.
 * Returns -1 to go on, or the status to end with when the user was told what is wrong. */
int newest_or_named(const char *verb, int argc, char *argv[], char path[PATH_MAX]);

/* Likewise of one that takes a criterion, too: the words behind the pinball, which may have come as
 * one argument or as several, with a space between them. */
int newest_and_criterion(const char *verb, int argc, char *argv[], char path[PATH_MAX], char *text,
                         size_t room);

#endif
