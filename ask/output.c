/* output.c - the lines that the program wrote, and where. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "ask/entries.h"
#include "debug/events/lines.h"

/* Which lines: a regular expression between slashes, a glob for the whole line, or a part of it. */
struct pattern {
    enum { PATTERN_ALL, PATTERN_REGEX, PATTERN_GLOB, PATTERN_PART } kind;
    const char *text;
    regex_t regex;
};

struct job {
    struct rows *rows;
    struct lines lines;
    struct pattern pattern;
};

enum { O_AT, O_LAST, O_TO, O_TEXT };
static const struct rows_column columns[] = {
    [O_AT] = {"at", ROWS_POSITION},
    [O_LAST] = {"last", ROWS_POSITION},
    [O_TO] = {"to", ROWS_TEXT},
    [O_TEXT] = {"text", ROWS_TEXT},
};

static int parse(const char *word, struct pattern *p, struct err *err)
{
    const size_t n = strlen(word);
    char why[200];
    if (n < 2 || word[0] != '/' || word[n - 1] != '/') {
        p->kind = strpbrk(word, "*?[") ? PATTERN_GLOB : PATTERN_PART;
        p->text = word;
        return 0;
    }
    char *text = strndup(word + 1, n - 2);
    const int bad = text ? regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB) : REG_ESPACE;
    free(text);
    if (bad) {
        regerror(bad, &p->regex, why, sizeof why);
        return err_set_code(err, ASK_USAGE, "%s: %s", word, why);
    }
    p->kind = PATTERN_REGEX;
    return 0;
}

static bool takes(const struct pattern *p, const char *line)
{
    switch (p->kind) {
    case PATTERN_REGEX:
        return !regexec(&p->regex, line, 0, NULL, 0);
    case PATTERN_GLOB:
        return !fnmatch(p->text, line, 0);
    case PATTERN_PART:
        return strstr(line, p->text);
    case PATTERN_ALL:
        break;
    }
    return true;
}

static int put(struct job *j, const struct line *line, struct err *err)
{
    static const char *const to[] = {"", "stdout", "stderr", "terminal"};
    char text[LINES_BYTES + 1];
    memcpy(text, line->text, line->bytes);
    text[line->bytes] = 0;
    for (size_t i = 0; i < line->bytes; i++) /* a zero would end it */
        text[i] = text[i] ? text[i] : ' ';
    if (!takes(&j->pattern, text))
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
static int finish(void *arg, struct replay *replay, const struct replay_stop *stop, struct err *err)
{
    struct job *j = arg;
    struct line line;
    int end = 0;
    (void)replay;
    (void)stop;
    while (!end && lines_last(&j->lines, &line))
        end = put(j, &line, err);
    return end < 0 ? -1 : 0;
}

int ask_output(struct asking *q, struct err *err)
{
    struct job j = {.rows = q->rows, .pattern = {.kind = PATTERN_ALL}};
    if (q->given->words && parse(q->given->word[0], &j.pattern, err))
        return -1;
    int end = rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err);
    if (!end)
        end = entries_replay(
            q, &(struct entries_options){.tell = RUN_OUTPUT, .fn = tell, .end = finish, .arg = &j},
            err);
    lines_deinit(&j.lines);
    if (j.pattern.kind == PATTERN_REGEX)
        regfree(&j.pattern.regex);
    return end;
}
