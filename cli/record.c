/* record.c - `drdebug record`: record a program's execution as a pinball.
 *
 * SPDX-License-Identifier: MIT
 *
 * The exit status is the program's own. When the program has ended, a line on standard error says
 * what was recorded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/plain.h"
#include "cli/cli.h"
#include "cli/engine_options.h"
#include "cli/outcome.h"
#include "engine/host/launch.h"
#include "logger/recorder.h"
#include "pinball/pinball.h"
#include "pinball/record.h"
#include "pinball/ring.h"

const char record_details[] =
    "  -o DIR             the pinball's directory; default NAME.pinball, with a number if that is\n"
    "                     there\n"
#define SCHEDULE(name)
#define SCHEDULE_OPTION(name, help) help
#include "engine/sched/schedules.def"
#undef SCHEDULE
    "  -q, --quiet        do not say at the end what was recorded\n"
    "  --no-link          do not link translated blocks directly (slower; for comparison)\n"
    "  --cache-size SIZE  limit the code cache to SIZE bytes per arena; K and M are understood\n"
    "  --help             print this\n"
    "\n"
    "The program runs with its own input, output and terminal. The exit status is its own, 128+N if\n"
    "signal N ended it; 127 if there is no such program, 126 if it cannot be run. Where there is no room\n"
    "for a recording it runs all the same. Its threads take turns; its child processes are not\n"
    "recorded.\n";

enum { OPT_SCHEDULE = 256, OPT_NO_LINK, OPT_CACHE_SIZE, OPT_ENGINE, OPT_HELP };

static const struct option long_options[] = {
#define SCHEDULE(name)
#define SCHEDULE_OPTION(name, help) {#name, optional_argument, NULL, OPT_SCHEDULE},
#include "engine/sched/schedules.def"
#undef SCHEDULE
    {"quiet", no_argument, NULL, 'q'},
    {"no-link", no_argument, NULL, OPT_NO_LINK},
    {"cache-size", required_argument, NULL, OPT_CACHE_SIZE},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

struct record_options {
    const char *dir;
    const char *schedule; /* NULL: the plain one */
    bool quiet;
    uint64_t seed;
    struct engine_options engine;
};

static int usage_error(const char *option, const char *cause)
{
    say_error(CLI_USAGE, "record: %s: %s", option, cause);
    say_hint("`drdebug help record` lists the options");
    return CLI_USAGE;
}

static int parse_schedule(struct record_options *o, const char *name, const char *text)
{
    char *end;
    o->schedule = name;
    if (!text) {
        if (getrandom(&o->seed, sizeof o->seed, 0) != (ssize_t)sizeof o->seed)
            o->seed = 1;
        return 0;
    }
    errno = 0;
    o->seed = strtoull(text, &end, 10);
    if (*end || end == text || errno || *text == '-')
        return say_error(-1, "record: --%s: '%s' is not a number", name, text);
    return 0;
}

/* Returns -1 to go on with argv[optind], or the status to end with. */
static int parse(int argc, char *argv[], struct record_options *o)
{
    int c, which = 0, bad = engine_options_environment(&o->engine);

    opterr = 0;
    while (!bad && (c = getopt_long(argc, argv, "+:o:q", long_options, &which)) != -1) {
        switch (c) {
        case 'o':
            o->dir = optarg;
            break;
        case 'q':
            o->quiet = true;
            break;
        case OPT_SCHEDULE:
            bad = parse_schedule(o, long_options[which].name, optarg);
            break;
        case OPT_NO_LINK:
            bad = engine_options_add(&o->engine, "link=0");
            break;
        case OPT_CACHE_SIZE:
            bad = engine_options_cache_size(&o->engine, optarg);
            break;
        case OPT_ENGINE:
            bad = engine_options_key(&o->engine, optarg);
            break;
        case OPT_HELP:
            return help_verb("record");
        case ':':
            return usage_error(argv[optind - 1], "needs a value");
        default:
            return usage_error(argv[optind - 1], "unknown option");
        }
    }
    return bad ? CLI_USAGE : -1;
}

/* NAME.pinball, NAME.1.pinball, ... : the first that is not there. */
static void default_dir(const char *program, char *out, size_t room)
{
    struct stat st;
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    snprintf(out, room, "%s.pinball", name);
    for (int i = 1; lstat(out, &st) == 0; i++)
        snprintf(out, room, "%s.%d.pinball", name, i);
}

static void say_warnings(const char *dir, uint32_t warnings)
{
    if (warnings & WARN_SHARED_MEMORY)
        say_error(0,
                  "%s: the program shared memory with another process; what that wrote is "
                  "seen at system calls only, and the replay may diverge",
                  dir);
    if (warnings & WARN_UNSEEN_WRITE)
        say_error(0,
                  "%s: a mapped file changed in a way that is not recorded; the replay may "
                  "diverge",
                  dir);
}

static void say_result(const char *dir, struct recorded *r)
{
    struct err err;
    char text[OUTCOME_TEXT];
    struct pinball *p = pinball_open(dir, &err);
    struct outcome out = {.reason = r->summary.reason,
                          .status = r->summary.status,
                          .thread = r->summary.running,
                          .threads = r->summary.threads};
    if (out.reason == END_FULL) /* that was said; the program went on */
        out = (struct outcome){.reason = WIFSIGNALED(r->wait_status) ? END_SIGNAL : END_EXIT,
                               .status = WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status)
                                                                     : WEXITSTATUS(r->wait_status)};
    if (p) {
        outcome_say_size(stderr, p);
        if (!pinball_is_own(p))
            fputs("no key of yours can be kept in $XDG_STATE_HOME or ~/.local/state: the recording "
                  "counts as a stranger's\n",
                  stderr);
        pinball_close(p);
    } else {
        say_error(0, "%s", err.msg);
    }
    outcome_text(&out, text, sizeof text);
    plain_printf(stderr, "%s\n", text);
}

/* Nothing can be written: the program is run all the same. */
static int run_unrecorded(const struct recording *what, const struct err *why)
{
    const struct launch launch = {what->path, what->argv, what->options};
    struct err err;
    say_error(0, "%s; the program runs without being recorded", why->msg);
    launch_exec(&launch, &err);
    return say_error(CLI_CANNOT_RUN, "%s: %s", what->argv[0], err.msg);
}

int record_main(int argc, char *argv[])
{
    struct record_options o = {.engine.verb = "record"};
    struct recording what = {.version = cli_version};
    struct recorded result;
    char path[PATH_MAX], dir[PATH_MAX];
    struct err err;
    int status = parse(argc, argv, &o);

    if (status < 0)
        status = engine_options_program(&o.engine, argv += optind, path);
    if (status >= 0)
        return status;
    if (!o.dir)
        default_dir(argv[0], dir, sizeof dir);

    what.dir = o.dir ? o.dir : dir;
    what.path = path;
    what.argv = argv;
    what.options = o.engine.text;
    what.schedule = o.schedule;
    what.seed = o.seed;
    if (recorder_run(&what, &result, &err)) {
        if (recorder_no_room(err.code))
            return run_unrecorded(&what, &err);
        return say_error(err.code == CLI_NOT_FOUND || err.code == CLI_CANNOT_RUN ? err.code
                                                                                 : CLI_FAILED,
                         "%s", err.msg);
    }
    if (result.disk.msg[0])
        say_error(0, "%s; what was recorded until then stays, the program went on",
                  result.disk.msg);
    say_warnings(what.dir, result.warnings);
    if (!o.quiet)
        say_result(what.dir, &result);
    summary_deinit(&result.summary);
    return WIFSIGNALED(result.wait_status) ? 128 + WTERMSIG(result.wait_status)
                                           : WEXITSTATUS(result.wait_status);
}
