/* hang_words.c - a wait in words. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "facts/hang/hang.h"

enum { PLACE_MOST = 128, SHOWN = 80 };

struct line {
    char *at;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *l, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    int n = vsnprintf(l->at, l->room, form, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < l->room ? (size_t)n : l->room ? l->room - 1 : 0;
    l->at += used;
    l->room -= used;
}

static void put_place(struct line *l, struct study *s, const struct hang_moment *m)
{
    char place[PLACE_MOST];
    study_place(s, m->line_pc ? m->line_pc : m->at.pc, place, sizeof place);
    put(l, "%s", place);
}

void hang_summary(const struct hang *h, char *out, size_t room)
{
    struct line l = {out, room};
    put(&l, "%zu of %zu threads wait", h->waiting, h->threads);
    for (uint32_t c = 1; c <= h->circles; c++) {
        unsigned n = 0;
        for (size_t i = 0; i < h->threads; i++)
            if (h->thread[i].circle == c)
                put(&l, "%sT%" PRIu32, n++ ? ", " : "; ", h->thread[i].number);
        put(&l, n > 1 ? " wait for each other" : " waits for itself");
    }
}

void hang_words(const struct hang_thread *t, char *out, size_t room)
{
    struct line l = {out, room};
    const char *call = t->call >= 0 ? kinds_name(t->call) : NULL;
    if (!t->waits)
        put(&l, "does not wait");
    else if (t->kind == LOCKS_JOIN)
        put(&l, "waits for the end of %.*s", SHOWN, t->what);
    else if (t->kind)
        put(&l, "waits for the %s %.*s", locks_kind_name(t->kind), SHOWN, t->what);
    else
        put(&l, "waits in %s%s%.*s", call ? call : "a system call", *t->what ? ", " : "", SHOWN,
            t->what);
}

static void put_holder(struct line *l, struct study *s, const struct hang_thread *t)
{
    if (t->holder == t->number)
        put(l, "held by itself");
    else if (t->ended)
        put(l, "T%" PRIu32 " ended holding it", t->holder);
    else
        put(l, "held by T%" PRIu32, t->holder);
    if (t->taken.at.thread) {
        put(l, t->ended ? ", taken at " : " since ");
        put_place(l, s, &t->taken);
    }
}

static void put_cause(struct line *l, struct study *s, const struct hang_thread *t,
                      const struct hang_cause *c)
{
    put(l, "; %.*s is %s, ", SHOWN, c->name, c->value);
    if (!c->written.at.thread) {
        put(l, "nobody has written it");
        return;
    }
    put(l, "last written by T%" PRIu32 " at ", c->written.at.thread);
    put_place(l, s, &c->written);
    if (c->written.at.thread != t->number)
        put(l, c->signalled ? ", and a signal followed" : ", and no signal followed");
}

void hang_story(struct study *s, const struct hang_thread *t, char *out, size_t room)
{
    struct line l = {out, room};
    if (room)
        *out = 0;
    if (!t->waits)
        return;
    if (t->holder && t->kind != LOCKS_JOIN)
        put_holder(&l, s, t);
    if (t->kind != LOCKS_CONDITION && t->kind != LOCKS_SEMAPHORE)
        return;
    const char *verb = t->kind == LOCKS_CONDITION ? "signalled" : "posted";
    if (t->signalled.at.thread) {
        put(&l, "last %s by T%" PRIu32 " at ", verb, t->signalled.at.thread);
        put_place(&l, s, &t->signalled);
        if (t->signalled.ticks < t->since.ticks)
            put(&l, ", before this wait");
    } else {
        put(&l, "never %s", verb);
    }
    for (unsigned i = 0; i < t->causes; i++)
        put_cause(&l, s, t, &t->cause[i]);
    if (t->goes_on)
        put(&l, "; woken now, it would not wait again");
}
