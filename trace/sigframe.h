/* sigframe.h - where vector and mask registers are in a signal's frame. SPDX-License-Identifier:
 * MIT
 *
 * The extended state in it is an xsave area in the standard format: xmm registers and what is above
 * them in ymm have one place, and where the parts of AVX-512 are, the CPU says. It is asked of the
 * machine that slices, so a trace of such registers belongs on a machine of the same kind.
 */
#ifndef TRACE_SIGFRAME_H
#define TRACE_SIGFRAME_H

#include <stddef.h>

#include "engine/rt/types.h"

enum { SIGFRAME_PLACES = 3 * 16 + 16 + 8 };

struct sigframe {
    size_t places;
    struct sigframe_place {
        gaddr at;
        uint16_t loc, bytes; /* locations: enum loc */
    } place[SIGFRAME_PLACES];
};

/* Those of the state at fpstate, which ends before `end`. fpstate 0: none. */
void sigframe_init(struct sigframe *f, gaddr fpstate, gaddr end);

#endif
