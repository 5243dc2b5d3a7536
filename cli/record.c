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
#include <inttypes.h>
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
#include "cli/input.h"
#include "cli/newest.h"
#include "cli/outcome.h"
#include "cli/places.h"
#include "cli/retry.h"
#include "engine/host/launch.h"
#include "logger/group.h"
#include "logger/recorder.h"
#include "logger/trigger.h"
#include "pinball/pinball.h"
#include "pinball/record.h"
#include "pinball/ring.h"
#include "pinball/text.h"
#include "pinball/writer.h"

const char record_details[] =
    "  -o DIR             the pinball's directory; default NAME.pinball, with a number if that is\n"
    "                     there\n"
#define SCHEDULE(name)
#define SCHEDULE_OPTION(name, help) help
#include "engine/sched/schedules.def"
#undef SCHEDULE
    "  --keep WHICH       keep the recording only if the program ends so: failed (by a signal or with a\n"
    "                     status other than 0), status:N or signal:NAME; may be repeated\n"
    "  --retry LIMIT      run the program again until a run is kept: N runs at most, or those that\n"
    "                     begin within a time, as in 300s or 10m\n"
    "  --from TRIGGER     record only a part of the run, from here on (see below); may be repeated, with\n"
    "                     --to: NAME.1.pinball, NAME.2.pinball and so on\n"
    "  --to TRIGGER       ... up to here; then the program goes on without being recorded\n"
    "  --length N         ... or N instructions of the first thread long\n"
    "  --stop             end the program where the part ends\n"
    "  -q, --quiet        do not say at the end what was recorded\n"
    "  --no-link          do not link translated blocks directly (slower; for comparison)\n"
    "  --cache-size SIZE  limit the code cache to SIZE bytes per arena; K and M are understood\n"
    "  --help             print this\n"
    "\n"
    "TRIGGER, which stands before what it names:\n" TRIGGER_HELP "\n"
    "The program runs with its own input, output and terminal. The exit status is its own, 128+N if\n"
    "signal N ended it; of several runs, that of the last one; 127 if there is no such program, 126 if\n"
    "it cannot be run. Where there is no room for a recording it runs all the same, unless --retry was\n"
    "given. Its threads take turns; its child processes are not recorded.\n";

enum {
    OPT_SCHEDULE = 1,
    OPT_KEEP,
    OPT_RETRY,
    OPT_FROM,
    OPT_TO,
    OPT_LENGTH,
    OPT_STOP,
    OPT_QUIET,
    OPT_NO_LINK,
    OPT_CACHE_SIZE,
    OPT_ENGINE,
    OPT_HELP
};

static const struct option long_options[] = {
#define SCHEDULE(name)
#define SCHEDULE_OPTION(name, help) {#name, optional_argument, NULL, OPT_SCHEDULE},
#include "engine/sched/schedules.def"
#undef SCHEDULE
    {"keep", required_argument, NULL, OPT_KEEP},
    {"retry", required_argument, NULL, OPT_RETRY},
    {"from", required_argument, NULL, OPT_FROM},
    {"to", required_argument, NULL, OPT_TO},
    {"length", required_argument, NULL, OPT_LENGTH},
    {"stop", no_argument, NULL, OPT_STOP},
    {"quiet", no_argument, NULL, OPT_QUIET},
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
    struct retry retry;
    struct trigger_region region;                        /* parts 0: the whole run */
    const char *from[TRIGGER_PARTS], *to[TRIGGER_PARTS]; /* the same in words; NULL: not given */
    unsigned froms, tos;                                 /* so many were given */
    uint64_t length;
    bool stops;
    const char *dirs[TRIGGER_PARTS]; /* of the parts */
    struct places places;
    struct engine_options engine;
};

static int parse_schedule(struct record_options *o, const char *name, const char *text)
{
    o->schedule = name;
    if (!text) {
        if (getrandom(&o->seed, sizeof o->seed, 0) != (ssize_t)sizeof o->seed)
            o->seed = 1;
        return 0;
    }
    if (text_number(text, &o->seed))
        return say_error(-1, "record: --%s: '%s' is not a number", name, text);
    return 0;
}

static int parse_retry(struct record_options *o, int option, const char *text)
{
    struct err err;
    int bad = option == OPT_KEEP ? retry_add_keep(&o->retry, text, &err)
                                 : retry_limit(&o->retry, text, &err);
    return bad ? say_error(-1, "record: %s", err.msg) : 0;
}

static int parse_region(struct record_options *o, int option, const char *text)
{
    struct err err;
    const bool from = option == OPT_FROM;
    unsigned *given = from ? &o->froms : &o->tos;
    if (option == OPT_STOP) {
        o->stops = true;
        return 0;
    }
    if (option == OPT_LENGTH)
        return text_number(text, &o->length) || !o->length
                   ? say_error(-1, "record: --length: '%s' is not a number of instructions", text)
                   : 0;
    if (*given == TRIGGER_PARTS)
        return say_error(-1, "record: --%s: at most %d parts", from ? "from" : "to", TRIGGER_PARTS);
    struct trigger_part *part = &o->region.part[*given];
    (from ? o->from : o->to)[(*given)++] = text;
    if (trigger_parse(text, from, from ? &part->from : &part->to, &err))
        return say_error(-1, "record: --%s %s", from ? "from" : "to", err.msg);
    return 0;
}

static bool counts(const struct trigger *t)
{
    return t->kind == TRIGGER_TICKS || t->kind == TRIGGER_ICOUNT ||
           (t->kind == TRIGGER_FIRED && t->number);
}

/* What is known not to come in this order. */
static bool comes_before(const struct trigger *to, const struct trigger *from)
{
    if (to->kind != from->kind)
        return false;
    if (counts(to))
        return to->number < from->number && (to->kind != TRIGGER_FIRED || from->number);
    return to->kind != TRIGGER_FIRED && to->number == from->number &&
           !strcmp(to->text, from->text) && to->times < from->times;
}

/* A part has a begin; --to and --length alone mean one from the program's start on. */
static int check_region(struct record_options *o)
{
    const bool ends = o->tos || o->length;
    if (o->tos && o->length)
        return say_option("record", "--length", "--to is given, too");
    if (o->stops && !ends)
        return say_option("record", "--stop", "needs --to or --length");
    if (!o->froms && ends) {
        o->region.part[0].from = (struct trigger){.kind = TRIGGER_TICKS, .times = 1};
        o->region.parts = 1;
    } else {
        o->region.parts = o->froms;
    }
    if (o->tos > o->region.parts)
        return say_option("record", "--to", "given more often than --from");
    if (!o->length && o->tos + 1 < o->region.parts)
        return say_option("record", "--from", "only the last part may be without a --to");
    for (uint32_t i = 0; i < 2 * o->region.parts; i++) {
        o->region.part[i / 2].length = o->length;
        if (i && comes_before(trigger_of(&o->region, i), trigger_of(&o->region, i - 1)))
            return say_option("record", i % 2 ? "--to" : "--from",
                              i % 2 ? "comes before --from" : "comes before the --to before it");
    }
    return -1;
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
        case OPT_QUIET:
            o->quiet = true;
            break;
        case OPT_SCHEDULE:
            bad = parse_schedule(o, long_options[which].name, optarg);
            break;
        case OPT_KEEP:
        case OPT_RETRY:
            bad = parse_retry(o, c, optarg);
            break;
        case OPT_FROM:
        case OPT_TO:
        case OPT_LENGTH:
        case OPT_STOP:
            bad = parse_region(o, c, optarg);
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
        default:
            return say_bad_option("record", argv, c == ':' ? ':' : optopt, OPT_HELP);
        }
    }
    if (!bad && retry_wanted(&o->retry) && !o->retry.keeps)
        return say_option("record", "--retry", "needs --keep, which says which run is the last");
    return bad ? CLI_USAGE : check_region(o);
}

/* Several parts: NAME.1.pinball, NAME.2.pinball, ... The caller does not give them back. */
static void name_parts(struct record_options *o, const char *dir)
{
    o->dirs[0] = dir;
    for (unsigned i = 0; o->region.parts > 1 && i < o->region.parts; i++)
        o->dirs[i] = recorder_part_name(dir, i + 1);
}

static void say_warnings(const char *dir, uint32_t warnings)
{
    if (warnings & WARN_SHARED_MEMORY)
        say_error(0,
                  "%s: the program shared memory with another process; what that wrote is "
                  "seen at system calls only, and the replay may diverge",
                  dir);
    if (warnings & WARN_STOOD_STILL)
        say_error(0,
                  "%s: the kernel refused a copy of the program, which stood still while its "
                  "memory was written",
                  dir);
    if (warnings & WARN_UNSEEN_WRITE)
        say_error(0,
                  "%s: a mapped file changed in a way that is not recorded; the replay may "
                  "diverge",
                  dir);
}

/* The disk was full and the program went on: its end is not the recording's. */
static struct outcome outcome_of(const struct recorded *r)
{
    const bool signaled = WIFSIGNALED(r->wait_status);
    if (r->summary.reason == END_FULL)
        return (struct outcome){.reason = signaled ? END_SIGNAL : END_EXIT,
                                .status = signaled ? WTERMSIG(r->wait_status)
                                                   : WEXITSTATUS(r->wait_status)};
    return (struct outcome){.reason = r->summary.reason,
                            .status = r->summary.status,
                            .thread = r->summary.running,
                            .threads = r->summary.threads};
}

/* Which of several runs it was. */
static void say_run(const struct record_options *o)
{
    if (!retry_wanted(&o->retry))
        return;
    fprintf(stderr, "run %" PRIu64, o->retry.runs);
    if (o->schedule)
        fprintf(stderr, ", %s seed %" PRIu64, o->schedule, o->seed);
    fputc('\n', stderr);
}

static void say_kept(const struct record_options *o, const char *dir, const struct recorded *r)
{
    struct err err;
    char text[OUTCOME_TEXT];
    struct pinball *p = pinball_open(dir, &err);
    const struct outcome out = outcome_of(r);
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
    say_run(o);
}

static void say_not_kept(const struct record_options *o, const struct recorded *r)
{
    char text[OUTCOME_TEXT];
    const struct outcome out = outcome_of(r);
    outcome_text(&out, text, sizeof text);
    if (retry_wanted(&o->retry))
        fprintf(stderr, "%" PRIu64 " run%s, none kept; ", o->retry.runs,
                o->retry.runs == 1 ? "" : "s");
    else
        fputs("not kept; ", stderr);
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

static int not_started(const struct record_options *o, const struct recording *what,
                       const struct err *why)
{
    if (!retry_wanted(&o->retry) && recorder_no_room(why->code))
        return run_unrecorded(what, why);
    if (o->retry.runs > 1)
        return say_error(CLI_FAILED, "%s; %" PRIu64 " runs before that, none kept", why->msg,
                         o->retry.runs - 1);
    return say_error(why->code == CLI_NOT_FOUND || why->code == CLI_CANNOT_RUN ? why->code
                                                                               : CLI_FAILED,
                     "%s", why->msg);
}

static void say_end(const struct record_options *o, const char *dir, const struct recorded *r,
                    bool kept)
{
    if (kept && r->begin_lost) {
        say_error(
            0,
            "%s; the memory that the part begins with could not be written: nothing was recorded, "
            "the program went on",
            r->disk.msg);
        return;
    }
    if (kept && r->disk.msg[0])
        say_error(0, "%s; what was recorded until then stays, the program went on", r->disk.msg);
    if (kept)
        say_warnings(dir, r->warnings);
    if (!o->quiet && kept)
        say_kept(o, dir, r);
    else if (!o->quiet)
        say_not_kept(o, r);
}

static int status_of(const struct recorded *r)
{
    return WIFSIGNALED(r->wait_status) ? 128 + WTERMSIG(r->wait_status)
                                       : WEXITSTATUS(r->wait_status);
}

/* A part never began: there is no recording of it. */
static int say_missed(const struct record_options *o, const struct recorded *r, unsigned part)
{
    const int status = status_of(r);
    say_error(0, "record: the program ended before --from %s: %s was recorded", o->from[part],
              part ? "nothing more" : "nothing");
    return status ? status : CLI_FAILED;
}

/* What became of each part. Returns the status to end with. */
static int say_parts(const struct record_options *o, const struct recording *what,
                     const struct recorded *r, bool kept)
{
    const size_t parts = recorder_parts(what);
    for (unsigned i = 0; i < parts; i++) {
        if (what->region && !r[i].begun)
            return say_missed(o, r, i);
        say_end(o, what->dir[i], &r[i], kept);
        if (o->to[i] && !r[i].ended)
            say_error(0, "%s: the program ended before --to %s", what->dir[i], o->to[i]);
    }
    return r[parts - 1].ended && o->stops ? 0 : status_of(r);
}

/* One run. Returns -1 if there is to be another one, or the status to end with. */
static int run_once(struct record_options *o, struct recording *what, struct input *input)
{
    struct recorded result[TRIGGER_PARTS];
    const size_t parts = recorder_parts(what);
    struct err err;

    retry_begin_run(&o->retry);
    what->again = retry_wanted(&o->retry);
    what->seed = o->seed;
    int bad = what->again ? input_give(input, &err) : 0;
    if (bad || recorder_run(what, result, &err)) {
        input_take(input);
        return not_started(o, what, &err);
    }
    input_take(input);
    const bool missed = what->region && !result[0].begun;
    const bool kept = !missed && retry_keeps(&o->retry, result[0].wait_status);
    for (size_t i = 0; i < parts; i++)
        if (result[i].made && (!kept || result[i].begin_lost || (what->region && !result[i].begun)))
            writer_remove(what->dir[i]);
    const bool again = !kept && !group_interrupted() && retry_again(&o->retry);
    const int status = again ? -1 : say_parts(o, what, result, kept);
    for (size_t i = 0; i < parts; i++)
        summary_deinit(&result[i].summary);
    return status;
}

static int run_all(struct record_options *o, struct recording *what)
{
    struct input input = {.source = -1, .control = -1};
    struct err err;
    int status;

    if (retry_wanted(&o->retry) && input_open(&input, &err))
        return say_error(CLI_FAILED, "record: %s", err.msg);
    while ((status = run_once(o, what, &input)) < 0) {
        o->seed++;
        if (group_interrupted()) /* between two runs */
            return say_error(128 + group_interrupted(), "interrupted; %" PRIu64 " runs, none kept",
                             o->retry.runs);
    }
    return status;
}

static void say_hang(void)
{
    say_error(0, "all threads wait; only a signal can end this");
}

int record_main(int argc, char *argv[])
{
    struct record_options o = {.engine.verb = "record"};
    char path[PATH_MAX], dir[PATH_MAX];
    int status = parse(argc, argv, &o);

    if (status < 0)
        status = engine_options_program(&o.engine, argv += optind, path);
    if (status >= 0)
        return status;
    if (!o.dir)
        newest_name(argv[0], "", dir);
    name_parts(&o, o.dir ? o.dir : dir);
    o.places = (struct places){.region = &o.region, .from = o.from, .to = o.to, .quiet = o.quiet};
    struct recording what = {.version = cli_version,
                             .dir = o.dirs,
                             .path = path,
                             .argv = argv,
                             .options = o.engine.text,
                             .schedule = o.schedule,
                             .from = o.from,
                             .to = o.to,
                             .region = o.region.parts ? &o.region : NULL,
                             .stops = o.stops,
                             .places = places_find,
                             .loaded = places_loaded,
                             .arg = &o.places,
                             .hangs = !o.quiet && isatty(STDERR_FILENO) ? say_hang : NULL};
    return run_all(&o, &what);
}
