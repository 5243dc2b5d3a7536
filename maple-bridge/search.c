/* search.c - runs a program under one schedule after the other. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "maple-bridge/search.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "maple-bridge/portfolio.h"
#include "pinball/writer.h"

#define SECOND_NS UINT64_C(1000000000)

enum { LONG_TIMES = 10, LONG_LEAST_S = 5, KNOWN = 64, PROFILE_AGAIN = 4 };

/* A run of the batch. */
struct trial {
    struct recipe recipe;
    int strategy;
    bool started, over;
    struct crew_outcome outcome;
    char dir[PATH_MAX]; /* of what it left; empty: nothing */
    struct agenda_done *done;
};

struct search {
    const struct search_options *o;
    struct search_result *out;
    struct crew *crew;
    struct scout profile;
    struct portfolio *portfolio;
    uint64_t begin, runs;
    uint64_t used[SEARCH_BATCH * 4]; /* CPU time of the first runs */
    size_t useds;
    struct {
        enum crew_kind kind;
        int status;
        char text[64];
    } known[KNOWN]; /* failures so far */
    size_t knowns;
    struct trial trial[SEARCH_BATCH];
    uint64_t batches;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How much CPU time is too much: ten times the median, but five seconds at least. */
static uint64_t limit(struct search *s)
{
    uint64_t sorted[SEARCH_BATCH * 4];
    memcpy(sorted, s->used, sizeof s->used[0] * s->useds);
    qsort(sorted, s->useds, sizeof sorted[0], by_size);
    uint64_t most = s->useds ? LONG_TIMES * sorted[s->useds / 2] : 60 * SECOND_NS;
    return most < LONG_LEAST_S * SECOND_NS ? LONG_LEAST_S * SECOND_NS : most;
}

static bool is_over(const struct search *s)
{
    const struct search_options *o = s->o;
    return (o->stop && *o->stop) || (o->most_runs && s->runs >= o->most_runs) ||
           (o->most_ns && now_ns() - s->begin >= o->most_ns) ||
           (s->out->failures && !o->all && !o->recipe);
}

/* ---- failures ---- */

/* The same failure: its kind, its status, and the first words that it said. */
static bool is_known(struct search *s, const struct crew_outcome *c)
{
    char text[sizeof s->known[0].text];
    snprintf(text, sizeof text, "%.60s", c->text);
    for (size_t i = 0; i < s->knowns; i++)
        if (s->known[i].kind == c->kind && s->known[i].status == c->wait_status &&
            strcmp(s->known[i].text, text) == 0)
            return true;
    if (s->knowns == KNOWN)
        return true;
    s->known[s->knowns].kind = c->kind;
    s->known[s->knowns].status = c->wait_status;
    memcpy(s->known[s->knowns++].text, text, sizeof text);
    return false;
}

static void final_dir(const struct search *s, char out[PATH_MAX])
{
    if (s->out->failures <= 1)
        snprintf(out, PATH_MAX, "%s", s->o->dir);
    else
        snprintf(out, PATH_MAX, "%s.%llu", s->o->dir, (unsigned long long)s->out->failures);
}

static int tell_found(struct search *s, uint64_t run, struct trial *t, struct err *err)
{
    char dir[PATH_MAX];
    s->out->failures++;
    final_dir(s, dir);
    if (rename(t->dir, dir))
        return err_set_code(err, errno, "%s: %m", dir);
    const struct search_found found = {.run = run,
                                       .dir = dir,
                                       .strategy =
                                           t->strategy < 0 ? NULL : portfolio_name(t->strategy),
                                       .recipe = t->recipe,
                                       .outcome = &t->outcome,
                                       .events = t->done->events,
                                       .switches = t->done->switches,
                                       .hash = t->done->hash};
    t->dir[0] = '\0';
    if (s->o->found)
        s->o->found(s->o->arg, &found);
    return 0;
}

/* ---- why ---- */

static int keep_as(struct search *s, const struct reduce_job *job, const struct reduced *r,
                   uint32_t leave_out, const char *name, struct err *err)
{
    struct crew_outcome out;
    char from[PATH_MAX], to[PATH_MAX + 16];
    if (reduce_keep(job, r, leave_out, &out, err))
        return -1;
    crew_place(s->crew, 0, from);
    snprintf(to, sizeof to, "%s.%s", s->o->dir, name);
    return rename(from, to) ? err_set_code(err, errno, "%s: %m", to) : 0;
}

static uint64_t limit(struct search *s);

static int explain(struct search *s, const struct trial *t, struct err *err)
{
    const struct reduce_job job = {.crew = s->crew,
                                   .scout = &s->profile,
                                   .failure = &t->outcome,
                                   .done = t->done,
                                   .cpu_ns = limit(s),
                                   .stop = s->o->stop};
    struct reduced r;
    int bad = reduce_run(&job, &r, err);
    if (!bad && s->o->pair && !r.failed)
        bad = keep_as(s, &job, &r, UINT32_MAX, "reduced", err) ||
              keep_as(s, &job, &r, r.moved, "passing", err);
    if (!bad && s->o->reduced)
        s->o->reduced(s->o->arg, &r);
    free(r.list);
    return bad;
}

/* ---- batches ---- */

/* The worker's name for it is used again. */
static int take_pinball(struct search *s, struct trial *t, struct err *err)
{
    char from[PATH_MAX];
    if (!t->outcome.kept)
        return 0;
    crew_place(s->crew, t->outcome.worker, from);
    snprintf(t->dir, sizeof t->dir, "%.4000s.run%llu", from, (unsigned long long)t->outcome.run);
    if (rename(from, t->dir) == 0)
        return 0;
    t->dir[0] = '\0';
    return err_set_code(err, errno, "%s: %m", from);
}

static int start(struct search *s, int worker, size_t i, bool plain, struct err *err)
{
    struct trial *t = &s->trial[i];
    struct agenda *agenda = crew_agenda(s->crew, worker);
    const struct crew_job job = {.run = s->runs + i + 1,
                                 .plain = plain,
                                 .keep = plain || (i == 0 && s->batches < PROFILE_AGAIN),
                                 .cpu_ns = limit(s)};
    recipe_tell(&t->recipe, agenda);
    scout_tell(&s->profile, agenda);
    if (s->portfolio)
        portfolio_tell(s->portfolio, agenda);
    if (t->recipe.length)
        agenda->length = t->recipe.length;
    t->started = true;
    return crew_start(s->crew, worker, &job, err);
}

static int take(struct search *s, struct err *err)
{
    struct crew_outcome out;
    int got = crew_wait(s->crew, &out, err);
    if (got <= 0)
        return got;
    if (out.run <= s->runs || out.run > s->runs + SEARCH_BATCH)
        return err_set(err, "a worker is confused");
    struct trial *t = &s->trial[out.run - s->runs - 1];
    t->outcome = out;
    t->over = true;
    memcpy(t->done, &crew_agenda(s->crew, out.worker)->done,
           out.kind == CREW_PASSED ? offsetof(struct agenda_done, log) : sizeof *t->done);
    return take_pinball(s, t, err);
}

static bool has_failed(const struct trial *t)
{
    return t->over && !t->outcome.failed && t->outcome.kind != CREW_PASSED;
}

/* Runs the batch. A run behind one that failed is not begun, if one failure is enough. */
static int run_batch(struct search *s, size_t count, bool plain, struct err *err)
{
    size_t next = 0, over = 0, begun = 0;
    bool enough = false;
    while (over < begun || (next < count && !enough)) {
        for (int w = 0; w < crew_size(s->crew) && next < count && !enough; w++)
            if (crew_is_free(s->crew, w)) {
                if (start(s, w, next++, plain, err))
                    return -1;
                begun++;
            }
        const int got = take(s, err);
        if (got < 0)
            return -1;
        if (s->o->stop && *s->o->stop)
            return 0;
        over = 0;
        for (size_t i = 0; i < next; i++) {
            over += s->trial[i].over;
            enough |= has_failed(&s->trial[i]) && !s->o->all && !s->o->recipe;
            enough |= s->trial[i].outcome.failed;
        }
    }
    return 0;
}

static void learn(struct search *s, struct trial *t)
{
    if (s->useds < sizeof s->used / sizeof s->used[0] && t->outcome.kind != CREW_LONG)
        s->used[s->useds++] = t->outcome.used_ns;
    if (s->portfolio && t->strategy >= 0)
        portfolio_learn(s->portfolio, t->strategy, &t->recipe, t->done);
    const uint64_t hash = t->done->hash;
    if (s->o->recipe && s->runs > 2 && hash != s->out->hash)
        s->out->same = false;
    s->out->hash = hash;
}

/* In the order of their numbers. */
static int settle(struct search *s, size_t count, struct err *err)
{
    int bad = 0;
    for (size_t i = 0; i < count && !bad; i++) {
        struct trial *t = &s->trial[i];
        if (!t->over || (s->out->failures && !s->o->all && !s->o->recipe))
            continue;
        s->runs++;
        s->out->runs = s->runs;
        if (t->outcome.failed) {
            err->code = t->outcome.code;
            return err_set_code(err, t->outcome.code, "%s", t->outcome.text);
        }
        learn(s, t);
        if (has_failed(t) && !is_known(s, &t->outcome) && t->dir[0])
            bad = tell_found(s, s->runs, t, err) ||
                  (s->o->report && t->strategy >= 0 && explain(s, t, err));
    }
    return bad ? -1 : 0;
}

/* With the trace that a profile has left there. */
static void remove_pinball(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    writer_remove(dir);
}

static void clear(struct search *s)
{
    for (size_t i = 0; i < SEARCH_BATCH; i++) {
        struct trial *t = &s->trial[i];
        if (t->dir[0])
            remove_pinball(t->dir);
        struct agenda_done *done = t->done;
        *t = (struct trial){.strategy = -1, .done = done};
    }
}

/* ---- the search ---- */

/* A recording of the batch that passed: code that the profile has not seen. */
static int profile_more(struct search *s, struct err *err)
{
    struct trial *t = &s->trial[0];
    const size_t sites = s->profile.sites;
    if (!t->dir[0])
        return 0;
    if (scout_add(&s->profile, t->dir, s->o->libraries, err))
        return -1;
    if (s->profile.sites != sites && s->portfolio)
        portfolio_renew(s->portfolio);
    s->out->sites = (uint32_t)s->profile.sites;
    s->out->threads = s->profile.threads;
    return 0;
}

static void show(const struct search *s)
{
    struct search_state st = {.runs = s->runs,
                              .failures = s->out->failures,
                              .ns = now_ns() - s->begin,
                              .pairs = s->portfolio ? portfolio_pairs(s->portfolio) : 0};
    if (s->portfolio)
        st.orders = portfolio_orders(s->portfolio, &st.exposed);
    if (s->o->progress)
        s->o->progress(s->o->arg, &st);
}

static int first_run(struct search *s, struct err *err)
{
    if (run_batch(s, 1, true, err) || settle(s, 1, err))
        return -1;
    if (s->out->failures && !s->o->recipe)
        return 0;
    return profile_more(s, err);
}

static int next_batch(struct search *s, struct err *err)
{
    size_t count = SEARCH_BATCH;
    clear(s);
    if (s->o->most_runs && s->o->most_runs - s->runs < count)
        count = s->o->most_runs - s->runs;
    for (size_t i = 0; i < count; i++)
        if (s->o->recipe)
            s->trial[i].recipe = *s->o->recipe;
        else
            portfolio_next(s->portfolio, &s->trial[i].recipe, &s->trial[i].strategy);
    if (run_batch(s, count, false, err) || settle(s, count, err))
        return -1;
    if (s->batches < PROFILE_AGAIN && !s->o->recipe && !s->out->failures && !is_over(s) &&
        profile_more(s, err))
        return -1;
    s->batches++;
    show(s);
    return 0;
}

static int search(struct search *s, struct err *err)
{
    if (first_run(s, err))
        return -1;
    if (is_over(s))
        return 0;
    s->portfolio = portfolio_new(&s->profile, s->o->seed, s->o->strategy, err);
    if (!s->portfolio)
        return -1;
    while (!is_over(s))
        if (next_batch(s, err))
            return -1;
    return 0;
}

int search_run(const struct search_options *o, struct search_result *out, struct err *err)
{
    struct search s = {.o = o, .out = out, .begin = now_ns()};
    int bad = 0;
    *out = (struct search_result){.same = true};
    for (size_t i = 0; i < SEARCH_BATCH; i++)
        if (!(s.trial[i].done = calloc(1, sizeof *s.trial[i].done)))
            bad = err_set(err, "no memory");
    clear(&s);
    if (!bad)
        bad = (s.crew = crew_new(&o->crew, o->workers, err)) ? search(&s, err) : -1;
    out->ns = now_ns() - s.begin;
    clear(&s);
    for (size_t i = 0; i < SEARCH_BATCH; i++)
        free(s.trial[i].done);
    crew_free(s.crew);
    portfolio_free(s.portfolio);
    scout_deinit(&s.profile);
    return bad;
}
