/* history.c - what happened in the recording, listed for scripts.
 *
 * SPDX-License-Identifier: MIT
 *
 * A list may be long: it is answered in pages, and `next` says where the next one begins. Events
 * are counted by the debuggee's own places. Both an event's words and a line of output depend on
 * the events before (debug/events); that state is kept in the server, and a request for another
 * page than the next one makes it again.
 */
#include <inttypes.h>
#include <string.h>

#include "debug/events/filter.h"
#include "debug/gdbstub/server_private.h"

enum { PAGE_BYTES = 48 << 10, PAGE_ENTRIES = 1000, EVENT_TEXT_BYTES = 256 };

/* What to list. */
struct wish {
    char word[256]; /* a filter; "": all */
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
        if (!args_copy(&word, wish->word, sizeof wish->word))
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

static void put_event(struct reply *out, const struct debuggee_event *event,
                      const struct described *words)
{
    char at[POSITION_TEXT];
    size_t n = event->text_bytes < EVENT_TEXT_BYTES ? event->text_bytes : EVENT_TEXT_BYTES;

    position_format(&event->at, at);
    reply_addf(out, "{\"number\":%" PRIu64 ",\"position\":\"%s\",\"kind\":\"%s\",\"about\":",
               event->number, at, words->kind);
    reply_json(out, (const uint8_t *)words->text, strlen(words->text));
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

/* The events before the place make the state that those from there on are described in. */
static bool describe_up_to(struct server *s, size_t place)
{
    struct history *h = &s->history;
    struct debuggee_event event;
    struct described words;

    if (!h->describer || h->described > place) {
        describer_free(h->describer);
        h->describer = describer_new();
        h->described = 0;
    }
    while (h->describer && h->described < place &&
           debuggee_event(&s->debuggee, &h->described, &event) > 0)
        describer_event(h->describer, &event, &words);
    return h->describer;
}

void history_events(struct server *s, struct args *args, struct reply *out)
{
    struct history *h = &s->history;
    struct debuggee_event event;
    struct described words;
    struct filter filter;
    struct wish wish;
    struct err err;
    uint64_t listed = 0;
    bool more = false;

    if (!parse(args, &wish) || !describe_up_to(s, (size_t)wish.from)) {
        refuse(out);
        return;
    }
    if (filter_parse(wish.word, &filter, &err)) {
        reply_text(out, "{\"error\":");
        reply_json(out, (const uint8_t *)err.msg, strlen(err.msg));
        reply_text(out, "}");
        return;
    }
    reply_text(out, "{\"events\":[");
    while (!more && h->described >= wish.from &&
           debuggee_event(&s->debuggee, &h->described, &event) > 0) {
        describer_event(h->describer, &event, &words);
        if (!words.kind || !filter_takes(&filter, &words))
            continue;
        reply_text(out, listed++ ? "," : "");
        put_event(out, &event, &words);
        more = listed == wish.limit || out->bytes > PAGE_BYTES;
    }
    put_next(out, more, h->described);
}

/* ---- output ---- */

void history_forget(struct server *s)
{
    lines_deinit(&s->history.lines);
    describer_free(s->history.describer);
    s->history = (struct history){0};
}

/* The next line that is whole, or at the end of all events one that is not: 1; 0 after the last. */
static int next_line(struct server *s, struct line *line)
{
    struct history *h = &s->history;
    struct debuggee_event event;
    size_t place;

    while (place = h->place, debuggee_event(&s->debuggee, &place, &event) > 0) {
        if (lines_next(&h->lines, &event, line))
            return 1;
        h->place = place;
    }
    return lines_last(&h->lines, line);
}

static void put_line(struct reply *out, const struct line *line)
{
    char at[POSITION_TEXT];

    position_format(&line->at, at);
    reply_addf(out, "{\"position\":\"%s\",\"fd\":%" PRId64 ",\"text\":", at, (int64_t)line->to);
    reply_json(out, line->text, line->bytes);
    reply_text(out, "}");
}

void history_output(struct server *s, struct args *args, struct reply *out)
{
    struct history *h = &s->history;
    struct line line;
    struct wish wish;
    uint64_t listed = 0;
    bool more = true;

    if (!parse(args, &wish)) {
        refuse(out);
        return;
    }
    if (wish.from == 0 || wish.from != h->line) {
        lines_deinit(&h->lines);
        h->line = h->place = 0;
    }
    reply_text(out, "{\"output\":[");
    while (more && listed < wish.limit && out->bytes < PAGE_BYTES) {
        more = next_line(s, &line);
        if (more && h->line++ >= wish.from) {
            reply_text(out, listed++ ? "," : "");
            put_line(out, &line);
        }
    }
    put_next(out, more, h->line);
}

/* ---- statements ---- */

/* A recording that leaves code out has these: thread, depth, how (1: it goes on, 2: in a call),
 * then count and pc of its first instruction, and of its last one. */
static void put_places(struct server *s, const struct wish *wish, struct reply *out)
{
    uint64_t first, last;
    size_t i = (size_t)wish->from;

    reply_text(out, "{\"places\":[");
    for (; i - wish->from < wish->limit && debuggee_statement_place(&s->debuggee, i, &first, &last);
         i++)
        reply_addf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i == wish->from ? "" : ",", first, last);
    put_next(out, debuggee_statement_place(&s->debuggee, i, &first, &last), i);
}

static void put_number(struct server *s, const struct position *at, struct reply *out)
{
    size_t i;

    if (debuggee_statement_at(&s->debuggee, at, &i))
        reply_addf(out, "{\"number\":%zu}", i);
    else
        reply_text(out, "{\"number\":null}");
}

/* `statements [LIMIT] [from NUMBER]`, `statements places [LIMIT] [from PLACE]`, `statements
 * POSITION` */
void history_statements(struct server *s, struct args *args, struct reply *out)
{
    struct debuggee_statement one;
    struct position at;
    struct wish wish;
    struct err err;

    if (!parse(args, &wish)) {
        refuse(out);
        return;
    }
    if (!strcmp(wish.word, "places")) {
        put_places(s, &wish, out);
        return;
    }
    if (wish.word[0]) {
        if (position_parse(wish.word, &at, &err))
            refuse(out);
        else
            put_number(s, &at, out);
        return;
    }
    size_t i = (size_t)wish.from;
    reply_text(out, "{\"statements\":[");
    for (; i - wish.from < wish.limit && debuggee_statement(&s->debuggee, i, &one); i++)
        reply_addf(out, "%s[%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
                   i == wish.from ? "" : ",", one.at.thread, one.depth,
                   (one.goes_on ? 1u : 0u) | (one.in_call ? 2u : 0u), one.at.count, one.at.pc,
                   one.last.count, one.last.pc);
    put_next(out, debuggee_statement(&s->debuggee, i, &one), i);
}
