/* study.c - a pinball, its trace, its debug information and a slicer. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* asprintf */
#include "study/study.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/search.h"
#include "pinball/beneath.h"
#include "pinball/ends.h"
#include "pinball/follow.h"
#include "pinball/pinball.h"
#include "replayer/timeline.h"
#include "study/broker.h"
#include "study/kept.h"
#include "study/past.h"
#include "study/study_private.h"
#include "trace/scan_pack.h"

/* What the user's cache may hold: 20 GB, and nothing that was not used for 30 days. */
static const uint64_t CACHE_BYTES = 20ull << 30, CACHE_SECONDS = 30ull * 24 * 3600;

/* ---- where the trace is ---- */

/* Where it goes; "": nowhere, it is a file without a name. NULL: no memory. */
static char *default_place(struct study *s, const struct study_options *o, const char *about)
{
    char *path = NULL;
    /* A stranger's trace would be believed: ours of it goes to the user's cache. */
    if (!pinball_packed(s->pinball) && pinball_is_own(s->pinball) && !o->from && !o->to &&
        (pinball_has(s->pinball, "trace") || beneath_is_writable(pinball_path(s->pinball))))
        return asprintf(&path, "%s/trace", pinball_path(s->pinball)) < 0 ? NULL : path;
    path = study_cache_place(about);
    s->own->cached = path != NULL;
    return path ? path : strdup("");
}

/* The user's own may be a link. */
static char *named_place(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
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

static int make_trace(struct study *s, struct trace *old, const struct study_options *o,
                      struct err *err)
{
    const char *known = pinball_note_get(s->pinball, "instructions");
    struct told told = {.options = o};
    struct collect_options co = {.from = o->from,
                                 .to = o->to,
                                 .unnamed = s->own->unnamed >= 0,
                                 .fd = s->own->unnamed,
                                 .progress = tell,
                                 .arg = &told};
    if (known && !o->from && !o->to && text_number(known, &told.total))
        told.total = 0;
    s->collected = true;
    return collect_more(s->pinball, old, s->trace_path, &co, &s->result, err);
}

/* A trace that cannot be used is made again where it is ours to make, not where the user named it.
 */
static int open_trace(struct study *s, const struct study_options *o, const char *about,
                      struct err *err)
{
    if (!s->trace_path[0] && (s->own->unnamed = beneath_temporary()) < 0)
        return err_set_code(err, errno, "a temporary trace: %s", strerror(errno));
    if (!o->fresh && s->trace_path[0]) {
        s->trace = trace_open(s->trace_path, err);
        if (!s->trace && o->trace && err->code == ENOENT)
            return err_set(err, "%s: there is no such trace; `drdebug trace -o` makes it",
                           s->trace_path);
        if (!s->trace && o->trace)
            return err->code == TRACE_OTHER_VERSION
                       ? err_set(err, "%s; `drdebug trace -o` makes it again", err->msg)
                       : -1;
    }
    struct trace *old = NULL; /* of the recording as it was before it grew */
    if (s->trace && strcmp(trace_about(s->trace), about) != 0) {
        if (!o->trace && !o->from && !o->to &&
            collect_is_earlier(s->pinball, trace_about(s->trace)))
            old = s->trace;
        else
            trace_close(s->trace);
        s->trace = NULL;
        if (o->trace)
            return err_set(err, "%s: not a trace of %s%s; without it, one is collected",
                           s->trace_path, pinball_path(s->pinball),
                           o->from || o->to ? ", or of another window" : "");
    }
    if (s->trace)
        return 0;
    if (o->kept) {
        trace_close(old);
        return err_set_code(err, ENOENT, "there is no trace of %s", pinball_path(s->pinball));
    }
    const int bad = make_trace(s, old, o, err);
    trace_close(old);
    if (bad)
        return -1;
    if (s->own->cached)
        study_cache_tidy(s->trace_path, &(struct study_cache_limits){CACHE_BYTES, CACHE_SECONDS});
    s->trace = s->own->unnamed >= 0 ? trace_open_unnamed(s->own->unnamed, err)
                                    : trace_open(s->trace_path, err);
    return s->trace ? 0 : -1;
}

/* One that is being recorded is looked at as far as it is written. */
static struct pinball *open_pinball(const char *path, struct err *err)
{
    struct pinball *p = pinball_open(path, err);
    return p || err->code != EBUSY ? p : follow_open(path, err);
}

struct study *study_collect(const char *path, const struct study_options *o, struct err *err)
{
    char about[COLLECT_ABOUT];
    struct stat st;
    if (memory_bound(err))
        return NULL;
    struct study *s = calloc(1, sizeof *s);
    if (!s || !(s->own = calloc(1, sizeof *s->own))) {
        free(s);
        err_set(err, "no memory");
        return NULL;
    }
    s->own->held = s->own->unnamed = -1;
    s->own->places = o->places;
    s->own->modules = o->modules;
    s->own->has_from = o->from != NULL;
    s->own->from = o->from ? *o->from : s->own->from;
    s->has_to = o->to != NULL;
    s->to = o->to ? *o->to : s->to;
    s->pinball = open_pinball(path, err);
    if (s->pinball && !pinball_packed(s->pinball) && pinball_stat(s->pinball, &st) == 0)
        s->own->made_s = st.st_mtime;
    if (s->pinball && o->untraced)
        return s;
    if (!s->pinball || collect_about(s->pinball, o->from, o->to, about, err))
        goto fail;
    s->trace_path = o->trace ? named_place(o->trace) : default_place(s, o, about);
    s->own->keeps = !o->trace && s->trace_path && s->trace_path[0];
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

/* What a scan depends on besides the trace: how many saves count, and the debug information that
 * names them. */
static struct kept_fact scan_fact(struct study *s, unsigned max_save)
{
    return (struct kept_fact){"scan", SCAN_VERSION,
                              hash_fold(source_identity(s->source), max_save)};
}

static void *get_scan(void *arg, unsigned max_save, size_t *bytes)
{
    struct kept_fact fact = scan_fact(arg, max_save);
    return kept_get(arg, &fact, bytes);
}

static void put_scan(void *arg, unsigned max_save, const void *data, size_t bytes)
{
    struct kept_fact fact = scan_fact(arg, max_save);
    kept_put(arg, &fact, data, bytes);
}

/* Its first thread is not the recording's first one, though nothing was left out. */
bool study_replaced(const struct study *s)
{
    return s->trace && !s->own->has_from && !pinball_is_part(s->pinball) &&
           trace_threads(s->trace) && trace_thread(s->trace, 0) != 1;
}

int study_analyse(struct study *s, struct err *err)
{
    const struct trace_index_store store = {s, get_scan, put_scan};
    if (!s->trace)
        return s->own->modules ? study_source_open(s, err) : 0;
    if (study_source_open(s, err) || !(s->index = trace_index_new(s->trace, s->pinball, err)))
        return -1;
    trace_index_set_source(s->index, s->source);
    trace_index_no_return(s->index, no_return, s->source);
    trace_index_set_store(s->index, &store);
    return 0;
}

struct study *study_open(const char *path, const struct study_options *o, struct err *err)
{
    struct study *s = study_collect(path, o, err);
    if (!s || !study_analyse(s, err))
        return s;
    study_close(s);
    return NULL;
}

void study_close(struct study *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < STUDY_FACTS; i++)
        if (s->fact[i].made)
            s->fact[i].free(s->fact[i].made);
    past_free(s->own->end);
    timeline_free(s->own->timeline);
    trace_index_free(s->index);
    study_source_close(s);
    trace_close(s->trace);
    trace_chunk_deinit(&s->own->chunk);
    if (s->own->held >= 0)
        close(s->own->held);
    if (s->own->unnamed >= 0)
        close(s->own->unnamed);
    pinball_close(s->pinball);
    broker_free(s->own->broker);
    free(s->trace_path);
    free(s->own);
    free(s);
}

/* ---- questions ---- */

int study_insn(struct study *s, uint64_t number, struct study_insn *out, struct err *err)
{
    struct trace_chunk *c = &s->own->chunk;
    if (number >= trace_insns(s->trace))
        return err_set(err, "the trace has no instruction %llu", (unsigned long long)number);
    /* The last chunk, and in it the last step, that does not begin behind it. */
    const uint32_t chunk = (uint32_t)search_first(
        trace_chunks(s->trace) - 1, n, trace_chunk_first(s->trace, (uint32_t)n + 1) <= number);
    if ((!s->own->chunk_read || c->number != chunk) && trace_read(s->trace, chunk, c, err))
        return -1;
    s->own->chunk_read = true;
    const size_t i =
        search_first(c->steps - 1, n, c->first_insn + c->step[n + 1].insn_at <= number);
    *out = (struct study_insn){.thread = c->step[i].thread,
                               .block = code_block(trace_code(s->trace), c->step[i].block),
                               .index = (uint32_t)(number - c->first_insn - c->step[i].insn_at)};
    return 0;
}

struct past *study_past(struct study *s, uint64_t insn, const struct position *at, struct err *err)
{
    struct past *p = past_new(s, err);
    if (p && !past_go(p, insn, at, err))
        return p;
    past_free(p);
    return NULL;
}

struct past *study_at_end(struct study *s, struct err *err)
{
    if (!s->own->end)
        s->own->end = study_past(s, UINT64_MAX, NULL, err);
    return s->own->end;
}

int study_registers(struct study *s, const struct position *at, struct program_registers *out,
                    struct err *err)
{
    struct past *p = study_past(s, 0, at, err);
    int bad = p ? past_registers(p, at->thread, out, err) : -1;
    past_free(p);
    return bad;
}

FILE *study_create(struct study *s, const char *path, struct err *err)
{
    return broker_create(s->own->broker, path, err);
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
    return reason ? ends_reason(reason) : 0;
}
