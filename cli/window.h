/* window.h - a part of a recording, as options name it: FROM..TO. SPDX-License-Identifier: MIT */
#ifndef CLI_WINDOW_H
#define CLI_WINDOW_H

#include <stdbool.h>

#include "base/position.h"

struct window {
    struct position from, to;
    bool has_from, has_to;
};

/* Either end may be left out. */
int window_parse(const char *text, struct window *out, struct err *err);

#endif
