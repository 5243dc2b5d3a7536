/* places.h - where functions, lines and probes are in the modules of a program that runs.
 *
 * SPDX-License-Identifier: MIT
 *
 * For `record --from func:NAME` and its kind: the recorder asks whenever the program maps code. A
 * name means what it means to the other verbs (source/functions.h, source/source.h).
 */
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

#include "base/err.h"
#include "logger/recorder.h"

struct places {
    const struct trigger_region *region;
    const char *const *from, *const *to; /* in the user's words */
    bool quiet;
    struct {
        bool found;
        struct err why; /* the best cause that it is not; msg empty: none yet */
    } trigger[TRIGGER_MOST];
};

/* For struct recording; arg is a struct places. */
size_t places_find(void *arg, const struct recording_module *module, struct ring_place *out,
                   size_t room);
/* Says which names the program does not have when it begins. */
void places_loaded(void *arg);

#endif
