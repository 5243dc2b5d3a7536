/* history.c - what happened in the recording, listed for scripts.
 *
 * SPDX-License-Identifier: MIT
 *
 * A list may be long: it is answered in pages, and `next` says where the next one begins. Events
 * are counted by the debuggee's own places. Lines of output are put together from events: one event
 * may hold many, and one line may come in many events, between those of other descriptors. A page
 * of lines ends inside such a state, so that it is kept in the server; a request for another page
 * than the next one makes all lines before it again.
 */
#include <inttypes.h>
#include <string.h>

#include "debug/gdbstub/server_private.h"

enum { PAGE_BYTES = 48 << 10, PAGE_ENTRIES = 1000, LINE_BYTES = 4096, EVENT_TEXT_BYTES = 256 };

static const char *const kind_name[] = {
    [EVENT_CALL] = "call",     [EVENT_SIGNAL] = "signal", [EVENT_THREAD] = "thread",
    [EVENT_OUTPUT] = "output", [EVENT_EXEC] = "exec",     [EVENT_EXIT] = "exit",
};

/* What to list. */
struct wish {
    char filter[64]; /* part of a kind's name; "": all */
    bool has_call;
    uint64_t call; /* `call:NR` */
    uint64_t limit, from;
};

/* `[FILTER] [LIMIT] [from PLACE]` */
static bool parse(struct args *args, struct wish *wish)
{
    struct args word, rest;

    *wish = (struct wish){.limit = PAGE_ENTRIES};
    while (args_until(args, ' ', &word)) {
        rest = word;
        if (args_word(&rest, "from") && args_empty(&rest)) {
            if (!args_until(args, ' ', &word) || !args_decimal(&word, &wish->from) ||
                !args_empty(&word))
                return false;
            continue;
        }
        rest = word;
        if (args_decimal(&rest, &wish->limit) && args_empty(&rest))
            continue;
        rest = word;
        if (args_word(&rest, "call:") && args_decimal(&rest, &wish->call) && args_empty(&rest))
            wish->has_call = true;
        else if (!args_copy(&word, wish->filter, sizeof wish->filter))
            return false;
    }
    if (wish->limit < 1 || wish->limit > PAGE_ENTRIES)
        wish->limit = PAGE_ENTRIES;
    return true;
}

static void refuse(struct reply *out)
{
    reply_text(out, "{\"error\":\"not FILTER, LIMIT or from PLACE\"}");
}

static void put_next(struct reply *out, bool more, uint64_t place)
{
    if (more)
        reply_addf(out, "],\"next\":%" PRIu64 "}", place);
    else
        reply_text(out, "],\"next\":null}");
}

/* ---- events ---- */

static bool is_wanted(const struct wish *wish, const struct debuggee_event *event)
{
    if (event->kind < EVENT_CALL || event->kind > EVENT_EXIT)
        return false;
    if (wish->has_call)
        return event->kind == EVENT_CALL && (uint64_t)event->call == wish->call;
    return strstr(kind_name[event->kind], wish->filter) != NULL;
}

static void put_event(struct reply *out, const struct debuggee_event *event)
{
    char at[POSITION_TEXT];
    size_t n = event->text_bytes < EVENT_TEXT_BYTES ? event->text_bytes : EVENT_TEXT_BYTES;

    position_format(&event->at, at);
    reply_addf(out, "{\"number\":%" PRIu64 ",\"position\":\"%s\",\"kind\":\"%s\"", event->number,
               at, kind_name[event->kind]);
    switch (event->kind) {
    case EVENT_CALL:
        reply_addf(out, ",\"call\":%" PRId64 ",\"result\":%" PRId64, event->call, event->result);
        break;
    case EVENT_SIGNAL:
        reply_addf(out, ",\"signal\":%" PRId64, event->call);
        break;
    case EVENT_OUTPUT:
        reply_addf(out, ",\"fd\":%" PRId64 ",\"text\":", event->call);
        reply_json(out, event->text, n);
        break;
    default:
        break;
    }
    reply_text(out, "}");
}

void history_events(struct server *s, struct args *args, struct reply *out)
{
    struct debuggee_event event;
    struct wish wish;
    uint64_t listed = 0;
    bool more = false;

    if (!parse(args, &wish)) {
        refuse(out);
        return;
    }
    size_t place = (size_t)wish.from, before = place;
    reply_text(out, "{\"events\":[");
    for (; debuggee_event(&s->debuggee, &place, &event) > 0; before = place) {
        if (!is_wanted(&wish, &event))
            continue;
        more = listed == wish.limit || out->bytes > PAGE_BYTES;
        if (more)
            break;
        reply_text(out, listed++ ? "," : "");
        put_event(out, &event);
    }
    put_next(out, more, before);
}

/* ---- output ---- */

void history_forget(struct server *s)
{
    for (int i = 0; i < HISTORY_FDS; i++)
        reply_deinit(&s->history.piece[i].text);
    memset(&s->history, 0, sizeof s->history);
}

/* The line that a descriptor's next byte belongs to; NULL: all are in use. */
static struct history_piece *piece_of(struct history *h, int64_t fd)
{
    struct history_piece *unused = NULL;

    for (int i = 0; i < HISTORY_FDS; i++) {
        if (h->piece[i].used && h->piece[i].fd == fd)
            return &h->piece[i];
        if (!h->piece[i].used)
            unused = &h->piece[i];
    }
    return unused;
}

/* Takes bytes of the event up to the end of a line, or all. Returns the line's piece if it is
 * whole. */
static struct history_piece *take_line(struct history *h, const struct debuggee_event *event)
{
    struct history_piece *piece = piece_of(h, event->call);
    const uint8_t *from = event->text + h->offset;
    size_t left = event->text_bytes - h->offset;

    if (!piece)
        piece = &h->piece[0]; /* more than eight at once: their lines run together */
    if (!piece->used) {
        piece->used = true;
        piece->fd = event->call;
        piece->at = event->at;
        reply_clear(&piece->text);
    }
    const uint8_t *newline = memchr(from, '\n', left);
    size_t n = newline ? (size_t)(newline - from) : left;
    size_t room = LINE_BYTES - piece->text.bytes;
    bool whole = newline || n >= room;
    if (n > room)
        n = room, newline = NULL;
    reply_bytes(&piece->text, from, n);
    h->offset += n + (newline != NULL);
    return whole ? piece : NULL;
}

/* The next line that is whole, or at the end of all events one that is not; NULL after the last. */
static struct history_piece *next_line(struct server *s)
{
    struct history *h = &s->history;
    struct debuggee_event event;
    size_t place;

    while (place = h->place, debuggee_event(&s->debuggee, &place, &event) > 0) {
        while (event.kind == EVENT_OUTPUT && h->offset < event.text_bytes) {
            struct history_piece *line = take_line(h, &event);
            if (line)
                return line;
        }
        h->place = place;
        h->offset = 0;
    }
    for (int i = 0; i < HISTORY_FDS; i++)
        if (h->piece[i].used)
            return &h->piece[i];
    return NULL;
}

static void put_line(struct reply *out, const struct history_piece *line)
{
    char at[POSITION_TEXT];

    position_format(&line->at, at);
    reply_addf(out, "{\"position\":\"%s\",\"fd\":%" PRId64 ",\"text\":", at, line->fd);
    reply_json(out, line->text.data, line->text.bytes);
    reply_text(out, "}");
}

void history_output(struct server *s, struct args *args, struct reply *out)
{
    struct history *h = &s->history;
    struct history_piece *line = NULL;
    struct wish wish;
    uint64_t listed = 0;

    if (!parse(args, &wish)) {
        refuse(out);
        return;
    }
    if (wish.from == 0 || wish.from != h->line)
        history_forget(s);
    reply_text(out, "{\"output\":[");
    while (listed < wish.limit && out->bytes < PAGE_BYTES && (line = next_line(s))) {
        if (h->line++ >= wish.from) {
            reply_text(out, listed++ ? "," : "");
            put_line(out, line);
        }
        line->used = false;
    }
    put_next(out, line != NULL, h->line);
}
