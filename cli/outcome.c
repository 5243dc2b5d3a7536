/* outcome.c - how a recorded program ended, in words. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/outcome.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/plain.h"
#include "pinball/pinball.h"
#include "pinball/record.h"

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

void outcome_text(const struct outcome *o, char *text, size_t room)
{
    char name[32], thread[32] = "";
    if (o->missing) {
        missing_text(o, text, room);
        return;
    }
    signal_name(o->status, name, sizeof name);
    if (o->thread)
        snprintf(thread, sizeof thread, " in thread %" PRIu32, o->thread);
    switch (o->reason) {
    case END_EXIT:
        snprintf(text, room, "program ended: exit status %d", o->status & 0xff);
        break;
    case END_SIGNAL:
        snprintf(text, room, "program ended: %s%s", name, thread);
        break;
    case END_EXEC:
        snprintf(text, room, "program ended: it executed another program, which is not recorded");
        break;
    case END_KILLED:
        if (o->status)
            snprintf(text, room, "program ended: killed by %s; recorded up to its last event",
                     name);
        else
            snprintf(text, room, "program ended unseen; recorded up to its last event");
        break;
    case END_LOST:
        snprintf(text, room,
                 "recording ended: the recorder was killed; all events up to then are there");
        break;
    case END_REGION:
        snprintf(text, room, "the recorded part ends here; the program went on");
        break;
    case END_FULL:
        snprintf(text, room, "recording ended: no room for it (%s)", strerror(o->status));
        break;
    default:
        snprintf(text, room, "recording ended: it was cut off");
    }
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
