/* debug.c - `drdebug debug`: start GDB on a replay. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/debug_confined.h"
#include "cli/gdb_start.h"
#include "cli/newest.h"
#include "cli/program.h"
#include "pinball/pinball.h"

const char debug_details[] =
    "  --start            stay at the program's first instruction; by default, run to main\n"
    "  --end              go to the end of the recording\n"
    "  --gdb PROG         the GDB to start; by default gdb\n"
    "  --confined         GDB itself has no network and sees files read-only: for a stranger's recording,\n"
    "                     whose debug information GDB reads (needs Linux 6.12's Landlock, or bubblewrap)\n"
    "  --help             print this\n"
    "\n"
    "GDB-ARGs go to GDB, such as -tui, -i=mi or -ex COMMAND. Its commands work, those that go backwards\n"
    "(reverse-continue, reverse-step) included; `help pin` inside GDB lists drdebug's own. DIR is by\n"
    "default the newest *.pinball here.\n";

enum { OPT_START = 1, OPT_END, OPT_GDB, OPT_CONFINED, OPT_HELP };

struct arguments {
    const char *where; /* as drdebug.py's start() has it */
    const char *gdb;
    const char *way; /* --confined: as debug_confined.h has it; else NULL */
    char pinball[PATH_MAX];
    char **gdb_args; /* ends with NULL */
    size_t gdb_arg_count;
};

/* What follows `--` is GDB's; returns how many words are ours. */
static int split(int argc, char *argv[], struct arguments *a)
{
    int ours = 0;

    while (ours < argc && strcmp(argv[ours], "--") != 0)
        ours++;
    a->gdb_args = argv + (ours < argc ? ours + 1 : argc);
    a->gdb_arg_count = (size_t)(argv + argc - a->gdb_args);
    return ours;
}

/* Returns -1 to go on, or the status to end with. */
static int parse(int argc, char *argv[], struct arguments *a)
{
    static const struct option options[] = {{"start", no_argument, NULL, OPT_START},
                                            {"end", no_argument, NULL, OPT_END},
                                            {"gdb", required_argument, NULL, OPT_GDB},
                                            {"confined", optional_argument, NULL, OPT_CONFINED},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    struct err err;
    int c;

    opterr = 0;
    argc = split(argc, argv, a);
    while ((c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (c == OPT_START || c == OPT_END)
            a->where = c == OPT_START ? "start" : "end";
        else if (c == OPT_GDB)
            a->gdb = optarg;
        else if (c == OPT_CONFINED && (a->way = debug_confined_way(optarg, &err))[0] == 0)
            return say_error(CLI_FAILED, "debug: %s", err.msg);
        else if (c == OPT_HELP)
            return help_verb("debug");
        else if (c != OPT_CONFINED)
            return say_bad_option("debug", argv, c == ':' ? ':' : optopt, OPT_HELP);
    }
    int status = newest_or_named("debug", argc, argv, a->pinball);
    if (status == CLI_USAGE)
        say_hint("arguments for GDB follow `--`");
    return status;
}

enum { CHECKED_BYTES = 256 << 20 }; /* up to so much all sums are looked at, in a second at most */

/* This process says what is wrong with the pinball, not the stub below GDB. */
static int check_pinball(const char *path)
{
    struct err err;
    struct pinball *p = pinball_open(path, &err);

    if (!p)
        return say_error(CLI_FAILED, "%s", err.msg);
    int bad = pinball_bytes(p) < CHECKED_BYTES ? pinball_check(p, NULL, NULL, &err) : 0;
    pinball_close(p);
    return bad ? say_error(CLI_FAILED, "%s", err.msg) : 0;
}

int debug_main(int argc, char *argv[])
{
    struct arguments a = {.where = "main", .gdb = "gdb"};
    char pinball[PATH_MAX], self[PATH_MAX];
    struct err err;
    int status = parse(argc, argv, &a);

    if (status >= 0)
        return status;
    if (a.way && debug_confined_close(&err))
        return say_error(CLI_FAILED, "debug: %s", err.msg);
    if (check_pinball(a.pinball))
        return CLI_FAILED;
    if (!realpath(a.pinball, pinball))
        return say_error(CLI_FAILED, "%s: %s", a.pinball, strerror(errno));
    if (program_self(self, &err))
        return say_error(CLI_FAILED, "%s", err.msg);
    char *const server[] = {self, "serve", pinball, NULL};
    const struct gdb_start start = {.verb = "debug",
                                    .gdb = a.gdb,
                                    .where = a.where,
                                    .way = a.way,
                                    .server = server,
                                    .gdb_args = a.gdb_args,
                                    .gdb_arg_count = a.gdb_arg_count};
    return gdb_start(&start);
}
