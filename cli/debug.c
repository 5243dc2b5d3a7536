/* debug.c - `drdebug debug`: start GDB on a replay.
 *
 * SPDX-License-Identifier: MIT
 *
 * This process becomes GDB, or waits for it if GDB is confined. GDB reads gdb/drdebug.py, which
 * this program carries along, from a descriptor that it inherits; the script then starts `drdebug
 * serve` and connects to it. Paths go to the script as Python literals in ASCII, so that they may
 * hold anything.
 */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/debug_confined.h"
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

extern const char debug_script[], debug_script_end[];

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

/* A descriptor for GDB to read the script from; -1 with errno set. */
static int open_script(void)
{
    const char *at = debug_script;
    int fd = memfd_create("drdebug.py", 0);

    while (fd >= 0 && at < debug_script_end) {
        ssize_t n = write(fd, at, (size_t)(debug_script_end - at));
        if (n <= 0)
            return -1;
        at += n;
    }
    return fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

static void put_bytes_literal(FILE *out, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";

    fputs("b'", out);
    for (; *text; text++)
        fprintf(out, strchr(plain, *text) ? "%c" : "\\x%02x", (unsigned char)*text);
    fputs("'", out);
}

/* GDB's command that loads the script and connects: to a stub that it starts, or to the one behind
 * descriptor `stub`, unless that is -1. NULL: no memory. */
static char *start_command(int script, const struct arguments *a, const char *self,
                           const char *pinball, int stub)
{
    char *command = NULL;
    size_t bytes;
    FILE *out = open_memstream(&command, &bytes);

    if (!out)
        return NULL;
    fprintf(out,
            "python import sys, types; "
            "drdebug = sys.modules['drdebug'] = types.ModuleType('drdebug'); "
            "exec(compile(open(%d, encoding='ascii').read(), 'drdebug.py', 'exec'), "
            "drdebug.__dict__); ",
            script);
    if (stub >= 0) {
        fprintf(out, "drdebug.connect(%d, '%s')", stub, a->where);
    } else {
        fputs("drdebug.connect([", out);
        put_bytes_literal(out, self);
        fputs(", b'serve', ", out);
        put_bytes_literal(out, pinball);
        fprintf(out, "], '%s')", a->where);
    }
    return fclose(out) == 0 ? command : NULL;
}

static int no_gdb(const char *name, int cause)
{
    say_error(CLI_FAILED, "%s: %s", name, cause == ENOENT ? "not found" : strerror(cause));
    say_hint("`apt install gdb` installs it on Debian; --gdb PROG names another");
    return CLI_FAILED;
}

/* Returns GDB's status, or why there is none. Unless GDB is confined, this process becomes GDB. */
static int run_gdb(const struct arguments *a, char *command)
{
    char *const first[] = {(char *)a->gdb, "-q", "-ex", command};
    enum { FIRST = sizeof first / sizeof first[0] };
    char **args = calloc(FIRST + a->gdb_arg_count + 1, sizeof *args);
    char path[PATH_MAX];
    struct err err;

    if (!args)
        return say_error(CLI_FAILED, "debug: %s", strerror(errno));
    memcpy(args, first, sizeof first);
    memcpy(args + FIRST, a->gdb_args, a->gdb_arg_count * sizeof *args);
    int cause = ENOENT, status = -1;
    bool found = program_find(a->gdb, path, &err) == 0 && access(path, X_OK) == 0;
    if (found && a->way) {
        status = debug_confined_run(a->way, path, args, &err);
        if (status < 0)
            status = say_error(CLI_FAILED, "debug: %s", err.msg);
    } else if (found) {
        execv(path, args);
        cause = errno;
    }
    free(args);
    return status < 0 ? no_gdb(a->gdb, cause) : status;
}

int debug_main(int argc, char *argv[])
{
    struct arguments a = {.where = "main", .gdb = "gdb"};
    char pinball[PATH_MAX], self[PATH_MAX] = "";
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
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return say_error(CLI_FAILED, "/proc/self/exe: %s", strerror(errno));
    int script = open_script();
    if (script < 0)
        return say_error(CLI_FAILED, "debug: drdebug.py: %s", strerror(errno));
    char *const server[] = {self, "serve", pinball, NULL};
    int stub = a.way ? debug_confined_serve(server, &err) : -1;
    if (a.way && stub < 0)
        return say_error(CLI_FAILED, "debug: %s", err.msg);
    char *command = start_command(script, &a, self, pinball, stub);
    if (!command)
        return say_error(CLI_FAILED, "debug: %s", strerror(errno));
    status = run_gdb(&a, command);
    free(command);
    return status;
}
