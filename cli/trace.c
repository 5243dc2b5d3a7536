/* trace.c - `drdebug trace`: collect the trace that slices are made from.
 *
 * SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/newest.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "cli/window.h"
#include "study/study.h"
#include "trace/number.h"

const char trace_details[] =
    "  -o FILE            write it to FILE; by default it is kept with the pinball\n"
    "  --window FROM..TO  the part between two positions only; either may be left out\n"
    "  --number POSITION  say how many instructions were executed before it, by the trace that is kept\n"
    "  --help             print this\n"
    "\n"
    "Replays the pinball and writes down which instructions were executed and which memory they used.\n"
    "`drdebug slice` does so itself when it finds no trace.\n";

enum { OPT_WINDOW = 1, OPT_NUMBER, OPT_HELP };

struct arguments {
    struct study_options options;
    struct window window;
    struct position of; /* --number; thread 0: not given */
    char in[PATH_MAX];
};

/* Returns -1 to go on, or the status to end with. */
static int parse(int argc, char *argv[], struct arguments *a)
{
    static const struct option options[] = {{"window", required_argument, NULL, OPT_WINDOW},
                                            {"number", required_argument, NULL, OPT_NUMBER},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    struct err err;
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
        if (c == 'o')
            a->options.trace = optarg;
        else if (c == OPT_WINDOW && window_parse(optarg, &a->window, &err))
            return say_error(CLI_USAGE, "trace: %s", err.msg);
        else if (c == OPT_NUMBER && position_parse(optarg, &a->of, &err))
            return say_error(CLI_USAGE, "trace: %s", err.msg);
        else if (c == OPT_HELP)
            return help_verb("trace");
        else if (c != OPT_WINDOW && c != OPT_NUMBER)
            return say_bad_option("trace", argv, c == ':' ? ':' : optopt, OPT_HELP);
    }
    a->options.from = a->window.has_from ? &a->window.from : NULL;
    a->options.to = a->window.has_to ? &a->window.to : NULL;
    a->options.fresh = !a->of.thread;
    a->options.kept = a->of.thread;
    return newest_or_named("trace", argc, argv, a->in);
}

/* --number */
static int number(const struct arguments *a)
{
    struct err err = {.code = 0};
    char text[POSITION_TEXT];
    uint64_t n = 0;
    struct study *s = study_collect(a->in, &a->options, &err);
    int found = s ? number_find(s->trace, &a->of, &n, &err) : -1;

    position_format(&a->of, text);
    if (found == 1)
        printf("%llu of %llu instructions\n", (unsigned long long)n,
               (unsigned long long)trace_insns(s->trace));
    study_close(s);
    if (found == 0)
        return say_error(CLI_FAILED, "trace: %s: not in the trace", text);
    return found < 0 ? say_error(CLI_FAILED, "trace: %s", err.msg) : say_finish();
}

static void report(const struct study *s, const char *path)
{
    const struct collect_result *r = &s->result;
    char insns[OUTCOME_BYTES], steps[OUTCOME_BYTES], bytes[OUTCOME_BYTES];

    plain_printf(stdout, "%s: trace of %s instruction%s, %s block%s executed, %llu thread%s, %s\n",
                 path, outcome_number(insns, r->insns), r->insns == 1 ? "" : "s",
                 outcome_number(steps, r->steps), r->steps == 1 ? "" : "s",
                 (unsigned long long)r->threads, r->threads == 1 ? "" : "s",
                 outcome_bytes(bytes, r->bytes));
}

int trace_main(int argc, char *argv[])
{
    struct arguments a = {.in = ""};
    struct progress progress;
    struct err err = {.code = 0};
    int status = parse(argc, argv, &a);

    if (status >= 0)
        return status;
    if (a.of.thread)
        return number(&a);
    progress_begin(&progress, a.in);
    a.options.progress = progress_count;
    a.options.arg = &progress;
    struct study *s = study_collect(a.in, &a.options, &err);
    progress_end(&progress);
    if (!s)
        return say_error(err.code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED, "%s", err.msg);
    report(s, a.in);
    study_close(s);
    return say_finish();
}
