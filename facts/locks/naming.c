/* naming.c - names of what threads hold and wait for. SPDX-License-Identifier: MIT */
#include "facts/locks/naming.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MUTEX_BYTES = 40 };

void naming_lock(struct study *s, gaddr pc, const struct source_frame *frame, gaddr lock, char *buf,
                 size_t room)
{
    static const char *const inner[] = {"._M_mutex", ".__data", ".__size"}; /* nobody wrote that */
    if (!source_variable(s->source, pc, frame, lock, MUTEX_BYTES, buf, room) &&
        !source_variable(s->source, pc, frame, lock, 1, buf, room))
        snprintf(buf, room, "0x%" PRIx64, lock);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        char *cut = strstr(buf, inner[i]);
        if (cut)
            *cut = 0;
    }
}

void naming_wait(struct study *s, const struct locks_wait *w, char *buf, size_t room)
{
    if (w->kind == LOCKS_JOIN && w->joins)
        snprintf(buf, room, "T%u", trace_thread(s->trace, w->joins - 1));
    else if (w->object && w->kind != LOCKS_JOIN)
        naming_lock(s, w->line_pc, NULL, w->object, buf, room);
    else
        *buf = 0;
}
