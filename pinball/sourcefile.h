/* sourcefile.h - source files of this machine: which may be read, and where they are.
 *
 * SPDX-License-Identifier: MIT
 *
 * Debug information names them, which a stranger may have written: then only folders that the user
 * named are looked into, and nothing outside of them is opened.
 */
#ifndef PINBALL_SOURCEFILE_H
#define PINBALL_SOURCEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { SOURCEFILE_FOLDERS = 16 };

struct sourcefile_places {
    bool as_named; /* anywhere, by the name itself: the recording is the user's own */
    const char *folder[SOURCEFILE_FOLDERS];
    size_t folders;
};

/* Opens a regular file of at most `most` bytes: as named; else in each folder by ends of the name,
 * the longest first. -1: there is none. */
int sourcefile_open(const struct sourcefile_places *places, const char *name, uint64_t most,
                    struct stat *st);

#endif
