/* run.c - `drdebug run`: run a program under the engine, without recording.
 *
 * SPDX-License-Identifier: MIT
 *
 * A program that cannot be run is refused here, in one line and with the status that a shell would
 * give. Otherwise this very process becomes the program, so nobody has to pass its status and
 * signals on.
 */
#include <getopt.h>
#include <limits.h>

#include "base/err.h"
#include "cli/cli.h"
#include "cli/engine_options.h"
#include "engine/host/launch.h"

const char run_details[] =
    "  --stats            print the engine's figures on standard error when the program ends\n"
    "  --no-link          do not link translated blocks directly (slower; for comparison)\n"
    "  --cache-size SIZE  limit the code cache to SIZE bytes per arena; K and M are understood\n"
    "  --help             print this\n"
    "\n"
    "PROG is looked up as a shell does. The exit status is the program's own, 128+N in a shell if\n"
    "signal N ended it; 127 if there is no such program, 126 if it cannot be run.\n";

enum { OPT_STATS = 1, OPT_NO_LINK, OPT_CACHE_SIZE, OPT_ENGINE, OPT_HELP };

static const struct option long_options[] = {
    {"stats", no_argument, NULL, OPT_STATS},
    {"no-link", no_argument, NULL, OPT_NO_LINK},
    {"cache-size", required_argument, NULL, OPT_CACHE_SIZE},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

/* Returns -1 to go on with argv[optind], or the status to end with. */
static int parse(int argc, char *argv[], struct engine_options *options)
{
    int c, bad = engine_options_environment(options);

    opterr = 0;
    while (!bad && (c = getopt_long(argc, argv, "+:", long_options, NULL)) != -1) {
        switch (c) {
        case OPT_STATS:
            bad = engine_options_add(options, "stats=1");
            break;
        case OPT_NO_LINK:
            bad = engine_options_add(options, "link=0");
            break;
        case OPT_CACHE_SIZE:
            bad = engine_options_cache_size(options, optarg);
            break;
        case OPT_ENGINE:
            bad = engine_options_key(options, optarg);
            break;
        case OPT_HELP:
            return help_verb("run");
        default:
            return say_bad_option("run", argv, c == ':' ? ':' : optopt, OPT_HELP);
        }
    }
    return bad ? CLI_USAGE : -1;
}

int run_main(int argc, char *argv[])
{
    struct engine_options options = {.verb = "run"};
    struct launch launch = {.options = options.text};
    char path[PATH_MAX];
    struct err err;
    int status = parse(argc, argv, &options);

    if (status < 0)
        status = engine_options_program(&options, argv += optind, path);
    if (status >= 0)
        return status;
    launch.path = path;
    launch.argv = argv;
    launch_exec(&launch, &err);
    return say_error(CLI_CANNOT_RUN, "%s: %s", argv[0], err.msg);
}
