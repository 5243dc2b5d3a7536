/* lines.c - the lines that a program wrote. SPDX-License-Identifier: MIT */
#include "debug/events/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void tell(struct lines_piece *p, bool whole, struct line *out)
{
    *out = p->line;
    out->text = p->text;
    out->bytes = p->bytes;
    out->whole = whole;
    p->used = false;
}

static void begin(struct lines_piece *p, const struct debuggee_event *event)
{
    if (p->used)
        return;
    p->used = true;
    p->bytes = 0;
    p->line = (struct line){.to = (int)event->call, .at = event->at, .ticks = event->ticks};
}

int lines_next(struct lines *l, const struct debuggee_event *event, struct line *out)
{
    while (event->kind == EVENT_OUTPUT && event->call > 0 && event->call < LINES_TARGETS &&
           l->offset < event->text_bytes) {
        struct lines_piece *p = &l->piece[event->call];
        const uint8_t *from = event->text + l->offset;
        begin(p, event);
        const size_t left = event->text_bytes - l->offset, room = LINES_BYTES - p->bytes;
        const uint8_t *end = memchr(from, '\n', left < room ? left : room);
        const size_t n = end ? (size_t)(end - from) : left < room ? left : room;
        if (array_reserve(&p->text, &p->room, p->bytes + n + 1))
            break;
        memcpy(p->text + p->bytes, from, n);
        p->bytes += n;
        p->line.last = event->at;
        l->offset += n + (end != NULL);
        if (end || p->bytes == LINES_BYTES) {
            tell(p, end != NULL, out);
            return 1;
        }
    }
    l->offset = 0;
    return 0;
}

int lines_last(struct lines *l, struct line *out)
{
    for (int i = 0; i < LINES_TARGETS; i++)
        if (l->piece[i].used) {
            tell(&l->piece[i], false, out);
            return 1;
        }
    return 0;
}

void lines_deinit(struct lines *l)
{
    for (int i = 0; i < LINES_TARGETS; i++)
        free(l->piece[i].text);
    *l = (struct lines){0};
}
