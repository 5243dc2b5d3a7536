/* slice_options.c - the command line of `drdebug slice`. SPDX-License-Identifier: MIT */
#include "cli/slice_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/newest.h"
#include "cli/numbers.h"

const char slice_details[] =
    "CRITERION is one of\n"
    "  EXPRESSION at WHERE         why it has its value there: total, p->next->key, a[i][j], *p, 'file.c'::x\n"
    "  %REGISTER at WHERE          likewise: %eax, %rbx, %xmm3, ...\n"
    "  0xADDRESS BYTES at WHERE    likewise for memory\n"
    "  WHAT, WHAT at WHERE         several of these together\n"
    "  uses of FILE:LINE           all that the line uses\n"
    "  last write of WHAT          what the last instruction that wrote it used; `at WHERE` may follow\n"
    "WHERE is FILE:LINE or FUNCTION (when that line is done), *ADDRESS, *START *END (when what is there is\n"
    "done), a position like T1:2045:401136, or end. `thread N` and `frame N` may follow: the expression is then\n"
    "what it means in this thread and frame, 0 being the innermost; they are numbered as GDB does. `instance N`\n"
    "is the Nth time that the line was reached.\n"
    "\n"
    "  --forward          what depends on its value, instead of what it depends on\n"
    "  --to CRITERION     what leads from the first criterion to this one, which may be `failure`\n"
    "  --at failure       the criterion that the crash, abort, failed assertion, sanitizer's report, deadlock\n"
    "                     or status suggests\n"
    "  --of-output PATTERN  the last line of output that has this in it: /REGEX/, a glob, or a part of it\n"
    "  --instance N       the Nth time that the line was reached; by default the last\n"
    "  --thread N         in thread N; by default in any\n"
    "  --thin             follow values only: not addresses, not control\n"
    "  --data             follow values and addresses, not control\n"
    "  --prune WHAT       do not follow what VARIABLE, FUNCTION::VARIABLE, %REGISTER, `0xADDRESS BYTES`,\n"
    "                     0xFROM..0xTO or `EXPRESSION at WHERE` carries; may be repeated\n"
    "  --minus CRITERION  without what the slice of this one has, too: that of a value that is right\n"
    "  --common CRITERION only what both have\n"
    "  --plus CRITERION   what either of them has\n"
    "  --correct CRITERION  its value is right: without what cannot be wrong then; also POSITION:EXPRESSION\n"
    "  --correct-strictly CRITERION  the same, by operations on one variable and constants alone\n"
    "  --no-prune         do not look through saved and restored registers\n"
    "  --max-save N       saves looked for at a function's begin; by default 10\n"
    "  --stack-pointer    follow the stack pointer, too\n"
    "  --relocated        follow what the dynamic loader made read-only, too\n"
    "  --window FROM..TO  look at this part of the recording only\n"
    "  --only-thread N,N  show lines of these threads only\n"
    "  --only-file GLOB   show lines of such files only; may be repeated, like the others\n"
    "  --only-module GLOB show lines of such modules only\n"
    "  --source-dir DIR   look for sources here, too; of a stranger's recording only here and in the pinball;\n"
    "                     FROM=DIR: names that begin with FROM are here; may be repeated\n"
    "  --trace FILE       use the trace that `drdebug trace -o FILE` made\n"
    "  --lines N          print at most N lines; by default 50\n"
    "  --full             print all lines by their distance, without the story\n"
    "  --all              print every instruction, those of libraries, too\n"
#define SLICE_FORMAT(option, way, nodes, whole, writer, help) help
#include "cli/slice_formats.def"
#undef SLICE_FORMAT
    "  --values           print what flowed, too: a replay looks at it\n"
    "  --instances        with the story: the values of all executions that a row stands for\n"
    "  --steps            with --json: all statements of the slice in the order of their execution, too\n"
    "  -o NAME            keep the slice with the pinball, under this name\n"
    "  --list             list the slices that were kept\n"
    "  --show NAME        print one of them\n"
    "  --delete NAME      delete one of them\n"
    "  --help             print this\n"
    "\n"
    "A slice is all that a value depends on, across threads: who computed it, from what, and which\n"
    "branches decided that. The story tells it in ten rows at the most, the nearest and oddest causes\n"
    "first; the rest follows by its distance, a row for each function. Code without source is shown at\n"
    "the call that led there.\n";

enum {
    OPT_AT = 1,
    OPT_OF_OUTPUT,
    OPT_FORWARD,
    OPT_TO,
    OPT_PRUNE,
    OPT_SETS, /* a number for each of enum sets_how */
    OPT_ONLY_THREAD = OPT_SETS + SETS_STRICT + 1,
    OPT_ONLY_FILE,
    OPT_ONLY_MODULE,
    OPT_INSTANCE,
    OPT_THREAD,
    OPT_THIN,
    OPT_DATA,
    OPT_NO_PRUNE,
    OPT_MAX_SAVE,
    OPT_STACK_POINTER,
    OPT_RELOCATED,
    OPT_WINDOW,
    OPT_SOURCE_DIR,
    OPT_TRACE,
    OPT_LINES,
    OPT_ALL,
    OPT_FULL,
    OPT_STEPS,
    OPT_VALUES,
    OPT_INSTANCES,
    OPT_LIST,
    OPT_SHOW,
    OPT_DELETE,
    OPT_HELP,
    OPT_FORMATS, /* a number for each of the formats */
};

/* How a format is asked for. */
enum { PRINTED = no_argument, TO_FILE = required_argument };

static const struct option options[] = {
    {"at", required_argument, NULL, OPT_AT},
    {"of-output", required_argument, NULL, OPT_OF_OUTPUT},
    {"forward", no_argument, NULL, OPT_FORWARD},
    {"to", required_argument, NULL, OPT_TO},
    {"prune", required_argument, NULL, OPT_PRUNE},
    {"minus", required_argument, NULL, OPT_SETS + SETS_MINUS},
    {"common", required_argument, NULL, OPT_SETS + SETS_COMMON},
    {"plus", required_argument, NULL, OPT_SETS + SETS_PLUS},
    {"correct", required_argument, NULL, OPT_SETS + SETS_CORRECT},
    {"correct-strictly", required_argument, NULL, OPT_SETS + SETS_STRICT},
    {"only-thread", required_argument, NULL, OPT_ONLY_THREAD},
    {"only-file", required_argument, NULL, OPT_ONLY_FILE},
    {"only-module", required_argument, NULL, OPT_ONLY_MODULE},
    {"instance", required_argument, NULL, OPT_INSTANCE},
    {"thread", required_argument, NULL, OPT_THREAD},
    {"thin", no_argument, NULL, OPT_THIN},
    {"data", no_argument, NULL, OPT_DATA},
    {"no-prune", no_argument, NULL, OPT_NO_PRUNE},
    {"max-save", required_argument, NULL, OPT_MAX_SAVE},
    {"stack-pointer", no_argument, NULL, OPT_STACK_POINTER},
    {"relocated", no_argument, NULL, OPT_RELOCATED},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"source-dir", required_argument, NULL, OPT_SOURCE_DIR},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"lines", required_argument, NULL, OPT_LINES},
    {"all", no_argument, NULL, OPT_ALL},
    {"full", no_argument, NULL, OPT_FULL},
    {"steps", no_argument, NULL, OPT_STEPS},
    {"values", no_argument, NULL, OPT_VALUES},
    {"instances", no_argument, NULL, OPT_INSTANCES},
    {"list", no_argument, NULL, OPT_LIST},
    {"show", required_argument, NULL, OPT_SHOW},
    {"delete", required_argument, NULL, OPT_DELETE},
    {"help", no_argument, NULL, OPT_HELP},
#define SLICE_FORMAT(option, way, ...) {#option, way, NULL, OPT_FORMATS + SLICE_FORMAT_##option},
#include "cli/slice_formats.def"
#undef SLICE_FORMAT
    {NULL, 0, NULL, 0},
};

static int add_word(const char *option, const char **list, size_t *count, size_t most)
{
    if (*count == most)
        return say_error(CLI_USAGE, "slice: --%s: no more than %zu of them", option, most);
    list[(*count)++] = optarg;
    return -1;
}

static int add_set(enum sets_how how, struct sets *sets)
{
    if (sets->terms == SETS_MOST)
        return say_error(CLI_USAGE, "slice: %s: no more than %d of its kind", sets_option(how),
                         SETS_MOST);
    sets->term[sets->terms].how = how;
    sets->term[sets->terms++].text = optarg;
    return -1;
}

/* What narrows a slice. Returns -1 to go on, -2: it is another option. */
static int set_limit(int c, struct slice_options_given *a)
{
    struct report_limits *l = &a->limits;
    if (c >= OPT_SETS && c <= OPT_SETS + SETS_STRICT)
        return add_set((enum sets_how)(c - OPT_SETS), &a->sets);
    switch (c) {
    case OPT_TO:
        a->to = optarg;
        return -1;
    case OPT_OF_OUTPUT:
        a->of_output = optarg;
        return -1;
    case OPT_PRUNE:
        return add_word("prune", a->prune, &a->prunes, PRUNING_MOST);
    case OPT_ONLY_THREAD:
        return numbers_threads("slice", optarg, l->thread, &l->threads, REPORT_LIMITS);
    case OPT_ONLY_FILE:
        return add_word("only-file", l->file, &l->files, REPORT_LIMITS);
    case OPT_ONLY_MODULE:
        return add_word("only-module", l->module, &l->modules, REPORT_LIMITS);
    case OPT_SOURCE_DIR:
        return sourcefile_add(&a->study.places, optarg)
                   ? say_error(CLI_USAGE, "slice: --source-dir: no more than %d of them",
                               SOURCEFILE_FOLDERS)
                   : -1;
    default:
        return -2;
    }
}

/* Options with a value. Returns -1 to go on. */
static int set_value(int c, struct slice_options_given *a)
{
    struct err err;
    uint64_t n = 0;
    int status = -1;
    switch (c) {
    case OPT_AT:
        if (strcmp(optarg, "failure") != 0) {
            say_error(CLI_USAGE, "slice: --at %s: only `--at failure` is known", optarg);
            say_hint("places are part of the criterion: `VARIABLE at FILE:LINE`");
            return CLI_USAGE;
        }
        a->failure = true;
        break;
    case OPT_INSTANCE:
        return numbers_option("slice", "instance", optarg, 1, UINT64_MAX, &a->criterion.instance);
    case OPT_LINES:
        return numbers_option("slice", "lines", optarg, 1, UINT64_MAX, &a->lines);
    case OPT_THREAD:
        status = numbers_option("slice", "thread", optarg, 1, UINT32_MAX, &n);
        a->criterion.thread = (uint32_t)n;
        break;
    case OPT_MAX_SAVE:
        status = numbers_option("slice", "max-save", optarg, 1, 1 << 20, &n);
        a->criterion.slice.max_save = (unsigned)n;
        break;
    case OPT_WINDOW:
        if (window_parse(optarg, &a->window, &err))
            return say_error(CLI_USAGE, "slice: %s", err.msg);
        a->study.from = a->window.has_from ? &a->window.from : NULL;
        a->study.to = a->window.has_to ? &a->window.to : NULL;
        break;
    case OPT_SHOW:
        a->show = optarg;
        break;
    case OPT_DELETE:
        a->remove = optarg;
        break;
    case OPT_TRACE:
        a->study.trace = optarg;
        break;
    default:
        a->name = optarg;
    }
    return status;
}

static bool set_flag(int c, struct slice_options_given *a)
{
    struct slice_options *o = &a->criterion.slice;
    switch (c) {
    case OPT_FORWARD:
        return a->forward = true;
    case OPT_THIN:
        o->edges = SLICE_VALUE;
        return true;
    case OPT_DATA:
        o->edges = SLICE_VALUE | SLICE_ADDRESS;
        return true;
    case OPT_NO_PRUNE:
        return o->keep_saves = true;
    case OPT_STACK_POINTER:
        return o->stack_pointer = true;
    case OPT_RELOCATED:
        return o->relocated = true;
    case OPT_ALL:
        return a->all = true;
    case OPT_FULL:
        return a->full = true;
    case OPT_STEPS:
        return a->steps = true;
    case OPT_VALUES:
        return a->values = true;
    case OPT_INSTANCES:
        return a->values = a->instances = true;
    case OPT_LIST:
        return a->list = true;
    default:
        return false;
    }
}

/* The words of the criterion may be one argument or several. */
static int take_words(int argc, char *argv[], struct slice_options_given *a)
{
    const int status = newest_and_criterion("slice", argc, argv, a->in, a->text, sizeof a->text);
    const bool used = a->text[0]; /* for a criterion */
    if (status >= 0)
        return status;
    if (a->failure + (a->of_output != NULL) + used > 1)
        return say_error(CLI_USAGE, "slice: %s is a criterion: `%s` is another one",
                         a->failure ? "--at failure" : "--of-output",
                         used ? a->text : a->of_output);
    if (a->list || a->show || a->remove) {
        if (used || a->failure || a->of_output || a->name || a->forward || a->to ||
            a->list + !!a->show + !!a->remove > 1)
            return say_error(CLI_USAGE,
                             "slice: --list, --show and --delete take no criterion, one at a time");
        return -1;
    }
    if (a->sets.terms && (a->forward || a->to))
        return say_error(CLI_USAGE, "slice: %s is for what a value depends on, not with %s",
                         sets_option(a->sets.term[0].how), a->forward ? "--forward" : "--to");
    if (sets_any(&a->sets) && a->name)
        return say_error(CLI_USAGE, "slice: a part of a slice is not kept: -o without %s",
                         sets_option(a->sets.term[0].how));
    if (a->steps && !a->formats.as[SLICE_FORMAT_json])
        return say_error(CLI_USAGE, "slice: --steps goes with --json");
    if (a->forward && a->to)
        return say_error(CLI_USAGE, "slice: --forward is all that follows, --to what leads to one "
                                    "criterion: either of them");
    if (a->failure && (a->forward || a->to)) {
        say_error(CLI_USAGE, "slice: nothing follows from the failure that ended the recording");
        say_hint("`drdebug slice DIR VARIABLE at FILE:LINE --to failure` is what leads to it");
        return CLI_USAGE;
    }
    if (!a->failure && !a->of_output && !used) {
        say_error(CLI_USAGE, "slice: no criterion given");
        say_hint("`drdebug slice DIR VARIABLE at FILE:LINE`, or `drdebug slice DIR --at failure`");
        return CLI_USAGE;
    }
    if ((a->failure || (a->to && !strcmp(a->to, "failure"))) && a->study.to)
        return say_error(CLI_USAGE, "slice: the failure needs a window that is open at its end");
    a->criterion.text = a->failure || a->of_output ? NULL : a->text;
    return -1;
}

/* The command line; of a slice that is kept, the one that shows it. */
static void put_again(FILE *to, int argc, char *argv[], const struct slice_options_given *a)
{
    const struct report_limits *l = &a->limits;
    fputs("drdebug slice", to);
    if (a->name || (a->show && !a->prunes && !l->threads && !l->files && !l->modules)) {
        fprintf(to, "%s%s%s --show %s ", a->full ? " --full" : "", a->all ? " --all" : "",
                a->instances ? " --instances"
                : a->values  ? " --values"
                             : "",
                a->name ? a->name : a->show);
        json_shell_word(to, a->in);
        return;
    }
    for (int i = 1; i < argc + (optind == argc); i++) {
        fputc(' ', to);
        json_shell_word(to, i == optind ? a->in : argv[i]);
    }
}

static void set_again(int argc, char *argv[], struct slice_options_given *a)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return;
    put_again(to, argc, argv, a);
    if (!fclose(to) && bytes < sizeof a->again)
        memcpy(a->again, text, bytes + 1);
    free(text);
}

int slice_options_parse(int argc, char *argv[], struct slice_options_given *a)
{
    int c;
    opterr = 0;
    a->lines = 50;
    while ((c = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
        if (c == OPT_HELP)
            return help_verb("slice");
        if (c == ':' || c == '?')
            return say_bad_option("slice", argv, c == ':' ? ':' : optopt,
                                  OPT_FORMATS + SLICE_FORMATS - 1);
        if (c >= OPT_FORMATS && c < OPT_FORMATS + SLICE_FORMATS) {
            a->formats.as[c - OPT_FORMATS] = optarg ? optarg : "";
            continue;
        }
        if (set_flag(c, a))
            continue;
        int status = set_limit(c, a);
        if (status == -2)
            status = set_value(c, a);
        if (status >= 0)
            return status;
    }
    int status = take_words(argc, argv, a);
    set_again(argc, argv, a);
    return status;
}
