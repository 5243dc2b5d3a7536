/* events_fuzz.c - what a replaying process tells of itself, in words. SPDX-License-Identifier: MIT
 *
 * Events are made so that arguments often point to memory that comes along. Whatever they say, each
 * has words, and nothing is read that is not there.
 */
#include <stdlib.h>
#include <string.h>

#include "debug/events/filter.h"
#include "debug/events/lines.h"
#include "debug/messages.h"

enum { TEXT = 4096, PIECE_MOST = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t left;
};

static unsigned byte(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->data++;
}

/* Small ones are addresses of pages. */
static uint64_t number(struct input *in)
{
    const unsigned b = byte(in);
    return b < 32 ? (uint64_t)b << 12 : b < 64 ? b - 32 : (uint64_t)(int8_t)b;
}

static size_t make_call(struct input *in, uint8_t text[TEXT])
{
    uint64_t arg[6];
    size_t n = sizeof arg;
    for (int i = 0; i < 6; i++)
        arg[i] = number(in);
    memcpy(text, arg, sizeof arg);
    for (unsigned pieces = byte(in) % 8; pieces; pieces--) {
        struct mailbox_piece p = {.addr = number(in), .written = byte(in) & 1};
        p.bytes = byte(in) % PIECE_MOST;
        p.total = p.bytes + byte(in);
        memcpy(text + n, &p, sizeof p);
        n += sizeof p;
        for (uint32_t i = 0; i < p.bytes; i++)
            text[n + i] = (uint8_t)byte(in);
        n += (p.bytes + 7) & ~7u;
    }
    return n;
}

static size_t make_text(struct input *in, uint8_t text[TEXT])
{
    const size_t n = byte(in);
    for (size_t i = 0; i < n; i++)
        text[i] = (uint8_t)byte(in);
    return n;
}

static void check(const struct described *words)
{
    static const char *const filters[] = {"failed", "fd=3", "file", "*a*", "exit", "openat"};
    struct filter f;
    struct err err;
    if (!words->text || !words->kind)
        abort();
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (filter_parse(filters[i], &f, &err) ||
            (filter_takes(&f, words) && strlen(words->text) == 0))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct describer *d = describer_new();
    struct lines lines = {0};
    struct line line;
    struct described words;
    while (d && in.left) {
        uint8_t *text = calloc(1, TEXT);
        struct debuggee_event e = {.kind = (enum event_kind)(EVENT_CALL + byte(&in) % EVENT_SWITCH),
                                   .at = {.thread = 1 + byte(&in) % 4}};
        e.call = e.kind == EVENT_CALL || e.kind == EVENT_EXEC ? byte(&in) + byte(&in) * 2
                                                              : (int64_t)number(&in);
        e.result = e.kind == EVENT_SWITCH ? SWITCH_CALL | byte(&in) << 8 : (int64_t)number(&in);
        e.unfinished = byte(&in) & 1;
        const bool call = e.kind == EVENT_CALL || e.kind == EVENT_EXEC || e.kind == EVENT_SWITCH;
        e.text_bytes = call && byte(&in) % 16 ? make_call(&in, text) : make_text(&in, text);
        e.text = text;
        describer_event(d, &e, &words);
        check(&words);
        while (lines_next(&lines, &e, &line))
            continue;
        free(text);
    }
    while (lines_last(&lines, &line))
        continue;
    lines_deinit(&lines);
    describer_free(d);
    return 0;
}
