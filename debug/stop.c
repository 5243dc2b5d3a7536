/* stop.c - what is known of stops. SPDX-License-Identifier: MIT */
#include "debug/stop.h"

static const struct {
    const char *name;
    enum stop_of of;
} rows[STOP_KINDS] = {
    [STOP_NONE] = {"none", STOP_OF_NOBODY},
#define STOP(kind, text, whose) [STOP_##kind] = {text, STOP_OF_##whose},
#include "debug/stops.def"
#undef STOP
};

const char *stop_name(enum stop_kind kind)
{
    return kind < STOP_KINDS ? rows[kind].name : "unknown";
}

enum stop_of stop_of(enum stop_kind kind)
{
    return kind < STOP_KINDS ? rows[kind].of : STOP_OF_NOBODY;
}
