/* output.c - lines that the program wrote, and which of its calls wrote their bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * debug/events/lines.h puts lines together from events. A call that writes much is told in several
 * events, and a line may come in many calls: those that the line which is not over yet came in are
 * kept.
 */
#define _GNU_SOURCE
#include "study/output.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "debug/events/lines.h"
#include "debug/messages.h"
#include "replayer/journal.h"

/* ---- patterns ---- */

int output_pattern_parse(const char *word, struct output_pattern *p, struct err *err)
{
    const size_t n = strlen(word);
    char why[200];
    *p = (struct output_pattern){.kind = strpbrk(word, "*?[") ? OUTPUT_GLOB : OUTPUT_PART,
                                 .text = word};
    if (n < 2 || word[0] != '/' || word[n - 1] != '/')
        return 0;
    char *text = strndup(word + 1, n - 2);
    const int bad = text ? regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB) : REG_ESPACE;
    free(text);
    if (bad) {
        regerror(bad, &p->regex, why, sizeof why);
        return err_set(err, "%s: %s", word, why);
    }
    p->kind = OUTPUT_REGEX;
    return 0;
}

bool output_pattern_takes(const struct output_pattern *p, const char *line)
{
    switch (p->kind) {
    case OUTPUT_REGEX:
        return !regexec(&p->regex, line, 0, NULL, 0);
    case OUTPUT_GLOB:
        return !fnmatch(p->text, line, 0);
    case OUTPUT_PART:
        return strstr(line, p->text);
    case OUTPUT_ALL:
        break;
    }
    return true;
}

void output_pattern_deinit(struct output_pattern *p)
{
    if (p->kind == OUTPUT_REGEX)
        regfree(&p->regex);
    *p = (struct output_pattern){.kind = OUTPUT_ALL};
}

/* ---- lines ---- */

/* An event: bytes `from` on of what its call wrote. They are byte `begin` on of all that came to
 * its target. */
struct part {
    struct position at;
    uint64_t number, from, bytes, begin;
};

struct target {
    struct part *part; /* those that the line which is not over yet came in, at least */
    size_t parts, room;
    struct part last;
    uint64_t taken; /* bytes of lines that are over */
};

struct finder {
    struct lines lines;
    struct target target[LINES_TARGETS];
    struct output_pattern pattern;
    bool errors;
    struct output_line *out;
    bool found, failed;
};

static bool same_call(const struct part *a, const struct debuggee_event *e)
{
    return a->bytes && a->number == e->number && a->at.thread == e->at.thread &&
           a->at.count == e->at.count && a->at.pc == e->at.pc;
}

static int add_part(struct target *t, const struct debuggee_event *e)
{
    const struct part new = {.at = e->at,
                             .number = e->number,
                             .from = same_call(&t->last, e) ? t->last.from + t->last.bytes : 0,
                             .bytes = e->text_bytes,
                             .begin = t->last.begin + t->last.bytes};
    t->last = new;
    return array_push(&t->part, &t->parts, &t->room, new);
}

/* Parts that are all taken go. */
static void drop_parts(struct target *t)
{
    size_t n = 0;
    while (n < t->parts && t->part[n].begin + t->part[n].bytes <= t->taken)
        n++;
    t->parts -= n;
    memmove(t->part, t->part + n, t->parts * sizeof *t->part);
}

static int keep_pieces(const struct target *t, uint64_t bytes, struct output_line *out)
{
    const uint64_t end = t->taken + bytes;
    free(out->piece);
    out->pieces = 0;
    out->piece = malloc(sizeof *out->piece * (t->parts + 1));
    for (size_t i = 0; out->piece && i < t->parts; i++) {
        const struct part *p = &t->part[i];
        uint64_t first = p->begin > t->taken ? p->begin : t->taken;
        uint64_t last = p->begin + p->bytes < end ? p->begin + p->bytes : end;
        if (first < last)
            out->piece[out->pieces++] =
                (struct output_piece){p->at, p->from + (first - p->begin), last - first};
    }
    return out->piece ? 0 : -1;
}

static void take_line(struct finder *f, const struct line *line)
{
    char text[LINES_BYTES + 1];
    struct target *t = &f->target[line->to];
    memcpy(text, line->text, line->bytes);
    text[line->bytes] = 0;
    for (size_t i = 0; i < line->bytes; i++) /* a zero would end it */
        text[i] = text[i] ? text[i] : ' ';
    bool error = line->to == OUTPUT_ERROR;
    if (line->bytes && (error || !f->errors) && output_pattern_takes(&f->pattern, text)) {
        f->found = true;
        f->out->error = error;
        snprintf(f->out->text, sizeof f->out->text, "%.*s", OUTPUT_TEXT - 1, text);
        f->failed |= keep_pieces(t, line->bytes, f->out) != 0;
    }
    t->taken += line->bytes + line->whole;
}

static bool take_entry(void *arg, const struct mailbox_entry *entry, const void *text)
{
    struct finder *f = arg;
    struct debuggee_event event;
    struct line line;
    journal_read(entry, text, &event);
    if (f->failed || event.kind != EVENT_OUTPUT || event.call <= 0 || event.call >= LINES_TARGETS)
        return true;
    struct target *t = &f->target[event.call];
    f->failed = add_part(t, &event) != 0;
    while (!f->failed && lines_next(&f->lines, &event, &line))
        take_line(f, &line);
    drop_parts(t);
    return true;
}

static bool should_pause(void *arg)
{
    return ((const struct finder *)arg)->failed;
}

static int run(struct finder *f, struct study *s, struct err *err)
{
    const struct replay_options options = {
        .entry = take_entry, .tell = RUN_OUTPUT, .pause = should_pause, .arg = f};
    struct replay_stop stop;
    struct line line;
    struct replay *replay = replay_new(s->pinball, &options, err);
    int bad = replay ? replay_run(replay, NULL, &stop, err) : -1;
    replay_free(replay);
    while (!bad && !f->failed && lines_last(&f->lines, &line))
        take_line(f, &line);
    if (!bad && f->failed)
        bad = err_set(err, "no memory");
    return bad;
}

int output_find(struct study *s, const char *pattern, bool errors, struct output_line *out,
                struct err *err)
{
    struct finder f = {.errors = errors, .out = out};
    *out = (struct output_line){.error = false};
    if (pattern && output_pattern_parse(pattern, &f.pattern, err))
        return -1;
    int bad = run(&f, s, err);
    lines_deinit(&f.lines);
    for (size_t i = 0; i < LINES_TARGETS; i++)
        free(f.target[i].part);
    output_pattern_deinit(&f.pattern);
    if (bad)
        output_line_deinit(out);
    return bad ? -1 : f.found;
}

void output_line_deinit(struct output_line *line)
{
    free(line->piece);
    *line = (struct output_line){.error = false};
}
