/* events.c - system calls, signals, threads, output, in their order. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* strerrorname_np */
#include <string.h>

#include "ask/entries.h"
#include "debug/events/filter.h"

enum { FILTERS = 8 };

struct job {
    struct rows *rows;
    struct describer *describer;
    struct filter filter[FILTERS]; /* all must take it */
    int filters;
};

enum { E_AT, E_WHAT, E_ERROR, E_EVENT };
static const struct rows_column columns[] = {
    [E_AT] = {"at", ROWS_POSITION},
    [E_WHAT] = {"what", ROWS_TEXT},
    [E_ERROR] = {"error", ROWS_TEXT},
    [E_EVENT] = {"event", ROWS_TEXT},
};

static int tell(void *arg, const struct debuggee_event *event, struct err *err)
{
    struct job *j = arg;
    struct described words;
    describer_event(j->describer, event, &words);
    for (int i = 0; i < j->filters; i++)
        if (!filter_takes(&j->filter[i], &words))
            return 0;
    rows_position(j->rows, E_AT, &event->at, event->ticks);
    rows_text(j->rows, E_WHAT, event->kind == EVENT_CALL && words.call ? words.call : words.kind);
    if (words.error)
        rows_text(j->rows, E_ERROR, strerrorname_np(words.error));
    rows_text(j->rows, E_EVENT, words.text);
    return rows_end(j->rows, err);
}

int ask_events(struct asking *q, struct err *err)
{
    struct job j = {.rows = q->rows, .filters = q->given->words};
    for (int i = 0; i < j.filters; i++)
        if (filter_parse(q->given->word[i], &j.filter[i], err)) {
            err->code = ASK_USAGE;
            return -1;
        }
    if (rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err))
        return -1;
    if (!(j.describer = describer_new()))
        return err_set(err, "no memory");
    int end = entries_replay(
        q, &(struct entries_options){.tell = RUN_OUTPUT | RUN_EVENTS, .fn = tell, .arg = &j}, err);
    describer_free(j.describer);
    return end;
}
