/* relog.c - `drdebug relog`: a pinball that replays only a slice. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "relogger/relog.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/newest.h"
#include "cli/numbers.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "pinball/pinball.h"
#include "pinball/text.h"
#include "pinball/writer.h"
#include "pinball/xxh64.h"
#include "relogger/exclude.h"
#include "relogger/stretches.h"
#include "slicer/report/saved.h"
#include "study/broker.h"

const char relog_details[] =
    "  --slice NAME       keep the slice that `drdebug slice -o NAME` made\n"
    "  CRITERION          keep the slice of this, as `drdebug slice` takes it\n"
    "  --at failure       keep the slice of what ended the program\n"
    "  --instance N       the Nth time that the criterion's line was reached; by default the last\n"
    "  --thread N         in thread N; by default in any\n"
    "  --thin             follow values only: not addresses, not control\n"
    "  --data             follow values and addresses, not control\n"
    "  --exclude WHAT     leave out FUNCTION with all that it calls, MODULE, FILE:LINE or FILE:FROM-TO; may be\n"
    "                     repeated. Without a slice everything else is kept\n"
    "  --only-thread N,N  leave out all other threads\n"
    "  --regions FILE     leave out the regions that FILE lists: [PC:INSTANCE:THREAD, PC:INSTANCE:THREAD)\n"
    "  --write-regions FILE  write down what is left out as such regions; -o may then be missing\n"
    "  --gap N            run what would be a gap of fewer than N instructions, by default 20000, or writes\n"
    "                     more than a byte for every four; 0: leave out everything\n"
    "  --output           what is left out has its output: without, it does not appear\n"
    "  -o DIR             write it to DIR, which must not exist\n"
    "  --help             print this\n"
    "\n"
    "The new pinball replays only the statements that the slice is made of. What all others did is in it:\n"
    "memory and registers are at each of these statements as they were, and a position means the same\n"
    "moment in both. In GDB, step and next go from one statement of the slice to the next.\n";

enum {
    OPT_SLICE = 1,
    OPT_AT,
    OPT_INSTANCE,
    OPT_THREAD,
    OPT_THIN,
    OPT_DATA,
    OPT_GAP,
    OPT_EXCLUDE,
    OPT_ONLY_THREAD,
    OPT_REGIONS,
    OPT_WRITE_REGIONS,
    OPT_OUTPUT,
    OPT_HELP
};

struct arguments {
    const char *slice, *out;
    const char *regions_path, *write_path;
    struct stretches *regions; /* NULL: none */
    bool failure, output;
    bool whole; /* no slice: all but what is excluded */
    struct criterion_options criterion;
    struct exclude exclude;
    uint64_t gap;
    char in[PATH_MAX];
    char text[1024]; /* the criterion */
};

static const struct option options[] = {
    {"slice", required_argument, NULL, OPT_SLICE},
    {"at", required_argument, NULL, OPT_AT},
    {"instance", required_argument, NULL, OPT_INSTANCE},
    {"thread", required_argument, NULL, OPT_THREAD},
    {"thin", no_argument, NULL, OPT_THIN},
    {"data", no_argument, NULL, OPT_DATA},
    {"gap", required_argument, NULL, OPT_GAP},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"only-thread", required_argument, NULL, OPT_ONLY_THREAD},
    {"regions", required_argument, NULL, OPT_REGIONS},
    {"write-regions", required_argument, NULL, OPT_WRITE_REGIONS},
    {"output", no_argument, NULL, OPT_OUTPUT},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

/* ---- the command line ---- */

static int set(int c, struct arguments *a)
{
    uint64_t n = 0;
    int status = -1;
    switch (c) {
    case OPT_SLICE:
        a->slice = optarg;
        break;
    case OPT_AT:
        if (strcmp(optarg, "failure") != 0)
            return say_error(CLI_USAGE, "relog: --at %s: only `--at failure` is known", optarg);
        a->failure = true;
        break;
    case OPT_INSTANCE:
        return numbers_option("relog", "instance", optarg, 1, UINT64_MAX, &a->criterion.instance);
    case OPT_THREAD:
        status = numbers_option("relog", "thread", optarg, 1, UINT32_MAX, &n);
        a->criterion.thread = (uint32_t)n;
        break;
    case OPT_THIN:
        a->criterion.slice.edges = SLICE_VALUE;
        break;
    case OPT_DATA:
        a->criterion.slice.edges = SLICE_VALUE | SLICE_ADDRESS;
        break;
    case OPT_GAP:
        return numbers_option("relog", "gap", optarg, 0, UINT64_MAX, &a->gap);
    case OPT_EXCLUDE:
        if (a->exclude.words == EXCLUDE_WORDS)
            return say_error(CLI_USAGE, "relog: --exclude: no more than %d of them", EXCLUDE_WORDS);
        a->exclude.word[a->exclude.words++] = optarg;
        break;
    case OPT_REGIONS:
        a->regions_path = optarg;
        break;
    case OPT_WRITE_REGIONS:
        a->write_path = optarg;
        break;
    case OPT_OUTPUT:
        a->output = true;
        break;
    case OPT_ONLY_THREAD:
        return numbers_threads("relog", optarg, a->exclude.only, &a->exclude.threads,
                               EXCLUDE_THREADS);
    default:
        a->out = optarg;
    }
    return status;
}

static int take_words(int argc, char *argv[], struct arguments *a)
{
    const int status = newest_and_criterion("relog", argc, argv, a->in, a->text, sizeof a->text);
    if (status >= 0)
        return status;
    if (!a->out && !a->write_path)
        return say_error(CLI_USAGE, "relog: -o is missing");
    const int slices = !!a->text[0] + a->failure + !!a->slice;
    if (slices > 1 || (!slices && !a->exclude.words && !a->exclude.threads && !a->regions_path))
        return say_error(CLI_USAGE, "relog: say what to keep: --slice NAME, a criterion, or --at "
                                    "failure; or what to leave out: --exclude or --regions");
    a->whole = !slices;
    a->criterion.text = a->failure ? NULL : a->text;
    return -1;
}

/* Returns -1 to go on, or the status to end with. */
static int parse(int argc, char *argv[], struct arguments *a)
{
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
        if (c == OPT_HELP)
            return help_verb("relog");
        if (c == ':' || c == '?')
            return say_bad_option("relog", argv, c == ':' ? ':' : optopt, OPT_HELP);
        const int status = set(c, a);
        if (status >= 0)
            return status;
    }
    return take_words(argc, argv, a);
}

/* ---- what is kept ---- */

/* What reads debug information. */
struct analysis {
    struct study *study;
    struct arguments *options;
    struct saved *of;
    int fd;        /* where the list of what is kept goes */
    int slice;     /* and the slice */
    char made[20]; /* what says that the two belong together */
};

static struct slice *make_slice(struct analysis *w, struct err *err)
{
    const struct arguments *a = w->options;
    if (a->slice)
        return saved_slice(w->study, a->slice, w->of, err);
    w->of->kind = SLICE_BACKWARD;
    w->of->options = a->criterion.slice;
    if (criterion_find(w->study, &a->criterion, &w->of->criterion, err))
        return NULL;
    return saved_make(w->study, w->of, err);
}

/* The slice goes along, in the new recording's numbers. */
static int carry(struct analysis *w, const struct slice *slice, const struct pieces *kept,
                 struct err *err)
{
    struct pieces_moved moved;
    struct slice_figures figures;
    const struct saved_move move = {pieces_moved, &moved};
    struct saved of = *w->of; /* whose lists stay those of the other */
    char failure[] = "failure";
    if (pieces_move(&moved, kept, w->options->gap, err))
        return -1;
    slice_figures(slice, &figures);
    snprintf(of.about, sizeof of.about, "%s", w->made);
    of.total = moved.total;
    of.pairs = figures.pairs;
    of.has_from = of.has_to = false;
    of.text = of.text ? of.text : w->options->failure ? failure : w->options->text;
    int bad = saved_put_moved(w->slice, SAVED_MADE_OF, &of, slice, &move, err);
    pieces_moved_deinit(&moved);
    return bad;
}

static int analyse(void *arg)
{
    struct analysis *w = arg;
    struct pieces kept = {0};
    struct err err = {.code = 0};
    if (study_analyse(w->study, &err))
        return say_error(CLI_FAILED, "%s", err.msg);
    struct slice *slice = w->options->whole ? NULL : make_slice(w, &err);
    const struct pieces_rule rule = {
        .slice = slice, .exclude = &w->options->exclude, .regions = w->options->regions};
    int bad = (!slice && !w->options->whole) || pieces_find(w->study, &rule, &kept, &err) ||
              (w->options->gap && relog_weigh(w->study->trace, &kept, w->options->gap, &err)) ||
              pieces_write(&kept, w->fd, &err) || (slice && carry(w, slice, &kept, &err));
    slice_free(slice);
    pieces_deinit(&kept);
    return bad ? say_error(err.code == CRITERION_USAGE ? CLI_USAGE : CLI_FAILED, "relog: %s",
                           err.msg)
               : CLI_DONE;
}

/* A hash of what says which instructions are kept. */
static int name_slice(struct analysis *w, struct err *err)
{
    const struct arguments *a = w->options;
    struct text all = {0};
    text_add(&all, "about", trace_about(w->study->trace));
    text_add(&all, "slice", a->slice ? w->of->text : a->failure ? "failure" : a->text);
    text_addf(&all, "numbers", "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u", a->gap,
              w->of->nodes, w->of->pairs, a->criterion.instance, a->criterion.thread,
              a->criterion.slice.edges);
    for (size_t i = 0; i < a->exclude.words; i++)
        text_add(&all, "exclude", a->exclude.word[i]);
    for (size_t i = 0; i < a->exclude.threads; i++)
        text_addf(&all, "only", "%" PRIu32, a->exclude.only[i]);
    const int bad = all.data ? 0 : err_set(err, "no memory");
    if (!bad)
        snprintf(w->made, sizeof w->made, "%016" PRIx64, xxh64(all.data, all.bytes, 0));
    text_deinit(&all);
    return bad;
}

/* ---- the new pinball ---- */

static void message(void *arg, const char *line)
{
    (void)arg;
    say_line(line);
}

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
}

static bool show_progress(void *arg, uint64_t done, uint64_t total)
{
    progress_show(arg, done, total);
    return interrupted;
}

/* relog() removes what it has made when it is interrupted. */
static void take_signals(void (*handler)(int))
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART},
                  NULL);
}

static void print_result(const char *dir, const struct relog_result *r)
{
    const double share = r->insns ? 100.0 * (double)r->kept / (double)r->insns : 0;
    plain_printf(stdout,
                 "%s: %" PRIu64 " of %" PRIu64 " instructions kept (%.3g %%), %" PRIu64
                 " statement%s; %" PRIu64 " left out in %" PRIu64 " gap%s\n",
                 dir, r->kept, r->insns, share, r->statements, r->statements == 1 ? "" : "s",
                 r->out, r->gaps, r->gaps == 1 ? "" : "s");
}

static int write_regions(const struct analysis *w, const struct pieces *kept)
{
    const char *path = w->options->write_path;
    struct err err;
    FILE *out = path ? fopen(path, "wx") : NULL;
    if (!path)
        return CLI_DONE;
    if (!out)
        return say_error(CLI_FAILED, "relog: %s: %s", path, strerror(errno));
    err_set(&err, "%s: cannot be written", path);
    int bad = stretches_write(w->study->trace, kept, out, &err);
    bad |= ferror(out);
    bad |= fclose(out);
    if (bad)
        unlink(path);
    return bad ? say_error(CLI_FAILED, "relog: %s", err.msg) : CLI_DONE;
}

static int write_pinball(struct analysis *w, struct progress *progress)
{
    const struct arguments *a = w->options;
    struct pieces kept;
    struct relog_result result;
    struct text head = {0};
    struct err err = {.code = 0};
    if (pieces_read(w->fd, w->study->trace, &kept, &err))
        return say_error(CLI_FAILED, "relog: %s", err.msg);
    const int status = write_regions(w, &kept);
    if (status != CLI_DONE || !a->out) {
        pieces_deinit(&kept);
        return status;
    }
    text_addf(&head, "relog_of", "%s", a->in);
    if (!a->whole)
        text_add(&head, "relog_slice", a->slice ? w->of->text : a->failure ? "failure" : a->text);
    if (!a->whole)
        text_add(&head, "relog_made", w->made);
    if (a->regions_path)
        text_add(&head, "relog_exclude", a->regions_path);
    for (size_t i = 0; i < a->exclude.words; i++)
        text_add(&head, "relog_exclude", a->exclude.word[i]);
    text_add(&head, "relog_output", a->output ? "yes" : "no");
    const struct relog_options o = {.gap = a->gap,
                                    .output = a->output,
                                    .from = w->of->has_from ? &w->of->from : NULL,
                                    .to = w->of->has_to ? &w->of->to : NULL,
                                    .head = &head,
                                    .message = message,
                                    .progress = show_progress,
                                    .arg = progress};
    take_signals(on_signal);
    int bad = relog(w->study->pinball, w->study->trace, &kept, a->out, &o, &result, &err);
    take_signals(SIG_DFL);
    if (!bad && !a->whole && (bad = saved_carry(w->slice, a->out, SAVED_MADE_OF, &err)))
        writer_remove(a->out);
    progress_end(progress);
    text_deinit(&head);
    pieces_deinit(&kept);
    if (bad)
        return say_error(err.code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED, "relog: %s",
                         err.msg);
    print_result(a->out, &result);
    return info_summary(a->out);
}

static int work(struct arguments *a, struct saved *of)
{
    struct progress progress;
    struct err err = {.code = 0};
    progress_begin(&progress, a->in);
    const struct study_options so = {.from = of->has_from ? &of->from : NULL,
                                     .to = of->has_to ? &of->to : NULL,
                                     .progress = progress_count,
                                     .arg = &progress};
    struct study *s = study_collect(a->in, &so, &err);
    progress_end(&progress);
    if (!s)
        return say_error(err.code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED, "%s", err.msg);
    outcome_hint_changes(s->pinball);
    struct analysis w = {.study = s,
                         .options = a,
                         .of = of,
                         .fd = memfd_create("kept", MFD_CLOEXEC),
                         .slice = memfd_create("slice", MFD_CLOEXEC)};
    int status = name_slice(&w, &err) ? -1
                 : w.fd < 0 || w.slice < 0
                     ? say_error(CLI_FAILED, "relog: %s", strerror(errno))
                     : broker_run(s, &(struct broker_options){.other = NULL}, analyse, &w, &err);
    if (status < 0)
        status = say_error(CLI_FAILED, "relog: %s", err.msg);
    progress_begin(&progress, a->out ? a->out : a->write_path);
    if (status == CLI_DONE)
        status = write_pinball(&w, &progress);
    if (w.fd >= 0)
        close(w.fd);
    if (w.slice >= 0)
        close(w.slice);
    study_close(s);
    return status;
}

int relog_main(int argc, char *argv[])
{
    struct arguments a = {.in = "", .gap = RELOG_GAP};
    struct saved of = {0};
    struct err err;
    int status = parse(argc, argv, &a);
    if (status >= 0)
        return status;
    FILE *in = a.regions_path ? fopen(a.regions_path, "r") : NULL;
    if (a.regions_path && !in)
        return say_error(CLI_FAILED, "relog: %s: %s", a.regions_path, strerror(errno));
    a.regions = in ? stretches_read(in, a.regions_path, &err) : NULL;
    if (in)
        fclose(in);
    if (in && !a.regions)
        return say_error(CLI_USAGE, "relog: %s", err.msg);
    if (a.slice && saved_read(a.in, a.slice, &of, &err))
        return say_error(CLI_FAILED, "relog: %s", err.msg);
    status = work(&a, &of);
    saved_deinit(&of);
    stretches_free(a.regions);
    return status;
}
