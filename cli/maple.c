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
#include "cli/numbers.h"
#include "maple-bridge/search.h"
#include "pinball/text.h"

const char maple_details[] =
    "  -o DIR             the failing run's pinball; default NAME.maple.pinball, with a number if that\n"
    "                     is there\n"
    "  -j N               runs at once; default: the number of processors\n"
    "  --runs N           make N runs at most; default 1000\n"
    "  --for TIME         begin runs for so long: 90s, 10m, 2h; then --runs has no default\n"
    "  --seed N           what the search draws from; default 1\n"
    "  --strategy NAME    draw recipes from one strategy: random, pct, pos, surw, rff or maple\n"
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
    {"json", no_argument, NULL, OPT_JSON},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

enum { RUNS_DEFAULT = 1000 };

struct maple {
    struct search_options search;
    struct engine_options engine;
    struct recipe recipe;
    bool json, terminal;
    bool told; /* something was found */
};

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

static int parse_number(struct maple *m, int option, const char *text)
{
    uint64_t n;
    if (text_number(text, &n))
        return bad_value(option == 'j'        ? "-j"
                         : option == OPT_RUNS ? "--runs"
                                              : "--seed",
                         text, "a number");
    if (option == 'j' && (n < 1 || n > CREW_MOST))
        return bad_value("-j", text, "a number from 1 to 64");
    if (option == OPT_RUNS && !n)
        return bad_value("--runs", text, "a number of runs");
    if (option == 'j')
        m->search.workers = (int)n;
    else if (option == OPT_RUNS)
        m->search.most_runs = n;
    else
        m->search.seed = n;
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
        return parse_number(m, c, text);
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
        else if (c == OPT_PAIR)
            m->search.pair = true;
        else if (c == OPT_ALL)
            m->search.all = true;
        else if (c == OPT_LIBRARIES)
            m->search.libraries = true;
        else if (c == OPT_JSON)
            m->json = true;
        else
            bad = parse_one(m, c, optarg);
    }
    if (!m->search.most_runs && !m->search.most_ns)
        m->search.most_runs = RUNS_DEFAULT;
    return bad ? bad : -1;
}

static void default_dir(const char *program, char *out, size_t room)
{
    struct stat st;
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    snprintf(out, room, "%s.maple.pinball", name);
    for (int i = 1; lstat(out, &st) == 0; i++)
        snprintf(out, room, "%s.maple.%d.pinball", name, i);
}

static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n > CREW_MOST ? CREW_MOST : n;
}

/* ---- what is said ---- */

static void clear_line(const struct maple *m)
{
    if (m->terminal)
        fputs("\r\033[K", stderr);
}

static void show(void *arg, const struct search_state *s)
{
    const struct maple *m = arg;
    if (!m->terminal)
        return;
    const double seconds = (double)s->ns / 1e9;
    fprintf(stderr,
            "\r%" PRIu64 " runs, %.0f/s, %" PRIu64 " pairs of accesses seen, %" PRIu64
            " orders forced of %" PRIu64 " tried, %" PRIu64 " failure%s\033[K",
            s->runs, seconds > 0 ? (double)s->runs / seconds : 0.0, s->pairs, s->exposed, s->orders,
            s->failures, s->failures == 1 ? "" : "s");
}

static void failure_text(const struct crew_outcome *o, char *out, size_t room)
{
    const int status = o->wait_status;
    switch (o->kind) {
    case CREW_CIRCLE:
        snprintf(out, room, "deadlock: threads wait for each other's locks");
        break;
    case CREW_STUCK:
        snprintf(out, room, "deadlock: all threads wait, and nothing can end that");
        break;
    case CREW_LONG:
        snprintf(out, room, "hang: %.1f s of CPU time", (double)o->used_ns / 1e9);
        break;
    case CREW_TEXT_MATCHED:
        snprintf(out, room, "it reported an error");
        break;
    case CREW_CHECK:
        snprintf(out, room, "the check failed");
        break;
    default:
        if (WIFSIGNALED(status))
            snprintf(out, room, "SIG%s", sigabbrev_np(WTERMSIG(status)));
        else
            snprintf(out, room, "status %d", WEXITSTATUS(status));
    }
}

static void found_json(const struct search_found *f, const char *failure, const char *recipe)
{
    printf("{\"run\": %" PRIu64 ", \"failure\": ", f->run);
    json_string(failure);
    fputs(", \"pinball\": ", stdout);
    json_string(f->dir);
    fputs(", \"strategy\": ", stdout);
    json_string(f->strategy);
    fputs(", \"recipe\": ", stdout);
    json_string(f->strategy ? recipe : NULL);
    printf(", \"events\": %" PRIu64 ", \"switches\": %" PRIu64 ", \"output\": ", f->events,
           f->switches);
    json_string(f->outcome->text);
    putchar('}');
}

static void found(void *arg, const struct search_found *f)
{
    struct maple *m = arg;
    char failure[100], recipe[RECIPE_TEXT];
    failure_text(f->outcome, failure, sizeof failure);
    recipe_text(&f->recipe, recipe, sizeof recipe);
    clear_line(m);
    if (m->json) {
        fputs(m->told ? ", " : "", stdout);
        found_json(f, failure, recipe);
    } else {
        plain_printf(stdout, "%s: run %" PRIu64 ": %s\n", f->dir, f->run, failure);
        if (f->strategy || m->search.recipe)
            plain_printf(stdout, "recipe %s: %" PRIu64 " events, %" PRIu64 " switches\n", recipe,
                         f->events, f->switches);
        else
            plain_printf(stdout, "the program fails without being perturbed\n");
        for (const char *line = f->outcome->text; *line;) {
            const size_t n = strcspn(line, "\n");
            plain_printf(stdout, "  | %.*s\n", (int)n, line);
            line += n + (line[n] == '\n');
        }
    }
    m->told = true;
    fflush(stdout);
}

static void say_access(const struct reduce_access *a, const char *end)
{
    plain_printf(stdout, "T%" PRIu32 " %s at %s%s", a->thread, a->write ? "writes" : "reads",
                 a->place, end);
}

static void reduced_json(const struct reduced *r)
{
    printf("{\"runs\": %" PRIu64 ", \"before\": %" PRIu32 ", \"after\": %" PRIu32 ", \"pairs\": [",
           r->runs, r->before, r->after);
    for (uint32_t i = 0; i < r->pairs; i++) {
        const struct reduce_access *side[] = {&r->pair[i].first, &r->pair[i].then};
        fputs(i ? ", [" : "[", stdout);
        for (int k = 0; k < 2; k++) {
            printf("%s{\"thread\": %" PRIu32 ", \"write\": %s, \"place\": ", k ? ", " : "",
                   side[k]->thread, side[k]->write ? "true" : "false");
            json_string(side[k]->place);
            putchar('}');
        }
        putchar(']');
    }
    fputs("]}", stdout);
}

static void reduced(void *arg, const struct reduced *r)
{
    struct maple *m = arg;
    if (m->json) {
        fputs(", ", stdout);
        reduced_json(r);
        return;
    }
    if (r->failed) {
        puts("the schedule alone does not bring it back: the program depends on something outside");
        return;
    }
    printf("%" PRIu32 " of %" PRIu32 " switches are needed (%" PRIu64 " more runs)", r->after,
           r->before, r->runs);
    struct recipe script = {.tactic = AGENDA_script};
    if (r->after <= RECIPE_SWITCHES) {
        char text[RECIPE_TEXT];
        script.switches = r->after;
        memcpy(script.script, r->list, r->after * sizeof *r->list);
        recipe_text(&script, text, sizeof text);
        printf(": recipe %s", text);
    }
    putchar('\n');
    for (uint32_t i = 0; i < r->pairs; i++) {
        fputs(i ? "              " : "critical pair ", stdout);
        say_access(&r->pair[i].first, ", then ");
        say_access(&r->pair[i].then, "");
        putchar('\n');
    }
    fflush(stdout);
}

static void finish(const struct maple *m, const struct search_result *r)
{
    clear_line(m);
    if (m->json) {
        printf("], \"runs\": %" PRIu64 ", \"seconds\": %.3f, \"sites\": %" PRIu32
               ", \"hash\": \"%016" PRIx64 "\", \"same\": %s}\n",
               r->runs, (double)r->ns / 1e9, r->sites, r->hash, r->same ? "true" : "false");
        return;
    }
    if (m->search.recipe)
        printf("%" PRIu64 " runs, hash of switches %016" PRIx64 "%s\n", r->runs, r->hash,
               r->same ? "" : ", not the same in all of them");
    else if (!r->failures)
        printf("%" PRIu64 " run%s in %.1f s, none failed\n", r->runs, r->runs == 1 ? "" : "s",
               (double)r->ns / 1e9);
    if (!r->failures && r->threads == 1)
        say_hint("the program has one thread: there is only one schedule");
    else if (!r->failures && !r->sites)
        say_hint("its threads share no memory that the search could order");
}

static int run(struct maple *m)
{
    struct search_result result;
    struct err err = {.code = 0};
    struct sigaction act = {.sa_handler = interrupt};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    if (m->json) {
        json_begin();
        fputs(", \"found\": [", stdout);
    }
    const int bad = search_run(&m->search, &result, &err);
    finish(m, &result);
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
    return status ? status : result.failures ? CLI_DONE : CLI_FAILED;
}

int maple_main(int argc, char *argv[])
{
    struct maple m = {.engine.verb = "maple",
                      .search = {.seed = 1, .report = true, .stop = &interrupted},
                      .terminal = isatty(STDERR_FILENO)};
    char path[PATH_MAX], dir[PATH_MAX];
    int status = parse(argc, argv, &m);
    struct stat st;

    if (status < 0)
        status = engine_options_program(&m.engine, argv += optind, path);
    if (status >= 0)
        return status;
    if (!m.search.dir) {
        default_dir(argv[0], dir, sizeof dir);
        m.search.dir = dir;
    }
    if (lstat(m.search.dir, &st) == 0)
        return say_error(CLI_FAILED, "maple: %s: there already", m.search.dir);
    if (!m.search.workers)
        m.search.workers = processors();
    m.search.crew.version = cli_version;
    m.search.crew.path = path;
    m.search.crew.argv = argv;
    m.search.crew.engine = m.engine.text;
    m.search.crew.dir = m.search.dir;
    m.search.progress = show;
    m.search.found = found;
    m.search.reduced = reduced;
    m.search.arg = &m;
    return run(&m);
}
