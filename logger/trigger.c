/* trigger.c - what a recorded part of a run begins and ends with, in a user's words.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* sigabbrev_np */
#include "logger/trigger.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/os/kinds.h"
#include "pinball/marks.h"
#include "pinball/text.h"

enum { SECONDS_MOST = 100000000 };

int trigger_signal(const char *text)
{
    uint64_t n;
    if (text_number(text, &n) == 0)
        return n >= 1 && n <= (uint64_t)SIGRTMAX ? (int)n : -1;
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    for (int sig = 1; sig < SIGRTMAX; sig++) {
        const char *name = sigabbrev_np(sig);
        if (name && strcasecmp(text, name) == 0)
            return sig;
    }
    return -1;
}

/* Each gets what stands behind its name and the colon. */
static int parse_number(const char *text, struct trigger *t)
{
    return text_number(text, &t->number);
}

static int parse_time(const char *text, struct trigger *t)
{
    char *end;
    errno = 0;
    const double seconds = strtod(text, &end);
    if (*end || end == text || errno || !(seconds >= 0) || seconds > SECONDS_MOST)
        return -1;
    t->number = (uint64_t)(seconds * 1e9) + 1; /* 0 is a key */
    return 0;
}

static int parse_key(const char *text, struct trigger *t)
{
    t->number = 0;
    return *text ? -1 : 0;
}

static int parse_call(const char *text, struct trigger *t)
{
    for (int64_t nr = 0; nr < KINDS_CALLS; nr++)
        if (kinds_name(nr) && !strcmp(kinds_name(nr), text)) {
            t->number = (uint64_t)nr;
            return 0;
        }
    return -1;
}

static int parse_signal(const char *text, struct trigger *t)
{
    const int sig = trigger_signal(text);
    t->number = (uint64_t)sig;
    return sig < 0 ? -1 : 0;
}

static int parse_addr(const char *text, struct trigger *t)
{
    char *end;
    errno = 0;
    t->number = strtoull(text, &end, 16);
    return strncmp(text, "0x", 2) != 0 || *end || end == text + 2 || errno || !t->number ? -1 : 0;
}

/* The text is there already. */
static int parse_text(const char *text, struct trigger *t)
{
    snprintf(t->text, sizeof t->text, "%s", text);
    return *text && strlen(text) < sizeof t->text ? 0 : -1;
}

static int parse_function(const char *text, struct trigger *t)
{
    t->number = TRIGGER_FUNCTION;
    return parse_text(text, t);
}

/* FILE:N, and perhaps :TIMES. */
static int parse_line(const char *text, struct trigger *t)
{
    uint64_t line;
    t->number = TRIGGER_LINE;
    if (parse_text(text, t))
        return -1;
    char *last = strrchr(t->text, ':');
    char *before = last ? memrchr(t->text, ':', (size_t)(last - t->text)) : NULL;
    if (before && before[1] >= '0' && before[1] <= '9') {
        *last = 0;
        if (text_number(last + 1, &t->times) || !t->times)
            return -1;
        last = before;
    }
    return !last || last == t->text || text_number(last + 1, &line) || !line ? -1 : 0;
}

static int parse_probe(const char *text, struct trigger *t)
{
    const char *colon = strchr(text, ':');
    t->number = TRIGGER_PROBE;
    return !colon || colon == text || !colon[1] ? -1 : parse_text(text, t);
}

static const struct {
    const char *name;
    enum trigger_kind kind;
    int (*parse)(const char *text, struct trigger *t);
    bool repeats; /* :N may follow */
    const char *what;
} kinds[] = {
    {"ticks", TRIGGER_TICKS, parse_number, false, "a number of ticks"},
    {"icount", TRIGGER_ICOUNT, parse_number, false, "a number of instructions"},
    {"time", TRIGGER_FIRED, parse_time, false, "a number of seconds"},
    {"key", TRIGGER_FIRED, parse_key, false, "nothing"},
    {"call", TRIGGER_CALL, parse_call, true, "a system call"},
    {"signal", TRIGGER_SIGNAL, parse_signal, true, "a signal"},
    {"mark", TRIGGER_MARK, parse_text, true, "a mark's text"},
    {"region", TRIGGER_MARK, parse_text, true, "a region's name"},
    {"func", TRIGGER_NAME, parse_function, true, "a function's name"},
    {"line", TRIGGER_NAME, parse_line, false, "FILE:LINE"},
    {"probe", TRIGGER_NAME, parse_probe, true, "PROVIDER:NAME"},
    {"addr", TRIGGER_ADDR, parse_addr, true, "an address, as 0x401136"},
};

/* Takes ":N" off the end; -1: it is none that can be. A text may have a colon and no number behind
 * it. */
static int take_times(char *text, uint64_t *times)
{
    char *colon = strrchr(text, ':');
    const bool below = colon && colon[1] == '-';
    uint64_t n;
    if (!colon || text_number(colon + 1 + below, &n))
        return 0;
    if (!n || below)
        return -1;
    *times = n;
    *colon = 0;
    return 0;
}

int trigger_parse(const char *text, bool begins, struct trigger *out, struct err *err)
{
    char value[512];
    const size_t n = strcspn(text, ":");
    const char *rest = text[n] ? text + n + 1 : "";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].name) != n || strncmp(kinds[i].name, text, n) != 0)
            continue;
        *out = (struct trigger){.kind = kinds[i].kind, .times = 1};
        snprintf(value, sizeof value, "%s", rest);
        if (kinds[i].repeats && take_times(value, &out->times) && out->kind != TRIGGER_MARK)
            return err_set(err, "'%s': the first time is :1", text);
        if (strlen(rest) >= sizeof value || kinds[i].parse(value, out))
            return err_set(err, "'%s': behind %s stands %s", text, kinds[i].name, kinds[i].what);
        if (kinds[i].kind == TRIGGER_MARK)
            out->number = kinds[i].name[0] == 'm' ? MARKS_PLACE : begins ? MARKS_BEGIN : MARKS_END;
        return 0;
    }
    return err_set(err,
                   "'%s': not one of ticks:, icount:, time:, call:, signal:, mark:, region:, "
                   "func:, line:, probe:, addr:, key",
                   text);
}
