/* tell.c - what a failure is, in words. SPDX-License-Identifier: MIT */
#include "maple-bridge/tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/hang/hang.h"
#include "facts/hang/stack.h"
#include "facts/locks/naming.h"
#include "facts/order/story.h"
#include "slicer/criterion/place.h"
#include "source/access.h"
#include "study/past.h"

/* ---- deadlocks ---- */

void tell_deadlock(const char *dir, void (*line)(void *arg, const char *text), void *arg)
{
    enum { WORDS = 256, STORY = 1024, PLACE = 128, LINE = WORDS + STORY + PLACE + 32 };
    const struct study_options options = {.untraced = true, .modules = true};
    char words[WORDS], story[STORY], place[PLACE], text[LINE];
    struct err err;
    struct study *s = study_open(dir, &options, &err);
    const struct hang *h = s ? hang_find(s, &err) : NULL;
    for (size_t i = 0; h && i < h->threads; i++) {
        const struct hang_thread *t = &h->thread[i];
        if (h->circles ? !t->circle : !t->waits)
            continue;
        study_place(s, t->line_pc ? t->line_pc : t->at.pc, place, sizeof place);
        hang_words(t, words, sizeof words);
        hang_story(s, t, story, sizeof story);
        snprintf(text, sizeof text, "T%" PRIu32 " at %s %s%s%s", t->number, place, words,
                 *story ? ": " : "", story);
        line(arg, text);
    }
    study_close(s);
}

/* ---- pairs ---- */

/* Something to find out at a point of the run. */
struct stop {
    uint32_t trail; /* before this access */
    struct reduce_pair *pair;
    struct reduce_access *access;
    bool left; /* what it left there, where the thread came from; else all that is known before */
    struct reduce_pause *pause; /* then nothing else */
};

enum { STOPS = REDUCE_PAIRS * 6 + REDUCE_PAUSES * 2 };

static int by_trail(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;
    return (x->trail > y->trail) - (x->trail < y->trail);
}

static size_t read_past(void *arg, gaddr addr, void *out, size_t bytes)
{
    return past_read(arg, addr, out, bytes);
}

/* The place of a frame, and of the calls that the compiler put into it. */
static uint32_t add_places(struct study *s, gaddr pc, char stack[][SCOUT_PLACE], uint32_t frames)
{
    struct source_call call[REDUCE_STACK];
    if (frames < REDUCE_STACK)
        study_place(s, pc, stack[frames++], SCOUT_PLACE);
    const size_t calls = source_calls(s->source, pc, call, REDUCE_STACK);
    for (size_t i = 0; i < calls && i < REDUCE_STACK && frames < REDUCE_STACK; i++) {
        const char *name = call[i].file ? strrchr(call[i].file, '/') : NULL;
        if (call[i].file && call[i].line)
            snprintf(stack[frames++], SCOUT_PLACE, "%s:%" PRIu32, name ? name + 1 : call[i].file,
                     call[i].line);
    }
    return frames;
}

/* The calls that a thread is in; with the innermost one, if `innermost`, whoever's code that is. */
static size_t tell_calls(struct study *s, struct past *p, uint32_t thread, bool innermost,
                         char stack[][SCOUT_PLACE], uint32_t *frames, gaddr *cfa)
{
    const struct stack_memory memory = {read_past, p};
    struct program_registers *r = malloc(sizeof *r);
    struct stack_frame frame[STACK_FRAMES];
    struct source_line line;
    struct err err;
    if (!r || past_registers(p, thread, r, &err)) {
        free(r);
        return 0;
    }
    frame[0] = stack_innermost(r);
    free(r);
    const size_t n = stack_unwind(s, &memory, frame, STACK_FRAMES);
    for (size_t i = 0; i < n && *frames < REDUCE_STACK; i++)
        if ((i == 0 && innermost) || study_own(s, stack_line_pc(frame, i), &line))
            *frames = add_places(s, stack_line_pc(frame, i), stack, *frames);
    *cfa = n ? frame[0].cfa : 0;
    return n;
}

static void tell_stack(struct study *s, struct past *p, struct reduce_pair *pair,
                       struct reduce_access *a)
{
    struct source_frame f = {.cfa = 0};
    struct source_type type;
    if (!tell_calls(s, p, a->thread, true, a->stack, &a->frames, &f.cfa))
        return;
    if (!*pair->name && !source_variable_typed(s->source, a->at.pc, &f, a->addr, a->bytes,
                                               pair->name, sizeof pair->name, &type))
        source_access(s->source, a->at.pc, a->bytes, pair->name, sizeof pair->name, &type);
}

static void tell_value(struct study *s, struct past *p, struct reduce_access *a)
{
    struct source_type type = {.class = TYPE_NONE};
    char name[REDUCE_NAME];
    uint64_t value = 0;
    if (!a->bytes || past_read(p, a->addr, &value, a->bytes) != a->bytes)
        return;
    if (!source_variable_typed(s->source, a->at.pc, NULL, a->addr, a->bytes, name, sizeof name,
                               &type))
        source_access(s->source, a->at.pc, a->bytes, name, sizeof name, &type);
    source_value_write(&type, &value, a->bytes, a->value, sizeof a->value);
}

/* What a write left is there when the next event of the run comes. */
static size_t add_stops(struct stop *stop, struct reduce_pair *p, const struct agenda_done *d)
{
    struct reduce_access *all[] = {&p->before, &p->first, &p->then};
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!all[i]->thread || all[i]->absent)
            continue;
        stop[n++] = (struct stop){.trail = all[i]->trail, .pair = p, .access = all[i]};
        uint32_t next = all[i]->trail + 1;
        while (next < d->trails &&
               !d->trail[next].pc) /* a system call: no position of an instruction */
            next++;
        if (all[i]->write && next < d->trails)
            stop[n++] = (struct stop){.trail = next, .pair = p, .access = all[i], .left = true};
    }
    return n;
}

static void visit(struct study *s, const struct agenda_done *d, struct stop *stop, size_t stops)
{
    struct past *p = NULL;
    struct err err;
    uint32_t here = UINT32_MAX;
    for (size_t i = 0; i < stops; i++) {
        const struct agenda_trail *t = &d->trail[stop[i].trail];
        const struct position at = {.thread = t->thread, .count = t->count, .pc = t->pc};
        if (stop[i].trail != here &&
            (p ? past_go(p, 0, &at, &err) : !(p = study_past(s, 0, &at, &err))))
            break;
        here = stop[i].trail;
        struct reduce_pause *pause = stop[i].pause;
        gaddr cfa;
        if (pause && stop[i].left)
            tell_calls(s, p, pause->thread, false, pause->last, &pause->lasts, &cfa);
        else if (pause)
            tell_calls(s, p, pause->thread, false, pause->stack, &pause->frames, &cfa);
        if (pause)
            continue;
        if (!stop[i].left)
            tell_stack(s, p, stop[i].pair, stop[i].access);
        if (stop[i].left || !stop[i].access->write)
            tell_value(s, p, stop[i].access);
    }
    past_free(p);
}

/* The locks that its thread held, outermost first. */
static void tell_locks(struct study *s, struct reduce_access *a)
{
    struct place p = {0};
    struct err err;
    size_t count = 0;
    const struct locks *l = a->absent ? NULL : locks_find(s, &err);
    if (!l || place_position(s, &a->at, &p, &err))
        return;
    const struct locks_event **held = locks_held(l, p.at, &count, &err);
    for (size_t i = 0; held && i < count && a->locks < REDUCE_LOCKS; i++) {
        struct reduce_lock *lock = &a->lock[a->locks];
        if (held[i]->thread != p.thread || !held[i]->line_pc)
            continue;
        naming_lock(s, held[i]->line_pc, NULL, held[i]->lock, lock->name, sizeof lock->name);
        study_place(s, held[i]->line_pc, lock->place, sizeof lock->place);
        a->locks++;
    }
    free(held);
    place_deinit(&p);
}

/* ---- what kind it is ---- */

static bool is_at(struct study *s, const struct races_side *side, const struct reduce_access *a)
{
    char place[SCOUT_PLACE];
    study_place(s, side->line_pc ? side->line_pc : side->pc, place, sizeof place);
    return side->write == a->write && strcmp(place, a->place) == 0;
}

/* A race of the run that has both accesses in its pattern knows most. */
static bool tell_race(struct study *s, struct reduce_pair *p)
{
    struct err err;
    const struct races *all = races_find(s, false, &err);
    for (size_t i = 0; all && i < all->pairs; i++) {
        const struct races_around *around = &all->pair[i].around;
        unsigned met = 0;
        for (unsigned k = 0; around->pattern && k < around->sides; k++)
            met |= (is_at(s, &around->side[k], &p->first) ? 1u : 0) |
                   (is_at(s, &around->side[k], &p->then) ? 2u : 0);
        if (met != 3)
            continue;
        story_tell(s, &all->pair[i], p->story);
        return *p->story;
    }
    return false;
}

static struct pattern_access access_of(const struct reduce_access *a)
{
    return (struct pattern_access){.thread = a->thread,
                                   .write = a->write,
                                   .line = a->place,
                                   .value = *a->value ? a->value : NULL};
}

/* Else what the accesses themselves are: the order of the last two was another one in the run that
 * passed, whatever lock is around each of them. */
static void tell_accesses(struct reduce_pair *p)
{
    struct pattern_case c = {.variable = *p->name ? p->name : NULL,
                             .unordered = true,
                             .one_frame = true,
                             .unset = false};
    if (p->then.absent)
        return;
    if (p->before.thread)
        c.access[c.accesses++] = access_of(&p->before);
    c.access[c.accesses++] = access_of(&p->first);
    c.access[c.accesses++] = access_of(&p->then);
    pattern_find(&c, p->story, sizeof p->story);
}

void tell_pairs(const char *dir, const struct agenda_done *d, struct reduced *r)
{
    const struct study_options options = {.trace = NULL};
    struct stop stop[STOPS];
    struct err err;
    size_t stops = 0;
    struct study *s = r->pairs || r->pauses ? study_open(dir, &options, &err) : NULL;
    if (!s)
        return;
    for (uint32_t i = 0; i < r->pairs; i++)
        stops += add_stops(stop + stops, &r->pair[i], d);
    for (uint32_t i = 0; i < r->pauses; i++) {
        struct reduce_pause *pause = &r->pause[i];
        stop[stops++] = (struct stop){.trail = pause->trail, .pause = pause};
        if (pause->event != REDUCE_NO_EVENT)
            stop[stops++] = (struct stop){.trail = pause->event, .pause = pause, .left = true};
    }
    qsort(stop, stops, sizeof stop[0], by_trail);
    visit(s, d, stop, stops);
    for (uint32_t i = 0; i < r->pairs; i++) {
        tell_locks(s, &r->pair[i].first);
        tell_locks(s, &r->pair[i].then);
        if (!tell_race(s, &r->pair[i]))
            tell_accesses(&r->pair[i]);
        for (uint32_t k = 0; k < i; k++) /* once is enough */
            if (strcmp(r->pair[k].story, r->pair[i].story) == 0)
                *r->pair[i].story = '\0';
    }
    study_close(s);
}
