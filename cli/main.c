/* main.c - drdebug's verbs, and the way to them.
 *
 * SPDX-License-Identifier: MIT
 *
 * verbs.def is the one list of verbs: help, the usage lines, the completion and the tests read it.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

const struct verb cli_verbs[] = {
#define VERB(name, args, summary)  {#name, args, summary, name##_main, name##_details},
#define LATER(name, args, summary) {#name, args, summary, NULL, NULL},
#include "cli/verbs.def"
#undef VERB
#undef LATER
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
