/* study.c - a pinball, its trace, its debug information and a slicer. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* asprintf */
#include "slicer/study.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/pinball.h"
#include "pinball/summary.h"
#include "slicer/race.h"
#include "slicer/study_private.h"

/* What the user's cache may hold: 20 GB, and nothing that was not used for 30 days. */
static const uint64_t CACHE_BYTES = 20ull << 30, CACHE_SECONDS = 30ull * 24 * 3600;

/* ---- where the trace is ---- */

static char *temporary_file(struct study *s)
{
    const char *tmp = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/drdebug.%d.trace", tmp && *tmp ? tmp : "/tmp", (int)getpid()) < 0)
        return NULL;
    s->own->temporary = true;
    return path;
}

static char *default_place(struct study *s, const struct study_options *o, const char *about)
{
    const char *dir = pinball_path(s->pinball);
    char *path = NULL;
    if (!pinball_packed(s->pinball) && !o->from && !o->to) {
        if (asprintf(&path, "%s/trace", dir) < 0)
            return NULL;
        if (access(path, R_OK) == 0 || access(dir, W_OK) == 0)
            return path;
        free(path);
    }
    path = study_cache_place(about);
    s->own->cached = path != NULL;
    return path ? path : temporary_file(s);
}

/* ---- the trace ---- */

struct told {
    const struct study_options *options;
    uint64_t total;
};

static void tell(void *arg, uint64_t insns)
{
    const struct told *t = arg;
    if (t->options->progress)
        t->options->progress(t->options->arg, insns, t->total);
}

static int make_trace(struct study *s, const struct study_options *o, struct err *err)
{
    const char *known = pinball_note_get(s->pinball, "instructions");
    struct told told = {.options = o};
    struct collect_options co = {.from = o->from, .to = o->to, .progress = tell, .arg = &told};
    if (known && !o->from && !o->to && text_number(known, &told.total))
        told.total = 0;
    s->collected = true;
    return collect(s->pinball, s->trace_path, &co, &s->result, err);
}

/* A trace that cannot be used is made again where it is ours to make, not where the user named it.
 */
static int open_trace(struct study *s, const struct study_options *o, const char *about,
                      struct err *err)
{
    if (!o->fresh) {
        s->trace = trace_open(s->trace_path, err);
        if (!s->trace && o->trace && err->code == ENOENT)
            return err_set(err, "%s: there is no such trace; `drdebug trace -o` makes it",
                           s->trace_path);
        if (!s->trace && o->trace)
            return -1;
    }
    if (s->trace && strcmp(trace_about(s->trace), about) != 0) {
        trace_close(s->trace);
        s->trace = NULL;
        if (o->trace)
            return err_set(err, "%s: not a trace of %s%s; without it, one is collected",
                           s->trace_path, pinball_path(s->pinball),
                           o->from || o->to ? ", or of another window" : "");
    }
    if (s->trace)
        return 0;
    if (o->kept)
        return err_set_code(err, ENOENT, "there is no trace of %s", pinball_path(s->pinball));
    if (make_trace(s, o, err))
        return -1;
    if (s->own->cached)
        study_cache_tidy(s->trace_path, &(struct study_cache_limits){CACHE_BYTES, CACHE_SECONDS});
    s->trace = trace_open(s->trace_path, err);
    return s->trace ? 0 : -1;
}

struct study *study_collect(const char *path, const struct study_options *o, struct err *err)
{
    char about[COLLECT_ABOUT];
    struct study *s = calloc(1, sizeof *s);
    if (!s || !(s->own = calloc(1, sizeof *s->own))) {
        free(s);
        err_set(err, "no memory");
        return NULL;
    }
    s->own->held = -1;
    s->has_to = o->to != NULL;
    s->to = o->to ? *o->to : s->to;
    s->pinball = pinball_open(path, err);
    if (!s->pinball || collect_about(s->pinball, o->from, o->to, about, err))
        goto fail;
    s->trace_path = o->trace ? strdup(o->trace) : default_place(s, o, about);
    if (!s->trace_path) {
        err_set(err, "no memory");
        goto fail;
    }
    if (open_trace(s, o, about, err))
        goto fail;
    if (s->own->cached)
        s->own->held = study_cache_hold(s->trace_path);
    return s;
fail:
    study_close(s);
    return NULL;
}

static bool no_return(void *ctx, gaddr callee)
{
    return source_is_noreturn(ctx, callee);
}

struct study *study_open(const char *path, const struct study_options *o, struct err *err)
{
    struct study *s = study_collect(path, o, err);
    if (!s)
        return NULL;
    if (study_source_open(s, err) || !(s->slicer = slicer_new(s->trace, s->pinball, err))) {
        study_close(s);
        return NULL;
    }
    slicer_set_source(s->slicer, s->source);
    slicer_no_return(s->slicer, no_return, s->source);
    return s;
}

void study_close(struct study *s)
{
    if (!s)
        return;
    race_free(s->own->race);
    slicer_free(s->slicer);
    study_source_close(s);
    trace_close(s->trace);
    trace_chunk_deinit(&s->own->chunk);
    if (s->own->held >= 0)
        close(s->own->held);
    if (s->own->temporary)
        unlink(s->trace_path);
    pinball_close(s->pinball);
    free(s->trace_path);
    free(s->own);
    free(s);
}

/* ---- questions ---- */

int study_insn(struct study *s, uint64_t number, struct study_insn *out, struct err *err)
{
    struct trace_chunk *c = &s->own->chunk;
    uint32_t lo = 0, hi = trace_chunks(s->trace);
    if (number >= trace_insns(s->trace))
        return err_set(err, "the trace has no instruction %llu", (unsigned long long)number);
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (trace_chunk_first(s->trace, mid) <= number)
            lo = mid;
        else
            hi = mid;
    }
    if ((!s->own->chunk_read || c->number != lo) && trace_read(s->trace, lo, c, err))
        return -1;
    s->own->chunk_read = true;
    uint32_t i = 0, end = c->steps;
    while (end - i > 1) {
        uint32_t mid = (i + end) / 2;
        if (c->first_insn + c->step[mid].insn_at <= number)
            i = mid;
        else
            end = mid;
    }
    *out = (struct study_insn){.thread = c->step[i].thread,
                               .block = code_block(trace_code(s->trace), c->step[i].block),
                               .index = (uint32_t)(number - c->first_insn - c->step[i].insn_at)};
    return 0;
}

int study_replay_on(struct study *s, struct replay *r, uint64_t insn, const struct position *at,
                    struct err *err)
{
    char token[POSITION_TEXT];
    struct replay_stop stop;
    if (insn >= trace_insns(s->trace)) /* a call that a thread waits in is met before others run */
        return replay_run(r, s->has_to ? &s->to : NULL, &stop, err);
    if (replay_run(r, at, &stop, err))
        return -1;
    if (stop.why == REPLAY_AT_POSITION)
        return 0;
    position_format(at, token);
    return err_set(err, "the replay did not come to %s", token);
}

struct replay *study_replay(struct study *s, uint64_t insn, const struct position *at,
                            struct err *err)
{
    struct replay_options o = {.verify = false};
    struct replay *r = replay_new(s->pinball, &o, err);
    if (r && !study_replay_on(s, r, insn, at, err))
        return r;
    replay_free(r);
    return NULL;
}

int study_registers(struct study *s, const struct position *at, struct replay_registers *out,
                    struct err *err)
{
    struct replay *r = study_replay(s, 0, at, err);
    int bad = r ? replay_registers(r, at->thread, out, err) : -1;
    replay_free(r);
    return bad;
}

uint32_t study_end(const struct study *s, int *status, struct position *at)
{
    const char *reason = pinball_end_get(s->pinball, "reason");
    const char *text = pinball_end_get(s->pinball, "status");
    const char *token = pinball_end_get(s->pinball, "position");
    struct err err;
    *status = text ? (int)strtol(text, NULL, 10) : 0;
    if (!token || position_parse(token, at, &err))
        *at = (struct position){.thread = 1};
    return reason ? summary_reason(reason) : 0;
}
