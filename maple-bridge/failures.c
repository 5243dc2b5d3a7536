/* failures.c - which failures a search has found. SPDX-License-Identifier: MIT */
#include "maple-bridge/failures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/hang/hang.h"
#include "study/study.h"

enum { PLACES = 32, PLACE = 96 };

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The places of threads that wait for good, or of the one that ended the program. */
static void tell_places(struct study *s, const struct hang *h, bool deadlock, struct failure *out)
{
    static char place[PLACES][PLACE];
    struct position end = {.thread = 0};
    size_t n = 0, at = 0;
    int status;
    study_end(s, &status, &end);
    for (size_t i = 0; i < h->threads && n < PLACES; i++) {
        const struct hang_thread *t = &h->thread[i];
        const bool wanted = !deadlock    ? t->number == end.thread
                            : h->circles ? t->circle != 0
                                         : t->endless;
        if (wanted && t->line_pc)
            study_place(s, t->line_pc, place[n++], PLACE);
    }
    qsort(place, n, sizeof place[0], by_text);
    for (size_t i = 0; i < n && at < sizeof out->place; i++)
        at += (size_t)snprintf(out->place + at, sizeof out->place - at, "%s%s", i ? ", " : "",
                               place[i]);
}

void failures_sign(const char *dir, const struct crew_outcome *o, uint64_t run, struct failure *out)
{
    const struct study_options options = {.untraced = true, .modules = true};
    struct err err;
    *out = (struct failure){.run = run, .kind = o->kind, .status = o->wait_status};
    struct study *s = study_open(dir, &options, &err);
    const struct hang *h = s ? hang_find(s, &err) : NULL;
    if (h)
        tell_places(s, h, o->kind == CREW_CIRCLE || o->kind == CREW_STUCK, out);
    study_close(s);
    for (char *c = out->place; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

bool failures_add(struct failures *f, const struct failure *new)
{
    size_t i = 0;
    for (; i < f->count; i++) {
        struct failure *old = &f->list[i];
        if (old->kind != new->kind || old->status != new->status ||
            strcmp(old->place, new->place) != 0)
            continue;
        old->run = old->run < new->run ? old->run : new->run;
        return false;
    }
    if (f->count == FAILURES_MOST)
        return false;
    for (i = f->count++; i && f->list[i - 1].run > new->run; i--)
        f->list[i] = f->list[i - 1];
    f->list[i] = *new;
    return true;
}
