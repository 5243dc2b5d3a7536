/* main.c - drdebug's verbs, and the way to them.
 *
 * SPDX-License-Identifier: MIT
 *
 * The table is the one list of verbs: help, the usage lines and the tests read it. A verb without a
 * function is part of the command line's contract but not of this version.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

const struct verb cli_verbs[] = {
    {"run", "[OPTION...] [--] PROG ARG...", "run a program under the engine, without recording",
     run_main, run_details},
    {"record", "[OPTION...] [--] PROG ARG...", "record a program's execution as a pinball",
     record_main, record_details},
    {"replay", "[OPTION...] [DIR]", "replay a pinball", replay_main, replay_details},
    {"debug", "[OPTION...] [DIR] [-- GDB-ARG...]", "start GDB on a replay", debug_main,
     debug_details},
    {"serve", "[OPTION...] [DIR]", "serve a replay to a GDB of your own", serve_main,
     serve_details},
    {"live", "[--] PROG ARG...", "start GDB on a running program that can be recorded", NULL, NULL},
    {"info", "[OPTION...] [DIR]", "say what a pinball holds", info_main, info_details},
    {"ls", "DIR", "list the processes in a pinball", NULL, NULL},
    {"verify", "[OPTION...] [DIR]", "check a pinball for damage, and its replay", verify_main,
     verify_details},
    {"pack", "[OPTION...] [DIR]", "make a pinball portable", pack_main, pack_details},
    {"cut", "[DIR] --from POSITION [--to POSITION] -o DIR2", "make a recording of a part of one",
     cut_main, cut_details},
    {"trace", "[OPTION...] [DIR]", "collect the def/use trace of a pinball", trace_main,
     trace_details},
    {"slice", "[OPTION...] DIR CRITERION", "say why a value is what it is", slice_main,
     slice_details},
    {"relog", "DIR --slice NAME -o DIR2", "make a pinball that replays only a slice", NULL, NULL},
    {"maple", "[OPTION...] [--] PROG ARG...", "expose a concurrency bug and record it", NULL, NULL},
    {"convert", "--from intel|--to intel DIR DIR2", "convert a pinball from or to Intel's form",
     NULL, NULL},
    {"gui", "[DIR | -- PROG ARG...]", "open the window", NULL, NULL},
    {"help", "[VERB]", "explain a verb, or list them all", help_main, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct verb *cli_find_verb(const char *name)
{
    for (const struct verb *v = cli_verbs; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

static int main_option(const char *option)
{
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
        return help_main(1, NULL);
    if (strcmp(option, "--version") == 0)
        return help_version();
    say_error(CLI_USAGE, "%s: unknown option", option);
    say_hint("options follow the verb; `drdebug help` lists the verbs");
    return CLI_USAGE;
}

int main(int argc, char *argv[])
{
    const struct verb *verb;

    if (argc < 2) {
        say_error(CLI_USAGE, "no verb given");
        say_hint("`drdebug run PROG` runs a program; `drdebug help` lists the verbs");
        return CLI_USAGE;
    }
    if (argv[1][0] == '-')
        return main_option(argv[1]);

    verb = cli_find_verb(argv[1]);
    if (!verb) {
        say_error(CLI_USAGE, "%s: unknown verb", argv[1]);
        say_hint("`drdebug help` lists the verbs");
        return CLI_USAGE;
    }
    if (argc > 2 && strcmp(argv[2], "--help") == 0)
        return help_verb(verb->name);
    if (!verb->main)
        return say_error(CLI_FAILED, "%s: not in this version", verb->name);
    return verb->main(argc - 1, argv + 1);
}
