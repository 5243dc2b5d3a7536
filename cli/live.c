/* live.c - `drdebug live`: start GDB on a running program. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/engine_options.h"
#include "cli/gdb_start.h"
#include "cli/live_program.h"
#include "cli/program.h"

const char live_details[] = LIVE_PROGRAM_HELP
    "  --start            stay at the program's first instruction; by default, run to main\n"
    "  --gdb PROG         the GDB to start; by default gdb\n"
    "  --gdb-arg ARG      an argument for GDB, such as -tui; may be repeated\n"
    "  --help             print this\n"
    "\n"
    "The program runs, and is recorded from its start. So it goes back: reverse-continue, reverse-step\n"
    "and the `pin` commands work at every stop, as on a recording. Forwards, GDB stops once where the\n"
    "program is; the next `continue` lets it run. There it can be changed, and the recording has that.\n";

enum { OPT_START = 1, OPT_GDB, OPT_GDB_ARG, OPT_ENGINE, OPT_HELP };

struct arguments {
    struct live_program program;
    struct engine_options engine;
    struct gdb_start start;
    char **words; /* that the stub gets: options */
    size_t count;
};

static void add_word(struct arguments *a, const char *word)
{
    a->words[a->count++] = (char *)word;
}

static const char *name_of(const struct option *options, int value)
{
    while (options->val != value)
        options++;
    return options->name;
}

/* Returns -1 to go on with argv[optind], or the status to end with. */
static int parse(int argc, char *argv[], struct arguments *a)
{
    static const struct option options[] = {{"start", no_argument, NULL, OPT_START},
                                            {"gdb", required_argument, NULL, OPT_GDB},
                                            {"gdb-arg", required_argument, NULL, OPT_GDB_ARG},
                                            {"engine", required_argument, NULL, OPT_ENGINE},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            LIVE_PROGRAM_OPTIONS,
                                            {NULL, 0, NULL, 0}};
    int c, bad = 0;

    opterr = 0;
    while (!bad && (c = getopt_long(argc, argv, "+:o:", options, NULL)) != -1) {
        if (c == OPT_START) {
            a->start.where = "start";
        } else if (c == OPT_GDB) {
            a->start.gdb = optarg;
        } else if (c == OPT_GDB_ARG) {
            a->start.gdb_args[a->start.gdb_arg_count++] = optarg;
        } else if (c == OPT_ENGINE) {
            bad = engine_options_key(&a->engine, optarg);
            add_word(a, "--engine");
            add_word(a, optarg);
        } else if (live_program_takes(c)) {
            bad = live_program_option(&a->program, "live", c, optarg);
            if (c != 'o') {
                char *option = NULL;
                if (asprintf(&option, "--%s", name_of(options, c)) < 0)
                    return say_error(CLI_FAILED, "live: %s", strerror(errno));
                add_word(a, option);
                if (optarg)
                    add_word(a, optarg);
            }
        } else if (c == OPT_HELP) {
            return help_verb("live");
        } else {
            return say_bad_option("live", argv, c == ':' ? ':' : optopt, OPT_HELP);
        }
    }
    return bad ? CLI_USAGE : live_program_parse(&a->program, &a->engine, argv + optind);
}

int live_main(int argc, char *argv[])
{
    char self[PATH_MAX];
    struct err err;
    struct arguments a = {.engine.verb = "live",
                          .start = {.verb = "live",
                                    .gdb = "gdb",
                                    .where = "main",
                                    .live = true,
                                    .gdb_args = calloc((size_t)argc + 1, sizeof(char *))},
                          .words = calloc(2 * (size_t)argc + 16, sizeof(char *))};

    if (!a.words || !a.start.gdb_args)
        return say_error(CLI_FAILED, "live: %s", strerror(errno));
    if (program_self(self, &err))
        return say_error(CLI_FAILED, "%s", err.msg);
    add_word(&a, self);
    add_word(&a, "serve");
    add_word(&a, "--live");
    int status = parse(argc, argv, &a);
    if (status >= 0)
        return status;
    add_word(&a, "-o");
    add_word(&a, a.program.dir);
    add_word(&a, "--");
    for (char **word = a.program.argv; *word; word++)
        add_word(&a, *word);
    a.start.server = a.words;
    return gdb_start(&a.start);
}
