/* serve.c - `drdebug serve`: a replay for a GDB of the user's own.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/engine_options.h"
#include "cli/live_program.h"
#include "cli/newest.h"
#include "cli/program.h"
#include "debug/gdbstub/server.h"
#include "pinball/pinball.h"
#include "pinball/text.h"
#include "replayer/timeline.h"
#include "replayer/timeline_debuggee.h"

const char serve_details[] =
    "  --listen ADDRESS   wait for clients at unix:PATH, HOST:PORT or :PORT (of this machine only); by\n"
    "                     default the client is on standard input and output\n"
    "  --once             end when the first client leaves, or none comes within a minute\n"
    "  --memory MB        for going back quickly; by default a quarter of the machine's\n"
    "  -q, --quiet        without the program's output\n"
    "  --help             print this\n"
    "\n"
    "Speaks GDB's remote protocol, backwards execution included. In GDB:\n"
    "  target extended-remote | drdebug serve DIR\n"
    "  target extended-remote PATH        (or HOST:PORT)\n"
    "One client at a time. Ctrl-C is left to GDB; SIGTERM and SIGHUP end it.\n"
    "\n"
    "With --live, `serve --live [OPTION...] -- PROG ARG...` starts a program instead, records it, and\n"
    "stops before its first instruction:\n" LIVE_PROGRAM_HELP;

enum { OPT_LISTEN = 1, OPT_MEMORY, OPT_ENGINE, OPT_QUIET, OPT_ONCE, OPT_LIVE, OPT_HELP };

struct arguments {
    char dir[PATH_MAX], path[PATH_MAX], program[PATH_MAX];
    struct engine_options engine;
    struct pinball *pinball;
    uint64_t memory_bytes;
    struct server_options options;
    struct live_program live;
};

static int parse_memory(const char *text, uint64_t *bytes)
{
    uint64_t megabytes;

    if (text_number(text, &megabytes) || megabytes == 0 || megabytes > UINT64_MAX >> 20) {
        say_error(CLI_USAGE, "serve: --memory: '%s' is not a number of megabytes", text);
        return -1;
    }
    *bytes = megabytes << 20;
    return 0;
}

/* Returns -1 to go on, or the status to end with. */
static int parse(int argc, char *argv[], struct arguments *a)
{
    static const struct option options[] = {{"listen", required_argument, NULL, OPT_LISTEN},
                                            {"memory", required_argument, NULL, OPT_MEMORY},
                                            {"engine", required_argument, NULL, OPT_ENGINE},
                                            {"quiet", no_argument, NULL, OPT_QUIET},
                                            {"once", no_argument, NULL, OPT_ONCE},
                                            {"live", no_argument, NULL, OPT_LIVE},
                                            LIVE_PROGRAM_OPTIONS,
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    int c, bad = 0;

    opterr = 0;
    while (!bad && (c = getopt_long(argc, argv, ":qo:", options, NULL)) != -1) {
        if (c == OPT_LISTEN)
            a->options.listen = optarg;
        else if (c == OPT_MEMORY)
            bad = parse_memory(optarg, &a->memory_bytes);
        else if (c == OPT_ENGINE)
            bad = engine_options_key(&a->engine, optarg);
        else if (c == 'q' || c == OPT_QUIET)
            a->options.quiet = true;
        else if (c == OPT_ONCE)
            a->options.once = true;
        else if (c == OPT_LIVE)
            a->options.live = true;
        else if (live_program_takes(c))
            bad = live_program_option(&a->live, "serve", c, optarg);
        else if (c == OPT_HELP)
            return help_verb("serve");
        else
            return say_bad_option("serve", argv, c == ':' ? ':' : optopt, OPT_HELP);
    }
    if (bad)
        return CLI_USAGE;
    if (!a->options.live)
        return newest_or_named("serve", argc, argv, a->dir);
    return live_program_parse(&a->live, &a->engine, argv + optind);
}

static void print_message(void *arg, const char *line)
{
    (void)arg;
    say_error(0, "%s", line);
}

/* The recording, as the program that GDB looks into. */
static int open_recording(void *arg, const struct debuggee_listener *listener, struct debuggee *out,
                          struct err *err)
{
    const struct arguments *a = arg;
    const struct timeline_options options = {.listener = *listener,
                                             .engine = a->engine.len ? a->engine.text : NULL,
                                             .memory_bytes = a->memory_bytes};
    struct timeline *timeline = timeline_new(a->pinball, &options, err);

    if (!timeline)
        return -1;
    *out = timeline_debuggee(timeline);
    return 0;
}

/* For scripts inside GDB, which may be in another directory; empty where it cannot be known. */
static void name_paths(struct arguments *a)
{
    struct err err;

    if (program_self(a->program, &err))
        a->program[0] = 0;
    if (!realpath(a->dir, a->path))
        a->path[0] = 0;
    a->options.path = a->path;
    a->options.program = a->program;
}

static int open_program(void *arg, const struct debuggee_listener *listener, struct debuggee *out,
                        struct err *err)
{
    struct arguments *a = arg;

    if (live_program_open(&a->live, a->memory_bytes, listener, out, err))
        return -1;
    name_paths(a); /* its recording is there now */
    return 0;
}

static int end_pipe[2];

static void ask_to_end(int sig)
{
    int saved = errno;
    ssize_t written = write(end_pipe[1], "", 1);

    (void)sig;
    (void)written;
    errno = saved;
}

/* An interrupt of the terminal is GDB's to handle, and the replaying processes inherit that it is
 * ignored here. A second SIGTERM ends it at once. */
static int prepare_signals(void)
{
    struct sigaction end = {.sa_handler = ask_to_end, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

    if (pipe2(end_pipe, O_CLOEXEC | O_NONBLOCK))
        return say_error(-1, "serve: %s", strerror(errno));
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    return 0;
}

int serve_main(int argc, char *argv[])
{
    struct arguments a = {.engine.verb = "serve",
                          .options = {.open = open_recording, .message = print_message, .arg = &a}};
    struct err err;
    int status = parse(argc, argv, &a);

    if (status >= 0)
        return status;
    if (prepare_signals())
        return CLI_FAILED;
    a.options.end_fd = end_pipe[0];
    if (a.options.live) {
        a.options.open = open_program;
        live_program_io(&a.live, a.options.listen != NULL);
        snprintf(a.dir, sizeof a.dir, "%s", a.live.dir);
    } else if (!(a.pinball = pinball_open(a.dir, &err))) {
        return say_error(CLI_FAILED, "%s", err.msg);
    }
    name_paths(&a);
    status = CLI_DONE;
    if (server_run(&a.options, &err))
        status = say_error(err.code == CLI_NOT_FOUND || err.code == CLI_CANNOT_RUN ? err.code
                                                                                   : CLI_FAILED,
                           "%s", err.msg);
    else if (a.options.live)
        live_program_say(&a.live);
    pinball_close(a.pinball);
    return status;
}
