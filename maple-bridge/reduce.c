/* reduce.c - why a run failed. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "maple-bridge/reduce.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "maple-bridge/recipe.h"
#include "maple-bridge/tell.h"
#include "pinball/writer.h"

enum { RUNS_MOST = 200, SECONDS_MOST = 60, TRIES = 3 };

struct reduction {
    const struct reduce_job *job;
    struct reduced *out;
    struct agenda_switch *list;
    uint32_t count;
    bool varies; /* runs of one schedule differ: the program has input from outside */
    time_t begin;
};

static time_t now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static bool is_over(const struct reduction *r)
{
    return r->out->runs >= RUNS_MOST || now_s() - r->begin >= SECONDS_MOST ||
           (r->job->stop && *r->job->stop);
}

static int run_script(const struct reduce_job *job, const struct agenda_switch *list,
                      uint32_t count, bool keep, struct crew_outcome *out, struct err *err)
{
    const struct recipe recipe = {.tactic = AGENDA_script};
    const struct crew_job what = {.run = 1, .keep = keep, .cpu_ns = job->cpu_ns};
    struct agenda *agenda = crew_agenda(job->crew, 0);
    int got;
    recipe_tell(&recipe, agenda);
    scout_tell(job->scout, agenda);
    memcpy(agenda->script, list, count * sizeof *list);
    agenda->switches = count;
    if (crew_start(job->crew, 0, &what, err))
        return -1;
    while ((got = crew_wait(job->crew, out, err)) == 0)
        ;
    return got < 0 ? -1 : 0;
}

static void drop_pinball(const struct reduce_job *job, const struct crew_outcome *o)
{
    char dir[PATH_MAX];
    if (!o->kept)
        return;
    crew_place(job->crew, 0, dir);
    writer_remove(dir);
}

/* The same kind of failure, at the same place as far as that is known. */
static bool is_same(const struct reduce_job *job, const struct crew_outcome *o)
{
    const struct failure *wanted = job->failure;
    struct failure got;
    char dir[PATH_MAX];
    if (o->failed || o->kind != wanted->kind || o->wait_status != wanted->status)
        return false;
    if (!o->kept || !*wanted->place || o->kind == CREW_LONG)
        return true;
    crew_place(job->crew, 0, dir);
    failures_sign(dir, o, o->run, &got);
    return !*got.place || strcmp(got.place, wanted->place) == 0;
}

/* Does it fail by these switches? Where runs of one schedule differ, one of three is enough. */
static int try_list(struct reduction *r, const struct agenda_switch *list, uint32_t count,
                    bool *fails, struct err *err)
{
    struct crew_outcome out;
    *fails = false;
    for (unsigned i = 0; i < (r->varies ? TRIES : 1) && !*fails; i++) {
        r->out->runs++;
        if (run_script(r->job, list, count, false, &out, err))
            return -1;
        *fails = is_same(r->job, &out);
        drop_pinball(r->job, &out);
    }
    return 0;
}

/* Does it fail without [from, to)? */
static int try_without(struct reduction *r, uint32_t from, uint32_t to, bool *fails,
                       struct err *err)
{
    struct agenda_switch *rest = malloc((r->count + 1) * sizeof *rest);
    if (!rest)
        return err_set(err, "no memory");
    memcpy(rest, r->list, from * sizeof *rest);
    memcpy(rest + from, r->list + to, (r->count - to) * sizeof *rest);
    int bad = try_list(r, rest, r->count - (to - from), fails, err);
    if (!bad && *fails) {
        memcpy(r->list, rest, (r->count - (to - from)) * sizeof *rest);
        r->count -= to - from;
    }
    free(rest);
    return bad;
}

/* The whole schedule, twice: does it fail, and are both runs the same? */
static int try_whole(struct reduction *r, bool *fails, struct err *err)
{
    const struct agenda *agenda = crew_agenda(r->job->crew, 0);
    bool again = false;
    if (try_list(r, r->list, r->count, fails, err))
        return -1;
    const uint64_t hash = agenda->done.hash;
    if (try_list(r, r->list, r->count, &again, err))
        return -1;
    r->varies = agenda->done.hash != hash || *fails != again;
    *fails |= again;
    return r->varies && !*fails ? try_list(r, r->list, r->count, fails, err) : 0;
}

/* Pieces of that size are left out, from the end on: what comes late is needed least. */
static int leave_out(struct reduction *r, uint32_t size, bool *changed, struct err *err)
{
    for (uint32_t end = r->count; end > 0 && !is_over(r);) {
        const uint32_t from = end > size ? end - size : 0;
        bool fails = false;
        if (try_without(r, from, end, &fails, err))
            return -1;
        *changed |= fails;
        end = from;
        end = end > r->count ? r->count : end;
    }
    return 0;
}

static int reduce(struct reduction *r, struct err *err)
{
    bool fails = false;
    if (try_whole(r, &fails, err))
        return -1;
    r->out->failed = !fails;
    if (!fails)
        return 0;
    for (uint32_t size = (r->count + 1) / 2; size > 0 && !is_over(r); size /= 2) {
        bool changed = true;
        if (size > 1 && leave_out(r, size, &changed, err))
            return -1;
        while (size == 1 && changed && !is_over(r)) {
            changed = false;
            if (leave_out(r, 1, &changed, err))
                return -1;
        }
    }
    return 0;
}

/* ---- the pair ---- */

static bool conflict(const struct agenda_trail *a, const struct agenda_trail *b)
{
    return a->thread != b->thread && a->addr && a->addr < b->addr + b->bytes &&
           b->addr < a->addr + a->bytes && (a->writes || b->writes);
}

static void fill(const struct reduce_job *job, const struct agenda_done *d,
                 const struct agenda_trail *t, struct reduce_access *out)
{
    const struct scout_site *s = scout_site(job->scout, t->site);
    *out = (struct reduce_access){
        .thread = t->thread,
        .write = t->writes,
        .addr = t->addr,
        .site = t->site,
        .bytes = t->bytes <= sizeof(uint64_t) ? t->bytes : (uint32_t)sizeof(uint64_t),
        .at = {.thread = t->thread, .count = t->count, .pc = t->pc},
        .trail = (uint32_t)(t - d->trail)};
    snprintf(out->place, sizeof out->place, "%s", s ? s->place : "a system call");
}

static bool is_own(const struct reduce_job *job, const struct agenda_trail *t)
{
    const struct scout_site *s = scout_site(job->scout, t->site);
    return s && !s->sync;
}

static void add_pair(const struct reduce_job *job, const struct agenda_done *d,
                     const struct agenda_trail *a, const struct agenda_trail *b,
                     struct reduced *out)
{
    struct reduce_access first, then;
    fill(job, d, a, &first);
    fill(job, d, b, &then);
    for (uint32_t i = 0; i < out->pairs; i++)
        if (!strcmp(out->pair[i].first.place, first.place) &&
            !strcmp(out->pair[i].then.place, then.place))
            return;
    if (out->pairs == REDUCE_PAIRS)
        return;
    struct reduce_pair *p = &out->pair[out->pairs++];
    *p = (struct reduce_pair){.first = first, .then = then};
    for (const struct agenda_trail *t = a; t > d->trail && !p->before.thread;)
        if ((--t)->thread == b->thread && t->addr == b->addr)
            fill(job, d, t, &p->before);
}

/* Events of others, [from, to), while a thread was off. */
struct gap {
    uint32_t from, to;
    uint32_t thread;
};

static struct gap gap_of(const struct agenda_done *d, const struct agenda_switch *s)
{
    struct gap g = {.thread = s->thread};
    while (g.to < d->trails &&
           !(d->trail[g.to].thread == s->thread && d->trail[g.to].event >= s->event))
        g.to++;
    for (g.from = g.to; g.from > 0 && d->trail[g.from - 1].thread != s->thread; g.from--)
        ;
    return g;
}

enum { NEAR = 64 };

/* What came in between against what the thread did when it came back. */
static bool find_after(const struct reduce_job *job, const struct agenda_done *d, struct gap g,
                       bool own, struct reduced *out)
{
    for (uint32_t b = g.to; b < d->trails && b < g.to + NEAR; b++)
        for (uint32_t a = g.to; d->trail[b].thread == g.thread && a > g.from; a--)
            if (conflict(&d->trail[a - 1], &d->trail[b]) && is_own(job, &d->trail[a - 1]) == own &&
                is_own(job, &d->trail[b]) == own) {
                add_pair(job, d, &d->trail[a - 1], &d->trail[b], out);
                return true;
            }
    return false;
}

/* What the thread did before it was taken off against what came then. */
static bool find_before(const struct reduce_job *job, const struct agenda_done *d, struct gap g,
                        bool own, struct reduced *out)
{
    for (uint32_t a = g.from; a > 0 && a + NEAR > g.from; a--)
        for (uint32_t b = g.from; d->trail[a - 1].thread == g.thread && b < g.to; b++)
            if (conflict(&d->trail[a - 1], &d->trail[b]) && is_own(job, &d->trail[a - 1]) == own &&
                is_own(job, &d->trail[b]) == own) {
                add_pair(job, d, &d->trail[a - 1], &d->trail[b], out);
                return true;
            }
    return false;
}

/* The pinball gets another name, since the worker uses its own again. */
static int keep(struct reduction *r, const struct crew_outcome *o, struct err *err)
{
    char from[PATH_MAX];
    if (!o->kept)
        return 0;
    crew_place(r->job->crew, 0, from);
    snprintf(r->out->dir, sizeof r->out->dir, "%.4000s.reduced", from);
    if (rename(from, r->out->dir) == 0)
        return 0;
    *r->out->dir = '\0';
    return err_set_code(err, errno, "%s: %m", from);
}

/* A later access of another thread that conflicts with it; NULL: none is near. */
static const struct agenda_trail *next_conflict(const struct agenda_done *d, uint32_t i)
{
    for (uint32_t k = i + 1; k < d->trails && k < i + NEAR; k++)
        if (conflict(&d->trail[i], &d->trail[k]))
            return &d->trail[k];
    return NULL;
}

/* It fails though no thread is taken off: one that is taken off before an access, for a thread that
 * comes to a conflict with it later, may let it pass. */
static int find_added(struct reduction *r, const struct agenda_done *d, struct err *err)
{
    struct crew_outcome o;
    struct reduced *out = r->out;
    for (uint32_t i = 0; i < d->trails && !is_over(r); i++) {
        const struct agenda_trail *b = is_own(r->job, &d->trail[i]) ? next_conflict(d, i) : NULL;
        if (!b || !is_own(r->job, b))
            continue;
        out->added = (struct agenda_switch){d->trail[i].thread, b->thread, d->trail[i].event};
        out->runs++;
        if (run_script(r->job, &out->added, 1, false, &o, err))
            return -1;
        drop_pinball(r->job, &o);
        if (o.failed || o.kind != CREW_PASSED)
            continue;
        out->adds = true;
        add_pair(r->job, d, &d->trail[i], b, out);
        return 0;
    }
    return 0;
}

/* The switch that decides comes first. */
static void find_switched(struct reduction *r, const struct agenda_done *d, bool own)
{
    struct reduced *out = r->out;
    for (uint32_t i = r->count + out->passes; i > 0; i--) {
        const uint32_t which = i > r->count ? out->moved : i - 1;
        const struct gap g = gap_of(d, &r->list[which]);
        find_after(r->job, d, g, own, out);
        find_before(r->job, d, g, own, out);
    }
}

/* Where the same access is in a run; its number of accesses: it is not there. */
static uint32_t same_access(const struct agenda_done *d, const struct agenda_trail *t)
{
    const uint32_t all = d->trails < AGENDA_SWITCHES ? d->trails : AGENDA_SWITCHES;
    uint32_t i = 0;
    while (i < all && (d->trail[i].thread != t->thread || d->trail[i].event != t->event ||
                       d->trail[i].site != t->site || d->trail[i].addr != t->addr))
        i++;
    return i;
}

/* An access that came in the failing run, and before it in the passing one what the failing run
 * never came to. */
static bool find_absent(struct reduction *r, const struct agenda_done *d,
                        const struct agenda_done *passing)
{
    for (uint32_t a = 0; a < passing->trails && a < AGENDA_SWITCHES; a++) {
        const uint32_t here =
            is_own(r->job, &passing->trail[a]) ? same_access(d, &passing->trail[a]) : d->trails;
        for (uint32_t b = here < d->trails ? a : 0; b > 0 && a - b < NEAR; b--) {
            const struct agenda_trail *t = &passing->trail[b - 1];
            if (!conflict(t, &passing->trail[a]) || same_access(d, t) < d->trails)
                continue;
            struct reduce_pair *p = &r->out->pair[r->out->pairs++];
            fill(r->job, d, &d->trail[here], &p->first);
            fill(r->job, passing, t, &p->then);
            p->then.absent = true;
            return true;
        }
    }
    return false;
}

/* Without one of the switches. */
static int run_without(struct reduction *r, uint32_t left_out, struct crew_outcome *o,
                       struct err *err)
{
    struct agenda_switch *rest = malloc((r->count + 1) * sizeof *rest);
    if (!rest)
        return err_set(err, "no memory");
    memcpy(rest, r->list, left_out * sizeof *rest);
    memcpy(rest + left_out, r->list + left_out + 1, (r->count - left_out - 1) * sizeof *rest);
    r->out->runs++;
    int bad = run_script(r->job, rest, r->count - 1, false, o, err);
    if (!bad)
        drop_pinball(r->job, o);
    free(rest);
    return bad;
}

/* Does the pair come in the other order, or only its second access, in the run that passes? */
static bool is_reversed(const struct agenda_done *d, const struct agenda_done *passing,
                        const struct reduce_pair *p)
{
    return !p->then.absent && same_access(passing, &d->trail[p->then.trail]) <
                                  same_access(passing, &d->trail[p->first.trail]);
}

/* Those whose order the switch decides come first. */
static void put_reversed_first(const struct agenda_done *d, const struct agenda_done *passing,
                               struct reduced *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->pairs; i++) {
        const struct reduce_pair p = out->pair[i];
        if (!is_reversed(d, passing, &p))
            continue;
        memmove(&out->pair[n + 1], &out->pair[n], (i - n) * sizeof p);
        out->pair[n++] = p;
    }
}

/* The conflict right before an access, if the two come in the other order in the run that passes:
 * neither thread need have been taken off for that, where a third one lets them begin. */
static void find_flipped(struct reduction *r, const struct agenda_done *d,
                         const struct agenda_done *passing)
{
    enum { LOOKS = 2000 };
    for (uint32_t b = 0, looks = 0; b < d->trails && looks < LOOKS; b++) {
        uint32_t a = is_own(r->job, &d->trail[b]) ? b : 0;
        while (a > 0 && b - a < NEAR && !conflict(&d->trail[a - 1], &d->trail[b]))
            a--;
        if (!a || b - a >= NEAR || !is_own(r->job, &d->trail[a - 1]))
            continue;
        looks++;
        if (same_access(passing, &d->trail[b]) >= same_access(passing, &d->trail[a - 1]))
            continue;
        add_pair(r->job, d, &d->trail[a - 1], &d->trail[b], r->out);
        return;
    }
}

/* The next switch before `end` without which the program passes: its number, that run is in the
 * agenda then; `end`: none. */
static int find_passing(struct reduction *r, uint32_t *end, struct err *err)
{
    struct crew_outcome o;
    for (uint32_t i = *end; i > 0 && !is_over(r); i--) {
        if (run_without(r, i - 1, &o, err))
            return -1;
        if (o.failed || o.kind != CREW_PASSED)
            continue;
        r->out->passes = true;
        r->out->moved = *end = i - 1;
        return 0;
    }
    return 0;
}

/* The pairs around the switches, and what the failing run ended before. */
static int find_decisive(struct reduction *r, const struct agenda_done *d, struct err *err)
{
    const struct agenda_done *passing = &crew_agenda(r->job->crew, 0)->done;
    struct reduced *out = r->out;
    uint32_t end = r->count, before;
    if (find_passing(r, &end, err))
        return -1;
    find_switched(r, d, true);
    if (!out->passes)
        return 0;
    put_reversed_first(d, passing, out);
    if (!out->pairs || !is_reversed(d, passing, &out->pair[0]))
        find_flipped(r, d, passing);
    put_reversed_first(d, passing, out);
    if (out->pairs == REDUCE_PAIRS || find_absent(r, d, passing) || out->pairs)
        return 0;
    do { /* another switch may do */
        before = end;
        if (find_passing(r, &end, err))
            return -1;
    } while (end < before && !find_absent(r, d, passing));
    return 0;
}

/* ---- where threads stood ---- */

/* A thread that waits by itself, for a new one to begin for example, was not taken off. */
static void add_pause(struct reduced *out, const struct agenda_done *d, struct gap g,
                      uint32_t first, uint32_t next)
{
    uint32_t event = g.from;
    while (event > 0 && !(d->trail[event - 1].thread == g.thread && d->trail[event - 1].pc))
        event--;
    out->pause[out->pauses++] = (struct reduce_pause){
        .thread = g.thread,
        .next = next,
        .trail = first,
        .event = event ? event - 1 : REDUCE_NO_EVENT,
    };
}

static void find_pauses(struct reduction *r, const struct agenda_done *d)
{
    struct reduced *out = r->out;
    for (uint32_t i = r->count; i > 0 && out->pauses < REDUCE_PAUSES; i--) {
        const struct gap g = gap_of(d, &r->list[i - 1]);
        uint32_t first = g.from;
        while (first < g.to && !d->trail[first].pc) /* a system call */
            first++;
        if (first < g.to && r->list[i - 1].event)
            add_pause(out, d, g, first, r->list[i - 1].next);
    }
}

/* The run with the switches that are left, to be looked at and kept. */
static int run_reduced(struct reduction *r, struct err *err)
{
    struct crew_outcome o;
    for (unsigned i = 0; i < TRIES; i++) {
        r->out->runs++;
        if (run_script(r->job, r->list, r->count, true, &o, err))
            return -1;
        if (is_same(r->job, &o))
            return keep(r, &o, err);
        drop_pinball(r->job, &o);
    }
    r->out->failed = true;
    return 0;
}

static int find_pairs(struct reduction *r, struct err *err)
{
    struct agenda_done *d = malloc(sizeof *d); /* other runs follow */
    if (!d)
        return err_set(err, "no memory");
    int bad = run_reduced(r, err);
    if (bad || r->out->failed) {
        free(d);
        return bad;
    }
    *d = crew_agenda(r->job->crew, 0)->done;
    d->trails = d->trails < AGENDA_SWITCHES ? d->trails : AGENDA_SWITCHES;
    bad = r->count ? find_decisive(r, d, err) : find_added(r, d, err);
    if (!r->out->pairs) /* locks, if there is nothing else */
        find_switched(r, d, false);
    find_pauses(r, d);
    if (!bad && r->out->dir[0])
        tell_pairs(r->out->dir, d, r->out);
    free(d);
    return bad ? -1 : 0;
}

int reduce_run(const struct reduce_job *job, struct reduced *out, struct err *err)
{
    const uint32_t most =
        job->done->switches < AGENDA_SWITCHES ? (uint32_t)job->done->switches : AGENDA_SWITCHES;
    struct reduction r = {.job = job, .out = out, .count = most, .begin = now_s()};
    *out = (struct reduced){.before = most};
    r.list = malloc((most + 1) * sizeof *r.list);
    if (!r.list)
        return err_set(err, "no memory");
    memcpy(r.list, job->done->log, most * sizeof *r.list);
    int bad = reduce(&r, err);
    if (!bad && !out->failed)
        bad = find_pairs(&r, err);
    out->after = r.count;
    out->list = r.list;
    return bad;
}

int reduce_passing(const struct reduce_job *job, const struct reduced *r, struct crew_outcome *out,
                   struct err *err)
{
    struct agenda_switch *list = malloc((r->after + 1) * sizeof *list);
    uint32_t n = 0;
    if (!list)
        return err_set(err, "no memory");
    for (uint32_t i = 0; i < r->after; i++)
        if (i != r->moved)
            list[n++] = r->list[i];
    if (r->adds)
        list[n++] = r->added;
    int bad = run_script(job, list, n, true, out, err);
    free(list);
    return bad;
}
