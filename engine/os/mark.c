/* mark.c - places that the program itself has named. SPDX-License-Identifier: MIT */
#include "engine/os/mark.h"

#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/rt/rt.h"

static const char magic[7] = {'d', 'r', 'd', 'e', 'b', 'u', 'g'};

/* The text may end right before a page that is not there. */
static size_t read_text(gaddr from, char *text, size_t room)
{
    const size_t n = room - engine_copy(text, (const void *)from, room);
    size_t bytes = 0;
    while (bytes < n && text[bytes])
        bytes++;
    return bytes;
}

void mark_met(struct thread *t, gaddr operand)
{
    char head[sizeof magic + 1], text[MARK_TEXT_BYTES];
    if (!session || !session->mark || engine_copy(head, (const void *)operand, sizeof head) ||
        memcmp(head, magic, sizeof magic) != 0)
        return;
    const enum mark_kind kind = (enum mark_kind)head[sizeof magic];
    if (kind < MARK_PLACE || kind > MARK_REGION_END)
        return;
    session->mark(t, kind, text, read_text(operand + sizeof head, text, sizeof text));
}
