/* escaper.h - what escaper.c is to try: at TALKER_SETTINGS. SPDX-License-Identifier: MIT */
#ifndef ESCAPER_H
#define ESCAPER_H

#include <stdint.h>

enum escape {
    ESCAPE_NAME,         /* each copy is said to be process arg0 */
    ESCAPE_OBEY,         /* copies are made, and spin */
    ESCAPE_MAKE,         /* arg0 processes, unasked, instead of replaying */
    ESCAPE_MAKE_IDLE,    /* the same when it has stopped */
    ESCAPE_EAT,          /* arg0 bytes of memory */
    ESCAPE_EAT_UNMAPPED, /* ... of shared memory that is not mapped */
    ESCAPE_EAT_TABLES,   /* ... of page tables */
    ESCAPE_EAT_COPY,     /* ... in a copy, while it is being made */
    ESCAPE_CALL,         /* system call arg0 with arg1 to arg4 */
};

struct escaper {
    uint64_t how, arg[5];
};

#endif
