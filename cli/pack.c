/* pack.c - `drdebug pack`: make a pinball portable.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/pack.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/newest.h"
#include "cli/outcome.h"
#include "cli/progress.h"

const char pack_details[] =
    "  -o FILE            write to FILE, which must not exist; by default NAME.packed.pinball\n"
    "  --sources          add the source files that the debug information names, if they are here\n"
    "  --source-dir DIR   look for them here, too; of a stranger's recording only here; may be repeated\n"
    "  --no-debug         do not add separate debug files found under /usr/lib/debug\n"
    "  --help             print this\n"
    "\n"
    "Makes one file of a pinball, to be sent elsewhere; every verb reads it in place of DIR. All sums\n"
    "are checked first.\n";

enum { OPT_SOURCES = 1, OPT_SOURCE_DIR, OPT_NO_DEBUG, OPT_HELP };

struct arguments {
    struct pack_options options;
    char in[PATH_MAX];
    char out[PATH_MAX];
};

/* NAME.pinball: NAME.packed.pinball, with a number if that is there. */
static void name_output(struct arguments *a)
{
    static const char suffix[] = ".pinball";
    size_t n = strlen(a->in), m = sizeof suffix - 1;

    while (n > 1 && a->in[n - 1] == '/')
        n--;
    if (n > m && strncmp(a->in + n - m, suffix, m) == 0)
        n -= m;
    snprintf(a->out, sizeof a->out, "%.*s.packed.pinball", (int)n, a->in);
    for (int i = 2; access(a->out, F_OK) == 0 && i < 10000; i++)
        snprintf(a->out, sizeof a->out, "%.*s.packed.%d.pinball", (int)n, a->in, i);
}

/* Returns -1 to go on, or the status to end with. */
static int parse(int argc, char *argv[], struct arguments *a)
{
    static const struct option options[] = {{"sources", no_argument, NULL, OPT_SOURCES},
                                            {"source-dir", required_argument, NULL, OPT_SOURCE_DIR},
                                            {"no-debug", no_argument, NULL, OPT_NO_DEBUG},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    int c;

    opterr = 0;
    a->options.debug = true;
    while ((c = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
        if (c == OPT_SOURCES)
            a->options.sources = true;
        else if (c == OPT_SOURCE_DIR && sourcefile_add(&a->options.places, optarg))
            return say_error(CLI_USAGE, "pack: --source-dir: no more than %d of them",
                             SOURCEFILE_FOLDERS);
        else if (c == OPT_SOURCE_DIR)
            continue;
        else if (c == OPT_NO_DEBUG)
            a->options.debug = false;
        else if (c == 'o')
            snprintf(a->out, sizeof a->out, "%s", optarg);
        else if (c == OPT_HELP)
            return help_verb("pack");
        else
            return say_bad_option("pack", argv, c == ':' ? ':' : optopt, OPT_HELP);
    }
    int status = newest_or_named("pack", argc, argv, a->in);
    if (status < 0 && a->out[0] == '\0')
        name_output(a);
    return status;
}

static int report(const char *path)
{
    struct err err;
    struct pinball *p = pinball_open(path, &err);
    unsigned debug = 0, sources = 0;
    char text[OUTCOME_BYTES];

    if (!p)
        return say_error(CLI_FAILED, "%s", err.msg);
    for (uint32_t n = 0; n < pinball_files(p); n++) {
        debug += pinball_file(p, n)->kind == KEPT_DEBUG;
        sources += pinball_file(p, n)->kind == KEPT_SOURCE;
    }
    plain_printf(stdout, "%s: %s, %u debug file%s, %u source file%s\n", path,
                 outcome_bytes(text, pinball_bytes(p)), debug, debug == 1 ? "" : "s", sources,
                 sources == 1 ? "" : "s");
    pinball_close(p);
    return say_finish();
}

int pack_main(int argc, char *argv[])
{
    struct arguments a = {.in = ""};
    struct progress progress;
    struct err err;
    int status = parse(argc, argv, &a);

    if (status >= 0)
        return status;
    struct pinball *p = pinball_open(a.in, &err);
    if (!p)
        return say_error(CLI_FAILED, "%s", err.msg);
    if (a.options.sources && !pinball_is_own(p) && a.options.places.folders == 0)
        say_error(0, "%s: is a stranger's recording: sources are taken from --source-dir only",
                  a.in);
    progress_begin(&progress, a.in);
    a.options.progress = progress_show;
    a.options.arg = &progress;
    int bad = pack(p, a.out, &a.options, &err);
    progress_end(&progress);
    pinball_close(p);
    return bad ? say_error(CLI_FAILED, "%s", err.msg) : report(a.out);
}
