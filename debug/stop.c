/* stop.c - names of stops. SPDX-License-Identifier: MIT */
#include "debug/stop.h"

const char *stop_name(enum stop_kind kind)
{
    static const char *const name[STOP_KINDS] = {
        [STOP_NONE] = "none",
#define STOP(stop, text) [STOP_##stop] = text,
#include "debug/stops.def"
#undef STOP
    };
    return kind < STOP_KINDS ? name[kind] : "unknown";
}
