/* maple_print.h - what `drdebug maple` says. SPDX-License-Identifier: MIT */
#ifndef CLI_MAPLE_PRINT_H
#define CLI_MAPLE_PRINT_H

#include "cli/engine_options.h"
#include "maple-bridge/search.h"

struct maple {
    struct search_options search;
    struct engine_options engine;
    struct recipe recipe;
    bool merge;
    bool json, terminal;
    bool told; /* something was found */
};

/* The search tells it all that it finds. */
void maple_print_to(struct maple *m);
void maple_print_begin(const struct maple *m);
void maple_print_end(const struct maple *m, const struct search_result *r, bool failed);

#endif
