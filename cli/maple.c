/* maple.c - `drdebug maple`: expose a concurrency bug and record it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Results go to standard output: what was found, where it is, and the recipe. While it searches, a
 * line on a terminal says how far it is.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/engine_options.h"
#include "cli/json.h"
#include "cli/maple_print.h"
#include "cli/newest.h"
#include "cli/numbers.h"
#include "pinball/text.h"

const char maple_details[] =
    "  -o DIR             the failing run's pinball; default NAME.maple.pinball, with a number if that\n"
    "                     is there\n"
    "  -j N               runs at once; default: the number of processors\n"
    "  --runs N           make N runs at most; default 1000\n"
    "  --for TIME         begin runs for so long: 90s, 10m, 2h; then --runs has no default\n"
    "  --seed N           what the search draws from; default 1\n"
    "  --strategy NAME    draw recipes from one strategy:\n"
#define STRATEGY(name, share, help) "                       " #name ": " help "\n"
#include "maple-bridge/strategies.def"
#undef STRATEGY
    "  --recipe RECIPE    run this recipe alone, as often as --runs says, and compare the schedules\n"
    "  --no-report        do not look for the cause of a failure by further runs\n"
    "  --pair             leave DIR.reduced, the failing run with as few switches as do, and DIR.passing, the\n"
    "                     same without the one that decides\n"
    "  --all              go on after a failure: every distinct one gets a pinball\n"
    "  --fail TEXT        a run has failed if its standard error has TEXT, and not otherwise\n"
    "  --check CMD        a run has failed if the shell command CMD, run after it, does not return 0\n"
    "  --before CMD       run a shell command before each run\n"
    "  --after CMD        ... and after it\n"
    "  --libraries        let threads be taken off inside libraries, too\n"
    "  --memo FILE        keep what the search knows in FILE, and go on from there\n"
    "  --profile          make a profile for the memo: until three runs show nothing new\n"
    "  --active           force the memo's iRoots, until none is left to try\n"
    "  --iroot N          force the memo's iRoot N, once if --runs does not say more; --seed chooses the rest\n"
    "  --show             list the memo's iRoots\n"
    "  --retest DIR       the program was changed: force the orders that the failure in DIR needed, then make\n"
    "                     --runs runs, default 200; the status is 0 if none fails, 1 if one does, 4 if not\n"
    "                     all orders could be tried\n"
    "  --slice CRITERION  vary only variables that are in the slice of CRITERION, as drdebug slice has it, in\n"
    "                     the first run: `total at work.c:20`\n"
    "  --window N         an iRoot's accesses by one thread are within N instructions; default 1000\n"
    "  --granularity N    accesses to the same N bytes are to one location: 2 to 64; default 8\n"
    "  --job K/N          of --runs runs make each Nth batch, the Kth one first; FILE.K-of-N has what they show\n"
    "  --merge            add the files that are named, which jobs left, to the memo\n"
    "  --json             print the result as JSON\n"
    "  --help             print this\n"
    "\n"
    "Runs the program under one schedule after the other until it fails: by a signal, with a status\n"
    "other than 0, with a sanitizer's report, by a deadlock or a hang. The failing run is a pinball as\n"
    "any other. The first run is not perturbed. $DRDEBUG_RUN has the number of the run, to keep files\n"
    "and ports apart. Standard output of the runs is not shown. The exit status is 0 if a failure was\n"
    "found, 1 if not.\n";

enum {
    OPT_RUNS = 1,
    OPT_FOR,
    OPT_SEED,
    OPT_STRATEGY,
    OPT_RECIPE,
    OPT_NO_REPORT,
    OPT_PAIR,
    OPT_ALL,
    OPT_FAIL,
    OPT_CHECK,
    OPT_BEFORE,
    OPT_AFTER,
    OPT_LIBRARIES,
    OPT_MEMO,
    OPT_PROFILE,
    OPT_ACTIVE,
    OPT_IROOT,
    OPT_SHOW,
    OPT_RETEST,
    OPT_SLICE,
    OPT_WINDOW,
    OPT_GRANULARITY,
    OPT_JOB,
    OPT_MERGE,
    OPT_JSON,
    OPT_ENGINE,
    OPT_HELP
};

static const struct option long_options[] = {
    {"runs", required_argument, NULL, OPT_RUNS},
    {"for", required_argument, NULL, OPT_FOR},
    {"seed", required_argument, NULL, OPT_SEED},
    {"strategy", required_argument, NULL, OPT_STRATEGY},
    {"recipe", required_argument, NULL, OPT_RECIPE},
    {"no-report", no_argument, NULL, OPT_NO_REPORT},
    {"pair", no_argument, NULL, OPT_PAIR},
    {"all", no_argument, NULL, OPT_ALL},
    {"fail", required_argument, NULL, OPT_FAIL},
    {"check", required_argument, NULL, OPT_CHECK},
    {"before", required_argument, NULL, OPT_BEFORE},
    {"after", required_argument, NULL, OPT_AFTER},
    {"libraries", no_argument, NULL, OPT_LIBRARIES},
    {"memo", required_argument, NULL, OPT_MEMO},
    {"profile", no_argument, NULL, OPT_PROFILE},
    {"active", no_argument, NULL, OPT_ACTIVE},
    {"iroot", required_argument, NULL, OPT_IROOT},
    {"show", no_argument, NULL, OPT_SHOW},
    {"retest", required_argument, NULL, OPT_RETEST},
    {"slice", required_argument, NULL, OPT_SLICE},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"granularity", required_argument, NULL, OPT_GRANULARITY},
    {"job", required_argument, NULL, OPT_JOB},
    {"merge", no_argument, NULL, OPT_MERGE},
    {"json", no_argument, NULL, OPT_JSON},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

enum { RUNS_DEFAULT = 1000, RUNS_RETEST = 200 };

static volatile int interrupted;

static void interrupt(int sig)
{
    interrupted = sig;
}

/* ---- options ---- */

static int bad_value(const char *option, const char *text, const char *what)
{
    say_error(CLI_USAGE, "maple: %s: '%s' is not %s", option, text, what);
    return CLI_USAGE;
}

static const struct {
    int option;
    const char *name, *what;
    uint64_t least, most;
} numbers[] = {
    {'j', "-j", "a number from 1 to 64", 1, CREW_MOST},
    {OPT_RUNS, "--runs", "a number of runs", 1, UINT64_MAX},
    {OPT_SEED, "--seed", "a number", 0, UINT64_MAX},
    {OPT_IROOT, "--iroot", "a number from 1 on", 1, UINT32_MAX},
    {OPT_WINDOW, "--window", "a number of instructions", 1, UINT32_MAX},
    {OPT_GRANULARITY, "--granularity", "2, 4, 8, 16, 32 or 64", 2, 64},
};

static void set_number(struct maple *m, int option, uint64_t n)
{
    switch (option) {
    case 'j':
        m->search.workers = (int)n;
        break;
    case OPT_RUNS:
        m->search.most_runs = n;
        break;
    case OPT_SEED:
        m->search.seed = n;
        break;
    case OPT_IROOT:
        m->search.iroot = n;
        break;
    case OPT_WINDOW:
        m->search.scout.window = n;
        break;
    default:
        m->search.scout.shift = (unsigned)__builtin_ctzll(n);
    }
}

static int parse_number(struct maple *m, int option, const char *text)
{
    uint64_t n;
    size_t i = 0;
    while (numbers[i].option != option)
        i++;
    if (text_number(text, &n) || n < numbers[i].least || n > numbers[i].most ||
        (option == OPT_GRANULARITY && (n & (n - 1))))
        return bad_value(numbers[i].name, text, numbers[i].what);
    set_number(m, option, n);
    return 0;
}

static int parse_job(struct maple *m, const char *text)
{
    int n = 0;
    if (sscanf(text, "%" SCNu32 "/%" SCNu32 "%n", &m->search.job, &m->search.jobs, &n) != 2 ||
        text[n] || !m->search.job || m->search.job > m->search.jobs)
        return bad_value("--job", text, "a job's number and how many there are, as in 1/4");
    return 0;
}

static int parse_one(struct maple *m, int c, const char *text)
{
    struct err err;
    switch (c) {
    case 'o':
        m->search.dir = text;
        return 0;
    case 'j':
    case OPT_RUNS:
    case OPT_SEED:
    case OPT_IROOT:
    case OPT_WINDOW:
    case OPT_GRANULARITY:
        return parse_number(m, c, text);
    case OPT_JOB:
        return parse_job(m, text);
    case OPT_RETEST:
        m->search.retest = text;
        m->search.goal = SEARCH_RETEST;
        return 0;
    case OPT_SLICE:
        m->search.slice = text;
        return 0;
    case OPT_MEMO:
        m->search.memo = text;
        return 0;
    case OPT_FOR:
        return numbers_time(text, &m->search.most_ns)
                   ? bad_value("--for", text, "a time, as in 10m")
                   : 0;
    case OPT_STRATEGY:
        m->search.strategy = text;
        return 0;
    case OPT_RECIPE:
        m->search.recipe = &m->recipe;
        return recipe_parse(text, &m->recipe, &err)
                   ? say_error(CLI_USAGE, "maple: --recipe: %s", err.msg)
                   : 0;
    case OPT_FAIL:
        m->search.crew.match = text;
        return 0;
    case OPT_CHECK:
        m->search.crew.check = text;
        return 0;
    case OPT_BEFORE:
        m->search.crew.before = text;
        return 0;
    case OPT_AFTER:
        m->search.crew.after = text;
        return 0;
    default:
        return engine_options_key(&m->engine, text) ? CLI_USAGE : 0;
    }
}

/* Options without a value. */
static bool *flag_of(struct maple *m, int c)
{
    return c == OPT_PAIR        ? &m->search.pair
           : c == OPT_ALL       ? &m->search.all
           : c == OPT_LIBRARIES ? &m->search.scout.libraries
           : c == OPT_MERGE     ? &m->merge
           : c == OPT_JSON      ? &m->json
                                : NULL;
}

static enum search_goal goal_of(int c)
{
    return c == OPT_PROFILE  ? SEARCH_PROFILE
           : c == OPT_ACTIVE ? SEARCH_ACTIVE
           : c == OPT_SHOW   ? SEARCH_SHOW
                             : SEARCH_FAILURE;
}

/* Options that need others. Returns -1 if all is well. */
static int check(struct maple *m)
{
    const struct search_options *o = &m->search;
    const bool retests = o->goal == SEARCH_RETEST;
    const bool wants = (o->goal != SEARCH_FAILURE && !retests) || o->iroot || o->jobs || m->merge;
    if (wants && !o->memo)
        return say_error(CLI_USAGE,
                         "maple: --profile, --active, --iroot, --show, --job and --merge "
                         "are about a memo: --memo FILE");
    if (o->jobs && (o->iroot || o->recipe || o->goal != SEARCH_FAILURE || o->most_ns))
        return say_error(CLI_USAGE, "maple: jobs divide a search with --runs, nothing else");
    if (retests && (o->memo || o->iroot || o->recipe || o->all))
        return say_error(
            CLI_USAGE,
            "maple: --retest has no memo and no recipe, and ends with the first failure");
    if (!o->most_runs && !o->most_ns && o->goal != SEARCH_ACTIVE)
        m->search.most_runs = o->iroot ? 1 : retests ? RUNS_RETEST : RUNS_DEFAULT;
    return -1;
}

/* Returns -1 to go on with argv[optind], or the status to end with. */
static int parse(int argc, char *argv[], struct maple *m)
{
    int c, bad = engine_options_environment(&m->engine) ? CLI_USAGE : 0;
    opterr = 0;
    while (!bad && (c = getopt_long(argc, argv, "+:o:j:", long_options, NULL)) != -1) {
        if (c == OPT_HELP)
            return help_verb("maple");
        if (c == ':' || c == '?')
            return say_bad_option("maple", argv, c == ':' ? ':' : optopt, OPT_HELP);
        if (c == OPT_NO_REPORT)
            m->search.report = false;
        else if (goal_of(c) != SEARCH_FAILURE)
            m->search.goal = goal_of(c);
        else if (flag_of(m, c))
            *flag_of(m, c) = true;
        else
            bad = parse_one(m, c, optarg);
    }
    return bad ? bad : check(m);
}

static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n > CREW_MOST ? CREW_MOST : n;
}

/* The arguments are the parts' files. */
static int merge(const struct maple *m, char *const *part)
{
    struct err err;
    uint32_t failures;
    if (!*part)
        return say_error(CLI_USAGE, "maple: --merge: no files of jobs are named");
    if (search_merge(m->search.memo, part, &failures, &err))
        return say_error(CLI_FAILED, "maple: %s", err.msg);
    plain_printf(stdout, "%s: %" PRIu32 " failure%s\n", m->search.memo, failures,
                 failures == 1 ? "" : "s");
    const int status = say_finish();
    return status ? status : failures ? CLI_DONE : CLI_FAILED;
}

/* No run failed: was everything tried? */
static int retest_status(const struct retest *t)
{
    enum { NOT_TRIED = 4 };
    for (unsigned i = 0; i < t->orders; i++)
        if (t->order[i].state < RETEST_FORCED)
            return NOT_TRIED;
    return t->orders ? CLI_DONE : NOT_TRIED;
}

static int run(struct maple *m)
{
    struct search_result result;
    struct err err = {.code = 0};
    struct sigaction act = {.sa_handler = interrupt};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    maple_print_begin(m);
    const int bad = search_run(&m->search, &result, &err);
    maple_print_end(m, &result, bad);
    if (bad && !result.failures)
        return say_error(err.code == CLI_NOT_FOUND || err.code == CLI_CANNOT_RUN ? err.code
                                                                                 : CLI_FAILED,
                         "maple: %s", err.msg);
    if (bad)
        say_error(0, "maple: %s", err.msg);
    if (interrupted && !result.failures)
        return say_error(128 + interrupted, "interrupted; %" PRIu64 " runs, none failed",
                         result.runs);
    const int status = say_finish();
    if (m->search.goal == SEARCH_RETEST)
        return status ? status : result.failures ? CLI_FAILED : retest_status(&result.retest);
    const bool made = m->search.goal == SEARCH_PROFILE || m->search.goal == SEARCH_SHOW;
    return status ? status : result.failures || made ? CLI_DONE : CLI_FAILED;
}

int maple_main(int argc, char *argv[])
{
    struct maple m = {.engine.verb = "maple",
                      .search = {.seed = 1,
                                 .report = true,
                                 .stop = &interrupted,
                                 .scout = {.window = SCOUT_WINDOW, .shift = SCOUT_SHIFT}},
                      .terminal = isatty(STDERR_FILENO)};
    char path[PATH_MAX], dir[PATH_MAX];
    int status = parse(argc, argv, &m);
    struct stat st;

    if (status < 0 && m.merge)
        return merge(&m, argv + optind);
    if (status < 0)
        status = engine_options_program(&m.engine, argv += optind, path);
    if (status >= 0)
        return status;
    if (!m.search.dir) {
        char kind[24] = ".maple"; /* jobs that run at once have different ones */
        if (m.search.job)
            snprintf(kind, sizeof kind, ".maple.job%" PRIu32, m.search.job);
        newest_name(argv[0], kind, dir);
        m.search.dir = dir;
    }
    if (m.search.goal != SEARCH_SHOW && lstat(m.search.dir, &st) == 0)
        return say_error(CLI_FAILED, "maple: %s: there already", m.search.dir);
    if (!m.search.workers)
        m.search.workers = processors();
    m.search.crew.version = cli_version;
    m.search.crew.path = path;
    m.search.crew.argv = argv;
    m.search.crew.engine = m.engine.text;
    m.search.crew.dir = m.search.dir;
    maple_print_to(&m);
    return run(&m);
}
