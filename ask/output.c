/* output.c - the lines that the program wrote, and where. SPDX-License-Identifier: MIT */
#include <string.h>

#include "ask/entries.h"
#include "debug/events/lines.h"
#include "study/output.h"

struct job {
    struct rows *rows;
    struct lines lines;
    struct output_pattern pattern; /* which lines */
};

enum { O_AT, O_LAST, O_TO, O_TEXT };
static const struct rows_column columns[] = {
    [O_AT] = {"at", ROWS_POSITION},
    [O_LAST] = {"last", ROWS_POSITION},
    [O_TO] = {"to", ROWS_TEXT},
    [O_TEXT] = {"text", ROWS_TEXT},
};

static int put(struct job *j, const struct line *line, struct err *err)
{
    static const char *const to[] = {"", "stdout", "stderr", "terminal"};
    char text[LINES_BYTES + 1];
    memcpy(text, line->text, line->bytes);
    text[line->bytes] = 0;
    for (size_t i = 0; i < line->bytes; i++) /* a zero would end it */
        text[i] = text[i] ? text[i] : ' ';
    if (!output_pattern_takes(&j->pattern, text))
        return 0;
    rows_position(j->rows, O_AT, &line->at, line->ticks);
    rows_position(j->rows, O_LAST, &line->last, line->ticks);
    rows_text(j->rows, O_TO, to[line->to]);
    rows_text(j->rows, O_TEXT, text);
    return rows_end(j->rows, err);
}

static int tell(void *arg, const struct debuggee_event *event, struct err *err)
{
    struct job *j = arg;
    struct line line;
    int end = 0;
    while (!end && lines_next(&j->lines, event, &line))
        end = put(j, &line, err);
    return end;
}

/* Lines without an end. */
static int finish(void *arg, struct past *past, const struct replay_stop *stop, struct err *err)
{
    struct job *j = arg;
    struct line line;
    int end = 0;
    (void)past;
    (void)stop;
    while (!end && lines_last(&j->lines, &line))
        end = put(j, &line, err);
    return end < 0 ? -1 : 0;
}

int ask_output(struct asking *q, struct err *err)
{
    struct job j = {.rows = q->rows, .pattern = {.kind = OUTPUT_ALL}};
    if (q->given->words && output_pattern_parse(q->given->word[0], &j.pattern, err)) {
        err->code = ASK_USAGE;
        return -1;
    }
    int end = rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err);
    if (!end)
        end = entries_replay(
            q, &(struct entries_options){.tell = RUN_OUTPUT, .fn = tell, .end = finish, .arg = &j},
            err);
    lines_deinit(&j.lines);
    output_pattern_deinit(&j.pattern);
    return end;
}
