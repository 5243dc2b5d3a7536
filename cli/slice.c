/* slice.c - `drdebug slice`: say why a value is what it is. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/hang.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "cli/slice_options.h"
#include "cli/slice_print.h"
#include "pinball/pinball.h"
#include "slicer/report/saved.h"
#include "study/broker.h"

_Static_assert((int)SLICE_FORMATS <= (int)BROKER_OUTPUTS, "the broker creates all of their files");

/* ---- a slice ---- */

/* The executions that rows of the story stand for, behind what their rows say: *flows of them. */
static const struct slice_dependence **list_flows(const struct slice_print *p,
                                                  struct story_times *times, bool instances,
                                                  size_t *flows, struct err *err)
{
    size_t rows = p->story ? p->story->rows : 0;
    const struct slice_dependence **flow = malloc(sizeof *flow * (rows * (TIMES_MOST + 1) + 1));
    *flows = 0;
    for (size_t i = 0; flow && i < rows; i++)
        flow[(*flows)++] = &p->story->row[i].use;
    for (size_t i = 0; flow && instances && i < rows; i++) {
        if (times_list(p->report->flows, &p->story->row[i].use, &times[i])) {
            free(flow);
            flow = NULL;
            break;
        }
        for (size_t k = 0; k < times[i].listed; k++)
            flow[(*flows)++] = &times[i].list[k];
    }
    if (!flow)
        err_set(err, "no memory");
    return flow;
}

/* What is printed of a report. */
static int write_all(struct study *s, const struct slice_options_given *a, const struct saved *of,
                     struct slice_print *p, struct err *err)
{
    struct story_times times[STORY_ROWS] = {{0}};
    size_t rows = slice_formats_are_whole(&a->formats) ? SIZE_MAX : p->story ? 0 : a->lines;
    size_t flows;
    struct values *values = NULL;
    const struct slice_dependence **flow = list_flows(p, times, a->instances, &flows, err);
    int bad = flow ? 0 : -1;
    if (!a->values)
        rows = 0; /* a page has those of the story */
    if (!bad && (a->values || (flows && a->formats.as[SLICE_FORMAT_html])))
        bad = (values = values_new(s, p->report, &of->criterion, rows, flow, flows, err)) ? 0 : -1;
    p->values = values;
    p->times = a->instances ? times : NULL;
    if (!bad && p->only_story)
        slice_print_first(p);
    else if (!bad)
        bad = slice_formats_write(p, &a->formats, err);
    values_free(values);
    for (size_t i = 0; i < STORY_ROWS; i++)
        free(times[i].list);
    free(flow);
    return bad;
}

/* The story that was printed before the rest is known. */
struct told {
    struct report_row row[STORY_ROWS];
    size_t rows;
};

/* What kept lines from being executed, of all of a slice whose facts are known. What cannot be
 * found out does not cost the slice. */
static void find_missed(struct study *s, const struct saved *of, const struct slice *slice,
                        const struct report *r, struct findings *f, struct story *t,
                        struct missed *out)
{
    struct err err;
    bool all = !of->options.edges || of->options.edges == SLICE_ALL;
    out->rows = 0;
    if (!all || f->unsought[0] || r->bare || t->rows < 2)
        return;
    if (missed_find(s, slice, r, &of->criterion, &of->options, t, out, &err)) {
        out->rows = 0;
        snprintf(f->unsought, sizeof f->unsought, "%.250s", err.msg);
    }
}

/* `part` of the slice is shown; NULL: all of it. `first`: only the story is, and *told says what it
 * has; nothing, if there is none of the user's lines. */
static int print(struct study *s, const struct slice_options_given *a, const struct saved *of,
                 const struct slice *slice, const struct slice *part, struct told *told, bool first)
{
    struct err err = {.code = 0};
    const struct report_limits *l = &of->limits;
    bool text = !a->formats.as[SLICE_FORMAT_json];
    bool story = of->kind == SLICE_BACKWARD && !(text && (a->full || a->all)) && !told->rows;
    struct report_options o = {.nodes = a->all || a->steps || slice_formats_need_nodes(&a->formats),
                               .flows = story,
                               .fold = !a->all,
                               .slice = of->options,
                               .kind = of->kind,
                               .to = of->kind == SLICE_CHOP ? &of->target : NULL,
                               .limits = l->threads || l->files || l->modules ? l : NULL,
                               .part = part};
    struct report *r = report_new(s, slice, &of->criterion, &o, &err);
    struct findings *findings = r && story ? findings_new(s, r, &err) : NULL;
    struct story *tale = findings ? story_new(s, r, &of->criterion, findings, &err) : NULL;
    struct missed missed = {.rows = 0};
    if (tale && !o.limits && !part)
        find_missed(s, of, slice, r, findings, tale, &missed);
    struct slice_print p = {.study = s,
                            .slice = slice,
                            .criterion = &of->criterion,
                            .report = r,
                            .story = tale && tale->rows > 1 ? tale : NULL,
                            .findings = findings,
                            .missed = &missed,
                            .told = told->rows ? told->row : NULL,
                            .tolds = told->rows,
                            .text = of->text,
                            .of = of,
                            .lines = a->lines,
                            .all = a->all,
                            .sets = &a->sets,
                            .again = a->again,
                            .steps = a->steps};
    if (tale)
        slice_outside_find(s, tale);
    for (size_t i = 0; first && p.story && i < tale->rows; i++)
        told->row[told->rows++] = r->row[tale->row[i].row];
    if (first)
        p.only_story = true;
    bool silent = first && !p.story;
    int bad = r && (tale || !story) ? silent ? 0 : write_all(s, a, of, &p, &err) : -1;
    findings_free(findings);
    story_free(tale);
    report_free(r);
    return bad ? say_error(CLI_FAILED, "slice: %s", err.msg) : say_finish();
}

/* What the user can do about a criterion that was not found. */
static void advise(const struct err *err)
{
    switch (err->code) {
    case SOURCE_NO_FILE:
        if (strstr(err->msg, "there are"))
            break; /* it names files that are meant, perhaps */
        say_hint(
            "without debug information: `%%REGISTER at FUNCTION`, `0xADDRESS BYTES at end`, or "
            "compile with -g");
        break;
    case SOURCE_OPTIMIZED:
        say_hint(
            "`uses of FILE:LINE` of a line that reads it needs no place of it; nor does a build "
            "with -Og");
        break;
    case SOURCE_NO_VARIABLE:
        say_hint(
            "variables are those in scope at that line; others are `FUNCTION::NAME` if static, "
            "`'FILE'::NAME`, or `0xADDRESS BYTES`");
        break;
    default:
        break;
    }
}

static int not_found(const struct slice_options_given *a, const struct err *err)
{
    bool window = err->code == PLACE_NEVER && (a->study.from || a->study.to);
    say_error(CLI_FAILED, "slice: %s%s", err->msg, window ? " in this window" : "");
    advise(err);
    return err->code == CRITERION_USAGE ? CLI_USAGE : CLI_FAILED;
}

static int keep(struct study *s, const struct slice_options_given *a, struct saved *of,
                const struct slice *slice)
{
    struct slice_figures figures;
    struct err err;
    slice_figures(slice, &figures);
    of->nodes = slice_count(slice);
    of->pairs = figures.pairs;
    of->total = trace_insns(s->trace);
    of->has_from = a->window.has_from;
    of->has_to = a->window.has_to;
    of->from = a->window.from;
    of->to = a->window.to;
    snprintf(of->about, sizeof of->about, "%s", trace_about(s->trace));
    if (saved_put(a->file, of, slice, &err))
        return say_error(CLI_FAILED, "slice: %s", err.msg);
    return -1;
}

/* Adds what the command line prunes and limits; limits replace those that were kept. */
static int narrow(struct study *s, const struct slice_options_given *a, struct saved *of,
                  struct err *err)
{
    const struct report_limits *l = &a->limits;
    for (size_t i = 0; i < a->prunes; i++)
        if (pruning_add(&of->pruning, s, &of->criterion, a->prune[i], err))
            return -1;
    if (!l->threads && !l->files && !l->modules)
        return 0;
    saved_unlimit(of);
    for (size_t i = 0; i < l->threads; i++) {
        if (trace_thread(s->trace, trace_thread_find(s->trace, l->thread[i])) != l->thread[i])
            return err_set(err, "there is no thread %" PRIu32 " to limit it to", l->thread[i]);
        of->limits.thread[of->limits.threads++] = l->thread[i];
    }
    for (size_t i = 0; i < l->files; i++)
        if (saved_limit(of->limits.file, &of->limits.files, l->file[i], err))
            return -1;
    for (size_t i = 0; i < l->modules; i++)
        if (saved_limit(of->limits.module, &of->limits.modules, l->module[i], err))
            return -1;
    return 0;
}

/* All that is asked for, in *of. */
static int ask(struct study *s, const struct slice_options_given *a, struct saved *of,
               struct err *err)
{
    of->kind = a->forward ? SLICE_FORWARD : a->to ? SLICE_CHOP : SLICE_BACKWARD;
    of->options = a->criterion.slice;
    struct criterion_options from = a->criterion;
    from.output = a->of_output ? &a->output : NULL;
    from.message = &a->message;
    from.values = of->kind != SLICE_BACKWARD; /* what a pointer led to is more than its target */
    if (criterion_find(s, &from, &of->criterion, err))
        return -1;
    of->text = strdup(a->failure ? "failure" : a->of_output ? of->criterion.what : a->text);
    of->target_text = a->to ? strdup(a->to) : NULL;
    if (!of->text || (a->to && !of->target_text))
        return err_set(err, "no memory");
    struct criterion_options to = {
        .text = a->to, .message = &a->message, .slice = a->criterion.slice};
    if (a->to && strcmp(a->to, "failure") == 0)
        to.text = NULL;
    if (a->to && criterion_find(s, &to, &of->target, err))
        return -1;
    return sets_widen(s, &a->sets, &to, &of->criterion, err) || narrow(s, a, of, err) ? -1 : 0;
}

enum { LATELY = 64 }; /* chunks of the trace, about 20 M instructions */

/* The story of a long recording is told before all of the slice is known: it is made from the
 * nearest instructions alone. */
static bool tells_first(const struct study *s, const struct slice_options_given *a,
                        const struct saved *of)
{
    bool text = true;
    for (size_t i = 0; i < SLICE_FORMATS; i++)
        text = text && !a->formats.as[i];
    return text && !a->full && !a->all && !sets_any(&a->sets) && of->kind == SLICE_BACKWARD &&
           trace_insns(s->trace) > FINDINGS_INSNS;
}

/* Returns the slice if it has no more than what was looked at; NULL: it is still to be made. */
static struct slice *tell_first(struct study *s, const struct slice_options_given *a,
                                struct saved *of, struct told *told)
{
    struct slice_figures figures;
    struct err err;
    of->options.most = REPORT_LAST;
    struct slice *near = saved_make(s, of, &err);
    of->options.most = 0;
    if (!near)
        return NULL;
    slice_figures(near, &figures);
    if (!figures.from)
        return near;
    print(s, a, of, near, NULL, told, true);
    fflush(stdout);
    slice_free(near);
    return NULL;
}

static int make(struct study *s, const struct slice_options_given *a)
{
    struct saved of = {0};
    struct err err = {.code = 0};
    s->index->lately = trace_insns(s->trace) > FINDINGS_INSNS ? LATELY : 0;
    int bad = ask(s, a, &of, &err);
    if (bad && s->index->scan.first) { /* with all that was before, too */
        saved_deinit(&of);
        s->index->lately = 0;
        bad = ask(s, a, &of, &err);
    }
    if (bad) {
        saved_deinit(&of);
        return not_found(a, &err);
    }
    const struct criterion_options others = {.message = &a->message, .slice = of.options};
    struct told told = {.rows = 0};
    struct slice *slice = tells_first(s, a, &of) ? tell_first(s, a, &of, &told) : NULL;
    struct slice *part = NULL;
    s->index->lately = 0;
    if (!slice)
        slice = saved_make(s, &of, &err);
    bad = !slice;
    if (slice && sets_any(&a->sets))
        bad = !(part = sets_narrow(s, &a->sets, &others, &of.criterion, slice, &err));
    int status = bad ? not_found(a, &err) : -1;
    if (status < 0 && a->name)
        status = keep(s, a, &of, slice);
    if (status < 0)
        status = print(s, a, &of, slice, part, &told, false);
    slice_free(slice);
    slice_free(part);
    saved_deinit(&of);
    return status;
}

/* With something to prune it is made again: smaller. */
static int show(struct study *s, const struct slice_options_given *a, struct saved *of)
{
    struct err err = {.code = 0};
    if (narrow(s, a, of, &err))
        return not_found(a, &err);
    struct slice *slice = a->prunes ? saved_make(s, of, &err) : saved_slice(s, a->show, of, &err);
    struct told told = {.rows = 0};
    int status = slice ? print(s, a, of, slice, NULL, &told, false)
                       : say_error(CLI_FAILED, "slice: %s", err.msg);
    slice_free(slice);
    return status;
}

/* ---- slices that were kept ---- */

static int list(const char *dir)
{
    struct err err;
    size_t count;
    struct pinball *p = pinball_open(dir, &err);
    if (!p)
        return say_error(CLI_FAILED, "%s", err.msg);
    pinball_close(p);
    char **name = saved_names(dir, &count, &err);
    if (!name)
        return say_error(CLI_FAILED, "slice: %s", err.msg);
    int status = CLI_DONE;
    for (size_t i = 0; i < count; i++) {
        struct saved s;
        if (saved_read(dir, name[i], &s, &err)) {
            status = say_error(CLI_FAILED, "slice: %s", err.msg);
            continue;
        }
        bool chop = s.kind == SLICE_CHOP;
        plain_printf(stdout, "%s  %" PRIu64 " of %" PRIu64 " instructions  %s%s%s%s\n", name[i],
                     s.nodes, s.total, s.kind == SLICE_FORWARD ? "forward: " : "", s.text,
                     chop ? " to " : "", chop ? s.target_text : "");
        saved_deinit(&s);
    }
    saved_free_names(name, count);
    return say_finish() || status ? CLI_FAILED : CLI_DONE;
}

static int forget(const struct slice_options_given *a)
{
    struct err err;
    return saved_delete(a->in, a->remove, &err) ? say_error(CLI_FAILED, "slice: %s", err.msg)
                                                : CLI_DONE;
}

/* ---- the verb ---- */

/* Whether there is a place where sources may come from. */
static bool has_sources(const struct study *s, const struct slice_options_given *a)
{
    bool any = pinball_is_own(s->pinball) || a->study.places.folders > 0;
    for (uint32_t i = 0; !any && i < pinball_files(s->pinball); i++)
        any = pinball_file(s->pinball, i)->kind == KEPT_SOURCE;
    return any;
}

/* What reads debug information, and prints. */
struct analysis {
    struct study *study;
    const struct slice_options_given *options;
    struct saved *of;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
    (void)sig;
    interrupted = 1;
}

static bool tell_progress(void *arg, uint64_t done, uint64_t total)
{
    progress_show(arg, done, total);
    return interrupted;
}

/* Ctrl-C ends a walk over the trace: what is known by then is shown. The second one ends all. */
static int analyse(void *arg)
{
    const struct analysis *w = arg;
    const struct sigaction once = {.sa_handler = on_interrupt,
                                   .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    struct progress progress;
    struct err err;
    sigaction(SIGINT, &once, NULL);
    if (study_analyse(w->study, &err))
        return say_error(CLI_FAILED, "%s", err.msg);
    progress_begin(&progress, w->options->in);
    w->study->index->progress = (struct scan_progress){&progress, tell_progress};
    return w->options->show ? show(w->study, w->options, w->of) : make(w->study, w->options);
}

static int analyse_safely(struct analysis *w)
{
    const struct slice_options_given *a = w->options;
    struct broker_options outputs = {.other = NULL};
    struct err err;
    for (size_t i = 0; i < SLICE_FORMATS; i++)
        outputs.output[i] = slice_formats[i].file ? a->formats.as[i] : NULL;
    signal(SIGINT, SIG_IGN); /* a child that is confined is asked, and answers */
    int status = broker_run(w->study, &outputs, analyse, w, &err);
    signal(SIGINT, SIG_DFL);
    return status < 0 ? say_error(CLI_FAILED, "slice: %s", err.msg) : status;
}

/* What can be said, and must be found, before a trace is made: a plain replay has all output.
 * Returns -1 to go on. */
static int prepare(struct slice_options_given *a)
{
    const struct study_options options = {.untraced = true};
    bool fails = a->failure || (a->to && strcmp(a->to, "failure") == 0), message = false;
    struct err err;
    int found = 1;
    if (!fails && !a->of_output)
        return -1;
    struct study *s = study_collect(a->in, &options, &err);
    if (!s)
        return say_error(CLI_FAILED, "%s", err.msg);
    if (fails && criterion_may_fail(s, &message, &err))
        found = -1;
    if (found > 0 && a->of_output)
        found = output_find(s, a->of_output, false, &a->output, &err);
    else if (found > 0 && message && output_find(s, NULL, true, &a->message, &err) < 0)
        found = -1;
    study_close(s);
    if (!found)
        return say_error(CLI_FAILED, "slice: no line of its output has `%s` in it", a->of_output);
    return found < 0 ? say_error(err.code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED,
                                 "slice: %s", err.msg)
                     : -1;
}

static int work(struct slice_options_given *a, struct saved *of)
{
    struct progress progress;
    struct err err = {.code = 0};
    int ready = a->show ? -1 : prepare(a);
    if (ready >= 0)
        return ready;
    if (a->failure && !a->show)
        hang_print(a);
    progress_begin(&progress, a->in);
    a->study.progress = progress_count;
    a->study.arg = &progress;
    struct saved_file file;
    struct study *s = study_collect(a->in, &a->study, &err);
    progress_end(&progress);
    if (!s)
        return say_error(err.code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED, "%s", err.msg);
    outcome_hint_changes(s->pinball);
    a->file = a->name ? &file : NULL;
    int status = a->name && saved_begin(s, a->name, &file, &err)
                     ? say_error(CLI_FAILED, "slice: %s", err.msg)
                     : -1;
    if (status < 0) {
        status = analyse_safely(&(struct analysis){s, a, of});
        if (a->name && saved_finish(&file, status == CLI_DONE, &err))
            status = say_error(CLI_FAILED, "slice: %s", err.msg);
    }
    if (status == CLI_DONE && !a->formats.as[SLICE_FORMAT_json] && !has_sources(s, a))
        say_hint("a stranger's recording shows no sources of this machine; `--source-dir DIR` says "
                 "where they are");
    study_close(s);
    return status;
}

int slice_main(int argc, char *argv[])
{
    struct slice_options_given a = {.in = ""};
    struct saved of = {0};
    struct err err;
    int status = slice_options_parse(argc, argv, &a);

    if (status >= 0)
        return status;
    if (a.list)
        return list(a.in);
    if (a.remove)
        return forget(&a);
    if (a.show) {
        if (saved_read(a.in, a.show, &of, &err))
            return say_error(CLI_FAILED, "slice: %s", err.msg);
        a.study.from = of.has_from ? &of.from : NULL;
        a.study.to = of.has_to ? &of.to : NULL;
    }
    status = work(&a, &of);
    saved_deinit(&of);
    output_line_deinit(&a.output);
    output_line_deinit(&a.message);
    return status;
}
