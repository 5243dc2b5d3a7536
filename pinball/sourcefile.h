/* sourcefile.h - source files of this machine: which may be read, and where they are.
 *
 * SPDX-License-Identifier: MIT
 *
 * Debug information names them, and a stranger may have written it. Then drdebug looks only into
 * folders that the user named, and opens nothing outside of them.
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
    struct {
        const char *text;
        size_t bytes;           /* 0: none */
    } from[SOURCEFILE_FOLDERS]; /* what stands for the folder in names of debug information */
    size_t folders;
};

/* Adds a folder of the user's, or `FROM=FOLDER`: files whose names begin with FROM are there. The
 * text must stay. -1: there are too many. */
int sourcefile_add(struct sourcefile_places *places, const char *text);

/* Opens a regular file of at most `most` bytes: where a FROM says; else as named; else in each
 * folder by ends of the name, the longest first. -1: there is none. */
int sourcefile_open(const struct sourcefile_places *places, const char *name, uint64_t most,
                    struct stat *st);

#endif
