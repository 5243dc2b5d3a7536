/* search.c - runs a program under one schedule after the other. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "maple-bridge/search.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "maple-bridge/memo.h"
#include "pinball/writer.h"

#define SECOND_NS UINT64_C(1000000000)

enum { LONG_TIMES = 10, LONG_LEAST_S = 5, PROFILE_AGAIN = 4, PROFILE_QUIET = 3 };

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
    struct portfolio *part; /* a job's: what its runs show; NULL: it is none */
    struct memo *memo;
    struct memo_state state;
    char *text;       /* of the memo, as the last batch left it */
    uint64_t written; /* when that was last brought to the disk */
    uint64_t begin;
    uint64_t number;                 /* of the last run before the batch */
    uint64_t used[SEARCH_BATCH * 4]; /* CPU time of the first runs */
    size_t useds;
    unsigned quiet;              /* profiled runs in sequence that showed nothing new */
    bool exhausted;              /* there is no recipe left */
    struct recipe fixed;         /* search_options.iroot */
    struct failure failure;      /* that was found last */
    const struct recipe *recipe; /* this one alone; NULL: the portfolio's */
    struct trial trial[SEARCH_BATCH];
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
    return s->exhausted || (o->stop && *o->stop) ||
           (o->most_runs && s->out->runs >= o->most_runs) ||
           (o->most_ns && now_ns() - s->begin >= o->most_ns) ||
           (s->out->failures && !o->all && !s->recipe);
}

/* ---- failures ---- */

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
    failures_sign(t->dir, &t->outcome, run, &s->failure);
    if (!failures_add(&s->state.failures, &s->failure) && (s->o->all || s->recipe))
        return 0;
    s->out->failures++;
    final_dir(s, dir);
    if (rename(t->dir, dir))
        return err_set_code(err, errno, "%s: %m", dir);
    const struct search_found found = {
        .run = run,
        .dir = dir,
        .strategy = t->strategy < 0 ? NULL : portfolio_name(t->strategy),
        .recipe = t->recipe,
        .outcome = &t->outcome,
        .deadlock = t->outcome.kind == CREW_CIRCLE || t->outcome.kind == CREW_STUCK,
        .events = t->done->events,
        .switches = t->done->switches,
        .hash = t->done->hash};
    t->dir[0] = '\0';
    if (s->o->found)
        s->o->found(s->o->arg, &found);
    return 0;
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

/* ---- why ---- */

/* Without the switch that decides. */
static int keep_passing(struct search *s, const struct reduce_job *job, const struct reduced *r,
                        struct err *err)
{
    struct crew_outcome out;
    char from[PATH_MAX], to[PATH_MAX + 16];
    snprintf(to, sizeof to, "%s.reduced", s->o->dir);
    if (rename(r->dir, to))
        return err_set_code(err, errno, "%s: %m", to);
    if (reduce_passing(job, r, &out, err))
        return -1;
    crew_place(s->crew, 0, from);
    snprintf(to, sizeof to, "%s.passing", s->o->dir);
    return rename(from, to) ? err_set_code(err, errno, "%s: %m", to) : 0;
}

static int explain(struct search *s, const struct trial *t, struct err *err)
{
    const struct reduce_job job = {.crew = s->crew,
                                   .scout = &s->profile,
                                   .failure = &s->failure,
                                   .done = t->done,
                                   .cpu_ns = limit(s),
                                   .stop = s->o->stop};
    struct reduced r;
    char dir[PATH_MAX];
    if (!s->o->report || t->strategy < 0)
        return 0;
    final_dir(s, dir);
    int bad = reduce_run(&job, &r, err);
    const bool deadlock = t->outcome.kind == CREW_CIRCLE;
    if (!bad && (r.pairs || deadlock))
        bad = retest_write(dir, &r, &s->profile, deadlock, err);
    if (!bad && s->o->reduced)
        s->o->reduced(s->o->arg, &r);
    if (!bad && s->o->pair && r.dir[0] && r.pairs && (r.passes || r.adds))
        bad = keep_passing(s, &job, &r, err);
    else if (r.dir[0])
        remove_pinball(r.dir);
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

/* Is the batch's first run traced? */
static bool is_profiled(const struct search *s)
{
    return s->o->goal == SEARCH_PROFILE ||
           (s->state.batches < PROFILE_AGAIN && !s->part && !s->recipe);
}

static int start(struct search *s, int worker, size_t i, bool plain, struct err *err)
{
    struct trial *t = &s->trial[i];
    struct agenda *agenda = crew_agenda(s->crew, worker);
    const struct crew_job job = {.run = s->number + i + 1,
                                 .plain = plain,
                                 .keep = plain || (i == 0 && is_profiled(s)),
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
    if (out.run <= s->number || out.run > s->number + SEARCH_BATCH)
        return err_set(err, "a worker is confused");
    struct trial *t = &s->trial[out.run - s->number - 1];
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
            enough |= has_failed(&s->trial[i]) && !s->o->all && !s->recipe;
            enough |= s->trial[i].outcome.failed;
        }
    }
    return 0;
}

static void learn(struct search *s, uint64_t run, struct trial *t)
{
    struct portfolio *p = s->part ? s->part : s->portfolio;
    if (s->useds < sizeof s->used / sizeof s->used[0] && t->outcome.kind != CREW_LONG)
        s->used[s->useds++] = t->outcome.used_ns;
    if (s->o->goal == SEARCH_RETEST && t->strategy < 0)
        retest_learn(&s->out->retest, &t->recipe, t->done->reached);
    if (p && t->strategy >= 0)
        portfolio_learn(p, run, t->strategy, &t->recipe, t->done);
    const uint64_t hash = t->done->hash;
    if (s->recipe && s->out->hash && hash != s->out->hash)
        s->out->same = false;
    s->out->hash = hash;
}

/* In the order of their numbers. */
static int settle(struct search *s, size_t count, struct err *err)
{
    int bad = 0;
    for (size_t i = 0; i < count && !bad; i++) {
        struct trial *t = &s->trial[i];
        const uint64_t run = s->number + i + 1;
        if (!t->over || (s->out->failures && !s->o->all && !s->recipe))
            continue;
        if (t->outcome.failed)
            return err_set_code(err, t->outcome.code, "%s", t->outcome.text);
        s->out->runs++;
        s->state.runs = run;
        learn(s, run, t);
        const uint64_t had = s->out->failures;
        if (has_failed(t) && t->dir[0])
            bad = tell_found(s, run, t, err) || (s->out->failures != had && explain(s, t, err));
    }
    return bad ? -1 : 0;
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
    const size_t sites = s->profile.sites, pairs = s->profile.pairs;
    if (!t->dir[0])
        return 0;
    if (scout_add(&s->profile, t->dir, &s->o->scout, err))
        return -1;
    s->quiet = s->profile.sites == sites && s->profile.pairs == pairs ? s->quiet + 1 : 0;
    if (!s->quiet && s->portfolio && portfolio_renew(s->portfolio, err))
        return -1;
    s->out->sites = (uint32_t)s->profile.sites;
    s->out->threads = s->profile.threads;
    retest_match(&s->out->retest, &s->profile);
    return 0;
}

static void show(const struct search *s)
{
    const struct portfolio *p = s->part ? s->part : s->portfolio;
    struct search_state st = {.runs = s->out->runs,
                              .failures = s->out->failures,
                              .ns = now_ns() - s->begin,
                              .pairs = p ? portfolio_pairs(p) : 0};
    if (p) {
        const int best = portfolio_best(s->portfolio);
        st.orders = portfolio_orders(p, &st.exposed);
        st.strategy = best < 0 ? NULL : portfolio_name(best);
    }
    if (s->o->progress)
        s->o->progress(s->o->arg, &st);
}

/* ---- the memo ---- */

/* The memo is as after the last whole batch, so a search that is stopped goes on from there. */
static int remember(struct search *s, struct err *err)
{
    if (!s->memo || s->recipe)
        return 0;
    free(s->text);
    s->text = memo_text(&s->state, &s->profile, s->part ? s->part : s->portfolio, err);
    if (!s->text)
        return -1;
    if (s->written && now_ns() - s->written < SECOND_NS)
        return 0;
    s->written = now_ns();
    return memo_write(s->memo, s->text, err);
}

/* A job's part has a file of its own beside the memo. */
static void part_path(const struct search_options *o, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%.4000s.%" PRIu32 "-of-%" PRIu32, o->memo, o->job, o->jobs);
}

static int read_memo(struct search *s, uint64_t *sum, struct err *err)
{
    const int got = memo_read(s->memo, &s->state, &s->profile, s->portfolio, sum, err);
    if (got == 0)
        return s->o->jobs || s->o->iroot || s->o->goal > SEARCH_PROFILE
                   ? err_set(err, "%s: no profile there yet: make one with --profile", s->o->memo)
                   : 0;
    if (got > 0 && s->state.part.jobs)
        return err_set(err, "%s: a part of a search: add it to its memo with --merge", s->o->memo);
    return got;
}

/* All jobs begin with the same memo, which none of them changes. */
static int begin_job(struct search *s, uint64_t sum, struct err *err)
{
    const struct search_options *o = s->o;
    char path[PATH_MAX];
    memo_close(s->memo);
    part_path(o, path);
    if (!(s->memo = memo_open(path, err)) || !(s->part = portfolio_part(s->portfolio, err)))
        return -1;
    s->state.part = (struct memo_part){
        .job = o->job, .jobs = o->jobs, .first = s->state.runs, .runs = o->most_runs, .base = sum};
    s->state.failures.count = 0;
    return 0;
}

static int begin_memo(struct search *s, struct err *err)
{
    uint64_t sum = 0;
    if (!s->o->memo)
        return 0;
    if (memo_program(s->o->crew.path, &s->state.program, err))
        return -1;
    do { /* jobs that begin at once have it one after the other */
        memo_close(s->memo);
        s->memo = memo_open(s->o->memo, err);
    } while (!s->memo && s->o->jobs && err->code == EWOULDBLOCK && usleep(1000) == 0);
    if (!s->memo)
        return -1;
    const int got = read_memo(s, &sum, err);
    if (got <= 0)
        return got;
    s->number = s->state.runs;
    return s->o->jobs ? begin_job(s, sum, err) : 0;
}

static int take_iroot(struct search *s, struct err *err)
{
    const struct idioms *all = portfolio_idioms(s->portfolio);
    s->recipe = s->o->recipe;
    if (!s->o->iroot)
        return 0;
    if (s->o->iroot > all->orders)
        return err_set(err, "iRoot %" PRIu64 ": the memo has %zu", s->o->iroot, all->orders);
    const struct idioms_order *o = &all->order[s->o->iroot - 1];
    s->fixed = (struct recipe){.tactic = AGENDA_idiom, .seed = s->o->seed, .steps = o->steps};
    memcpy(s->fixed.step, o->step, sizeof o->step);
    s->recipe = &s->fixed;
    s->state.failures.count = 0; /* the memo's are to come again; it is not written now */
    return 0;
}

static void count_orders(const struct search *s)
{
    const struct idioms *all = portfolio_idioms(s->portfolio);
    for (size_t i = 0; i < all->orders; i++)
        s->out->orders[idioms_state_of(&all->order[i])]++;
}

/* ---- the search ---- */

static int first_run(struct search *s, struct err *err)
{
    if (run_batch(s, 1, true, err) || settle(s, 1, err))
        return -1;
    s->out->hash = 0;
    s->number = 1;
    if (s->out->failures && !s->recipe)
        return 0;
    if (profile_more(s, err) ||
        (s->o->slice && scout_slice(&s->profile, s->trial[0].dir, s->o->slice, err)))
        return -1;
    return portfolio_renew(s->portfolio, err);
}

/* Recipes of the next batch; 0: there are none. */
static size_t draw_batch(struct search *s)
{
    const struct search_options *o = s->o;
    size_t count = o->goal == SEARCH_PROFILE ? 1 : SEARCH_BATCH, i = 0;
    if (s->part) { /* every so many batches are this job's */
        const struct memo_part *part = &s->state.part;
        uint64_t batch = (s->number - part->first + SEARCH_BATCH - 1) / SEARCH_BATCH;
        while (batch % part->jobs != part->job - 1)
            batch++;
        s->number = part->first + batch * SEARCH_BATCH;
        const uint64_t end = part->first + part->runs;
        count = s->number >= end ? 0 : end - s->number < count ? end - s->number : count;
    } else if (o->most_runs && o->most_runs - s->out->runs < count) {
        count = o->most_runs - s->out->runs;
    }
    for (; i < count; i++)
        if (s->recipe)
            s->trial[i].recipe = *s->recipe;
        else if (s->o->goal == SEARCH_RETEST && s->state.batches >= PROFILE_AGAIN &&
                 retest_next(&s->out->retest, s->number + i, &s->trial[i].recipe))
            continue;
        else if (s->part)
            portfolio_at(s->portfolio, s->number + i + 1, &s->trial[i].recipe,
                         &s->trial[i].strategy);
        else if (!portfolio_next(s->portfolio, &s->trial[i].recipe, &s->trial[i].strategy))
            break;
    return i;
}

static int next_batch(struct search *s, struct err *err)
{
    clear(s);
    const size_t count = draw_batch(s);
    const bool profiled = is_profiled(s);
    s->exhausted = !count;
    if (!count)
        return 0;
    if (run_batch(s, count, false, err))
        return -1;
    if (s->o->stop && *s->o->stop)
        return settle(s, count,
                      err); /* what was found is told; the memo is that of the batch before */
    if (settle(s, count, err) ||
        (profiled && (!s->out->failures || s->o->all) && profile_more(s, err)))
        return -1;
    s->number += count;
    s->state.batches++;
    s->exhausted = s->o->goal == SEARCH_PROFILE && s->quiet >= PROFILE_QUIET;
    show(s);
    return remember(s, err);
}

static int search(struct search *s, struct err *err)
{
    const char *only = s->o->goal == SEARCH_PROFILE  ? "random"
                       : s->o->goal == SEARCH_ACTIVE ? "maple"
                                                     : s->o->strategy;
    s->portfolio = portfolio_new(&s->profile, s->o->seed, only, err);
    if (!s->portfolio || begin_memo(s, err))
        return -1;
    s->out->sites = (uint32_t)s->profile.sites;
    s->out->threads = s->profile.threads;
    if (take_iroot(s, err))
        return -1;
    if (s->o->goal == SEARCH_SHOW) {
        s->o->known(s->o->arg, &s->profile, s->portfolio);
        return 0;
    }
    if (!(s->crew = crew_new(&s->o->crew, s->o->workers, err)))
        return -1;
    if (!s->profile.sites && !s->number && first_run(s, err))
        return -1;
    int bad = remember(s, err);
    while (!bad && !is_over(s))
        bad = next_batch(s, err);
    if (s->text) /* also where the disk is full now: the old one stays then */
        bad = memo_write(s->memo, s->text, err) || bad;
    return bad ? -1 : 0;
}

int search_run(const struct search_options *o, struct search_result *out, struct err *err)
{
    struct search s = {.o = o, .out = out, .begin = now_ns()};
    int bad = 0;
    *out = (struct search_result){.same = true};
    if (o->goal == SEARCH_RETEST && retest_read(o->retest, &out->retest, err))
        return -1;
    for (size_t i = 0; i < SEARCH_BATCH; i++)
        if (!(s.trial[i].done = calloc(1, sizeof *s.trial[i].done)))
            bad = err_set(err, "no memory");
    clear(&s);
    if (!bad)
        bad = search(&s, err);
    out->ns = now_ns() - s.begin;
    if (s.portfolio)
        count_orders(&s);
    clear(&s);
    for (size_t i = 0; i < SEARCH_BATCH; i++)
        free(s.trial[i].done);
    free(s.text);
    crew_free(s.crew);
    memo_close(s.memo);
    portfolio_free(s.part);
    portfolio_free(s.portfolio);
    scout_deinit(&s.profile);
    return bad;
}
