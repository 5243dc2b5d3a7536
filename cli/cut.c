/* cut.c - `drdebug cut`: a part of a recording as a recording.
 *
 * SPDX-License-Identifier: MIT
 */
#include "replayer/cut.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/newest.h"
#include "cli/outcome.h"
#include "pinball/pinball.h"
#include "replayer/replay.h"

const char cut_details[] =
    "  --from POSITION    the part begins here, before this instruction\n"
    "  --to POSITION      it ends here; without it, where the recording ends\n"
    "  -o DIR             write it to DIR, which must not exist\n"
    "  --help             print this\n"
    "\n"
    "The part is a recording like any other, and a position means the same moment in both. It begins\n"
    "with the memory and the registers of all threads, so what was before is not needed to replay it.\n";

enum { OPT_FROM = 1, OPT_TO, OPT_HELP };

struct arguments {
    struct position from, to;
    bool has_from, has_to;
    char in[PATH_MAX];
    const char *out;
};

/* Returns -1 to go on, or the status to end with. */
static int parse(int argc, char *argv[], struct arguments *a)
{
    static const struct option options[] = {{"from", required_argument, NULL, OPT_FROM},
                                            {"to", required_argument, NULL, OPT_TO},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    struct err err;
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
        if ((c == OPT_FROM || c == OPT_TO) &&
            position_parse(optarg, c == OPT_FROM ? &a->from : &a->to, &err))
            return say_error(CLI_USAGE, "cut: %s", err.msg);
        a->has_from |= c == OPT_FROM;
        a->has_to |= c == OPT_TO;
        if (c == 'o')
            a->out = optarg;
        else if (c == OPT_HELP)
            return help_verb("cut");
        else if (c != OPT_FROM && c != OPT_TO)
            return say_bad_option("cut", argv, c == ':' ? ':' : optopt, OPT_HELP);
    }
    if (!a->has_from || !a->out)
        return say_error(CLI_USAGE, "cut: %s", a->out ? "--from is missing" : "-o is missing");
    return newest_or_named("cut", argc, argv, a->in);
}

static void message(void *arg, const char *line)
{
    (void)arg;
    say_line(line);
}

int cut_main(int argc, char *argv[])
{
    struct arguments a = {.in = ""};
    struct err err = {.code = 0};
    int status = parse(argc, argv, &a);

    if (status >= 0)
        return status;
    struct pinball *p = pinball_open(a.in, &err);
    if (!p)
        return say_error(CLI_FAILED, "%s", err.msg);
    const struct cut_options options = {
        .from = &a.from, .to = a.has_to ? &a.to : NULL, .message = message};
    int bad = cut(p, a.out, &options, &err);
    pinball_close(p);
    if (bad)
        return say_error(err.code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED, "cut: %s",
                         err.msg);
    return info_summary(a.out);
}
