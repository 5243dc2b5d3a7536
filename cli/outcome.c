/* outcome.c - how a recorded program ended, in words. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/outcome.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "pinball/ends.h"
#include "pinball/pinball.h"

static void signal_name(int sig, char *text, size_t room)
{
    const char *name = sigabbrev_np(sig);
    if (name)
        snprintf(text, room, "SIG%s", name);
    else
        snprintf(text, room, "signal %d", sig);
}

/* A replay ends where the program maps a file that could not be kept, however the program ended. */
static void missing_text(const struct outcome *o, char *text, size_t room)
{
    snprintf(text, room, "recording ended: %.*s, which is mapped next, could not be kept (%s)",
             OUTCOME_TEXT / 2, o->missing->path,
             o->reason == END_FULL ? strerror(o->status) : "the recorder did not get to it");
}

static void status_text(const struct outcome *o, enum ends_status kind, char *text, size_t room)
{
    if (kind == ENDS_SIGNAL)
        signal_name(o->status, text, room);
    else if (kind == ENDS_ERRNO)
        snprintf(text, room, "%s", strerror(o->status));
    else
        snprintf(text, room, "%d", o->status & 0xff);
}

/* A row's text, with the words for what begins with a dollar. */
static void fill(const char *row, const char *status, const char *thread, char *text, size_t room)
{
    const char *const words[][2] = {{"$STATUS", status}, {"$THREAD", thread}};
    size_t used = 0;
    while (*row && used + 1 < room) {
        size_t i = 0;
        while (i < 2 && strncmp(row, words[i][0], strlen(words[i][0])) != 0)
            i++;
        if (i < 2)
            used += (size_t)snprintf(text + used, room - used, "%s", words[i][1]);
        else
            text[used++] = *row;
        row += i < 2 ? strlen(words[i][0]) : 1;
    }
    text[used < room ? used : room - 1] = 0;
}

void outcome_text(const struct outcome *o, char *text, size_t room)
{
    char status[100], thread[32] = "";
    const struct ends_row *row = ends_row(o->reason);
    if (o->missing) {
        missing_text(o, text, room);
        return;
    }
    if (!row)
        row = ends_row(END_FAILED);
    status_text(o, row->status, status, sizeof status);
    if (o->thread)
        snprintf(thread, sizeof thread, " in thread %" PRIu32, o->thread);
    fill(!o->status && row->bare ? row->bare : row->text, status, thread, text, room);
}

void outcome_say(FILE *to, const char *dir, const struct outcome *o)
{
    char text[OUTCOME_TEXT];
    outcome_text(o, text, sizeof text);
    plain_printf(to, "%s: %s\n", dir, text);
}

/* Two or three digits, and what they count in. */
static const char *shorten(char text[OUTCOME_BYTES], uint64_t n, uint64_t step,
                           const char *const units[])
{
    double value = (double)n;
    int unit = 0;

    while (value >= (double)step * 0.9995 && units[unit + 1]) {
        value /= (double)step;
        unit++;
    }
    snprintf(text, OUTCOME_BYTES, "%.*f%s", unit == 0 || value >= 9.95 ? 0 : 1, value, units[unit]);
    return text;
}

void outcome_hint_changes(const struct pinball *p)
{
    const uint64_t n = pinball_end_number(p, "changes", 0);
    if (n)
        say_hint("a debugger changed memory or registers %" PRIu64 " time%s while this was "
                 "recorded: what they held then seems to come from the program's own last write",
                 n, n == 1 ? "" : "s");
}

const char *outcome_bytes(char text[OUTCOME_BYTES], uint64_t bytes)
{
    static const char *const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB", NULL};

    return shorten(text, bytes, 1024, units);
}

const char *outcome_number(char text[OUTCOME_BYTES], uint64_t n)
{
    static const char *const units[] = {"", " k", " M", " G", " T", NULL};

    return shorten(text, n, 1000, units);
}

static void count(FILE *to, uint64_t n, const char *what)
{
    char text[OUTCOME_BYTES];

    fprintf(to, "%s %s%s, ", outcome_number(text, n), what, n == 1 ? "" : "s");
}

void outcome_say_size(FILE *to, struct pinball *p)
{
    const char *instructions = pinball_note_get(p, "instructions");
    char text[OUTCOME_BYTES];
    uint64_t n;

    plain_printf(to, "%s: ", pinball_path(p));
    n = pinball_end_number(p, "threads", 0);
    fprintf(to, "%" PRIu64 " thread%s, ", n, n == 1 ? "" : "s");
    if (instructions && text_number(instructions, &n) == 0)
        count(to, n, "instruction");
    else
        count(to, pinball_end_number(p, "ticks", 0), "tick");
    count(to, pinball_records(p), "event");
    fprintf(to, "%s\n", outcome_bytes(text, pinball_bytes(p)));
}
