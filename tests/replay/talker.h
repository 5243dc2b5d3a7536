/* talker.h - where hostile.c puts talker.c. SPDX-License-Identifier: MIT */
#ifndef TALKER_H
#define TALKER_H

#include <stdint.h>

#define HOSTILE_BASE 0x7e0000000000ull /* of the runtime */

enum {
    HOSTILE_CODE = 0x400000,
    TALKER_AT = 0x1000, /* from there on; talker.lds says so, too */
    TALKER_MOST = 40 << 10,
    TALKER_SETTINGS = 0x1f000,
    HOSTILE_BYTES = 0x20000,
    TALKER_NUMBERS = 8, /* that the settings have room for */
};

/* At TALKER_SETTINGS, above the stack. */
struct talker {
    uint64_t seed, rounds;
};

#endif
