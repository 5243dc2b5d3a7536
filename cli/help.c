/* help.c - `drdebug help`: the list of verbs, one verb in full, the version.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

const char cli_version[] = DRDEBUG_VERSION;
const char help_details[] = "Without a verb, all of them are listed.\n";

static void list_verbs(const char *title, bool available)
{
    printf("\n%s\n", title);
    for (const struct verb *v = cli_verbs; v->name; v++)
        if ((v->main != NULL) == available)
            printf("  %-8s %s\n", v->name, v->summary);
}

static int help_all(void)
{
    puts("usage: drdebug VERB [ARGUMENT...]");
    list_verbs("Verbs:", true);
    list_verbs("Not in this version:", false);
    puts(
        "\n`drdebug help VERB` and `drdebug VERB --help` explain one; `drdebug --version` prints the\n"
        "version; drdebug(1) is the manual page.");
    return say_finish();
}

int help_verb(const char *name)
{
    const struct verb *verb = cli_find_verb(name);

    if (!verb) {
        say_error(CLI_USAGE, "%s: unknown verb", name);
        say_hint("`drdebug help` lists the verbs");
        return CLI_USAGE;
    }
    printf("usage: drdebug %s %s\n\n", verb->name, verb->args);
    printf("%s: %s%s\n", verb->name, verb->summary, verb->main ? "" : " (not in this version)");
    if (verb->details)
        printf("\n%s", verb->details);
    return say_finish();
}

int help_version(void)
{
    printf("drdebug %s\n", cli_version);
    return say_finish();
}

int help_main(int argc, char *argv[])
{
    if (argc > 2)
        return say_error(CLI_USAGE, "help: takes one verb, not %d", argc - 1);
    return argc == 2 ? help_verb(argv[1]) : help_all();
}
