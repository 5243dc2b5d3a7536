/* pack.h - make one file of a pinball, to send it elsewhere.
 *
 * SPDX-License-Identifier: MIT
 *
 * The file holds all that the directory does and is read in its place. What a debugger on another
 * machine would miss can be added: separate debug information, found by build-id, and sources. They
 * are kept files of kinds of their own, listed in the member `extras`.
 */
#ifndef PINBALL_PACK_H
#define PINBALL_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "pinball/pinball.h"
#include "pinball/sourcefile.h"

struct pack_options {
    bool debug;   /* /usr/lib/debug/.build-id/... of the kept ELF files */
    bool sources; /* files named by their DWARF line tables: those that can be read here */
    struct sourcefile_places places; /* folders with sources, and nothing else */
    const char *debug_root;          /* NULL: /usr/lib/debug */
    pinball_progress *progress;      /* NULL: none */
    void *arg;                       /* of it */
};

/* Checks the pinball, then writes `out`, which must not be there (err->code EEXIST). */
int pack(struct pinball *pinball, const char *out, const struct pack_options *options,
         struct err *err);

#endif
