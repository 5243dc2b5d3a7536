/* ask.c - `drdebug ask`: questions to a recording.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* sigaction */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ask/question.h"
#include "cli/cli.h"
#include "cli/newest.h"
#include "cli/numbers.h"
#include "cli/outcome.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/window.h"
#include "pinball/pinball.h"
#include "study/broker.h"
#include "trace/number.h"

const char ask_details[] =
    "QUESTION is one of\n"
#define QUESTION(name, function, needs, options, least, most, arguments, summary)                  \
    "  " name " " arguments "\n      " summary "\n"
#include "ask/questions.def"
#undef QUESTION
    "\n"
    "  --where COND        only where this C expression is true\n"
    "  --print EXPR,...    the values of these, too\n"
    "  --reads             only accesses that read\n"
    "  --writes            only accesses that write\n"
    "  --allocator A,F     functions of a pool, which allocate and free, too\n"
    "  --buckets N         divide the time by N\n"
    "  --format NAME       as another program reads it: lcov, callgrind, folded\n"
    "  --follow            evaluate the expression anew each time: pointers in it may change\n"
    "  --locksets          pairs without a common lock, too, whatever their order was\n"
    "  --thread N          only rows of this thread\n"
    "  --after POSITION    only rows from this moment on\n"
    "  --limit N           no more rows than that\n"
    "  --count             say only how many rows there are\n"
    "  --group-by C,C      count the rows with equal columns\n"
    "  --json              an object for each row\n"
    "  --csv               comma-separated values\n"
    "  --window FROM..TO   look at this part of the recording only\n"
    "  --trace FILE        use the trace that `drdebug trace -o FILE` made\n"
    "  --source-dir DIR    look for sources here, too; may be repeated\n"
    "  --help              print this\n"
    "\n"
    "Every row's position can be given to `pin goto` and `--at`. docs/ask.md explains the questions.\n";

enum {
    OPT_WHERE = 1,
    OPT_PRINT,
    OPT_READS,
    OPT_WRITES,
    OPT_ALLOCATOR,
    OPT_BUCKETS,
    OPT_FORMAT,
    OPT_LOCKSETS,
    OPT_FOLLOW,
    OPT_THREAD,
    OPT_AFTER,
    OPT_LIMIT,
    OPT_COUNT,
    OPT_GROUP_BY,
    OPT_JSON,
    OPT_CSV,
    OPT_WINDOW,
    OPT_TRACE,
    OPT_SOURCE_DIR,
    OPT_HELP,
};

static const struct option options[] = {
    {"where", required_argument, NULL, OPT_WHERE},
    {"print", required_argument, NULL, OPT_PRINT},
    {"reads", no_argument, NULL, OPT_READS},
    {"writes", no_argument, NULL, OPT_WRITES},
    {"allocator", required_argument, NULL, OPT_ALLOCATOR},
    {"buckets", required_argument, NULL, OPT_BUCKETS},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"locksets", no_argument, NULL, OPT_LOCKSETS},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"thread", required_argument, NULL, OPT_THREAD},
    {"after", required_argument, NULL, OPT_AFTER},
    {"limit", required_argument, NULL, OPT_LIMIT},
    {"count", no_argument, NULL, OPT_COUNT},
    {"group-by", required_argument, NULL, OPT_GROUP_BY},
    {"json", no_argument, NULL, OPT_JSON},
    {"csv", no_argument, NULL, OPT_CSV},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"source-dir", required_argument, NULL, OPT_SOURCE_DIR},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

/* Options that only some questions take: which. */
static const unsigned some[OPT_HELP + 1] = {
    [OPT_WHERE] = ASK_WHERE,   [OPT_PRINT] = ASK_PRINT,         [OPT_READS] = ASK_READS,
    [OPT_WRITES] = ASK_READS,  [OPT_ALLOCATOR] = ASK_ALLOCATOR, [OPT_BUCKETS] = ASK_BUCKETS,
    [OPT_FORMAT] = ASK_FORMAT, [OPT_LOCKSETS] = ASK_LOCKSETS,   [OPT_FOLLOW] = ASK_FOLLOW,
};

struct arguments {
    struct ask_given given;
    struct rows_options rows;
    struct study_options study;
    struct window window;
    bool used[OPT_HELP + 1];
    char in[PATH_MAX];
};

/* ---- the command line ---- */

static int set_position(struct arguments *a)
{
    struct err err;
    if (position_parse(optarg, &a->given.after, &err))
        return say_error(CLI_USAGE, "ask: --after %s", err.msg);
    return -1;
}

static int set_thread(struct arguments *a)
{
    uint64_t n;
    int status = numbers_option("ask", "thread", optarg, 1, UINT32_MAX, &n);
    a->rows.thread = (uint32_t)n;
    return status;
}

static int add_folder(struct arguments *a)
{
    return sourcefile_add(&a->study.places, optarg)
               ? say_error(CLI_USAGE, "ask: --source-dir: at most %d", SOURCEFILE_FOLDERS)
               : -1;
}

static int set_window(struct arguments *a)
{
    struct err err;
    if (window_parse(optarg, &a->window, &err))
        return say_error(CLI_USAGE, "ask: %s", err.msg);
    a->study.from = a->window.has_from ? &a->window.from : NULL;
    a->study.to = a->window.has_to ? &a->window.to : NULL;
    return -1;
}

/* Returns -1 to go on, or the status to end with. */
static int set(struct arguments *a, int c)
{
    switch (c) {
    case OPT_WHERE:
        a->given.where = optarg;
        return -1;
    case OPT_PRINT:
        a->given.print = optarg;
        return -1;
    case OPT_READS:
        a->given.reads = true;
        return -1;
    case OPT_WRITES:
        a->given.writes = true;
        return -1;
    case OPT_ALLOCATOR:
        a->given.allocator = optarg;
        return -1;
    case OPT_BUCKETS:
        return numbers_option("ask", "buckets", optarg, 1, 1000000, &a->given.buckets);
    case OPT_FORMAT:
        a->given.format = optarg;
        return -1;
    case OPT_LOCKSETS:
        a->given.locksets = true;
        return -1;
    case OPT_FOLLOW:
        a->given.follow = true;
        return -1;
    case OPT_THREAD:
        return set_thread(a);
    case OPT_AFTER:
        return set_position(a);
    case OPT_LIMIT:
        return numbers_option("ask", "limit", optarg, 1, UINT64_MAX, &a->rows.limit);
    case OPT_COUNT:
        a->rows.count = true;
        return -1;
    case OPT_GROUP_BY:
        a->rows.group = optarg;
        return -1;
    case OPT_JSON:
        a->rows.form = ROWS_JSON;
        return -1;
    case OPT_CSV:
        a->rows.form = ROWS_CSV;
        return -1;
    case OPT_WINDOW:
        return set_window(a);
    case OPT_TRACE:
        a->study.trace = optarg;
        return -1;
    case OPT_SOURCE_DIR:
        return add_folder(a);
    default:
        return help_verb("ask");
    }
}

static int unknown(const char *word)
{
    say_error(CLI_USAGE, "ask: %s: there is no such question", word);
    say_hint("`drdebug help ask` lists them");
    return CLI_USAGE;
}

/* DIR may be left out. A folder that is called like a question is given as ./NAME. */
static int find_question(struct arguments *a, int words, char **word)
{
    struct ask_given *g = &a->given;
    struct err err;
    if (!words)
        return say_error(CLI_USAGE, "ask: which question? `drdebug help ask` lists them");
    bool named = !ask_find(word[0]);
    if (named && words < 2)
        return unknown(word[0]);
    if (named)
        snprintf(a->in, sizeof a->in, "%s", word[0]);
    g->question = ask_find(word[named]);
    if (!g->question)
        return unknown(word[named]);
    g->word = word + named + 1;
    g->words = words - named - 1;
    if (!named && (g->question->options & ASK_PAIR) && g->words >= 2) { /* diff A B */
        named = true;
        snprintf(a->in, sizeof a->in, "%s", g->word++[0]);
        g->words--;
    }
    if (!named && newest_find(a->in, &err))
        return say_error(CLI_FAILED, "ask: %s", err.msg);
    g->pinball = a->in;
    return -1;
}

static int check_words(const struct arguments *a)
{
    const struct question *q = a->given.question;
    if (a->given.words < q->words_least || a->given.words > q->words_most)
        return say_error(CLI_USAGE, "ask: usage: drdebug ask [DIR] %s %s", q->name, q->arguments);
    if (a->used[OPT_WINDOW] && (q->options & ASK_PAIR))
        return say_error(CLI_USAGE, "ask: %s takes no --window: whole recordings are compared",
                         q->name);
    if (a->used[OPT_AFTER] && (q->options & ASK_WHOLE))
        return say_error(CLI_USAGE, "ask: %s takes no --after: --window leaves out what was before",
                         q->name);
    if (a->used[OPT_THREAD] && (q->options & ASK_EVERY))
        return say_error(CLI_USAGE, "ask: %s takes no --thread: it counts what all did", q->name);
    for (int i = 1; i < OPT_HELP; i++)
        if (a->used[i] && some[i] && !(some[i] & q->options))
            return say_error(CLI_USAGE, "ask: %s takes no --%s", q->name, options[i - 1].name);
    return -1;
}

static int parse(int argc, char *argv[], struct arguments *a)
{
    int c, status = -1;
    opterr = 0;
    while (status < 0 && (c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (c == ':' || c == '?')
            return say_bad_option("ask", argv, c == ':' ? ':' : optopt, OPT_HELP);
        a->used[c] = true;
        status = set(a, c);
    }
    if (status < 0)
        status = find_question(a, argc - optind, argv + optind);
    return status < 0 ? check_words(a) : status;
}

/* ---- the answer ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
    (void)sig;
    interrupted = 1;
}

static void catch_interrupt(void)
{
    sigaction(SIGINT, &(struct sigaction){.sa_handler = on_interrupt, .sa_flags = SA_RESTART},
              NULL);
}

static bool is_interrupted(void)
{
    return interrupted;
}

struct work {
    struct arguments *arguments;
    struct study *study, *other;
    struct progress *progress;
};

/* Most that cannot be answered is missing in the program's debug information. */
static int refuse(struct study *s, const struct err *err)
{
    const char *bare = s->source ? source_bare(s->source) : NULL;
    say_error(err->code == ASK_USAGE ? CLI_USAGE : CLI_FAILED, "ask: %s", err->msg);
    if (bare)
        say_hint("%s has no debug information", bare);
    return err->code == ASK_USAGE ? CLI_USAGE : CLI_FAILED;
}

/* A trace is of the last program that the process executed. */
static void note_exec(const struct work *w, struct rows *rows)
{
    if (study_replaced(w->study))
        rows_note(rows, "the program has replaced itself (exec): what it did before is not looked "
                        "at");
}

/* A process that was confined has lost the handler: it is set here. */
static int answer(void *arg)
{
    const struct work *w = arg;
    const struct arguments *a = w->arguments;
    struct err err = {.code = 0};
    catch_interrupt();
    if (study_analyse(w->study, &err) || (w->other && study_analyse(w->other, &err)))
        return say_error(CLI_FAILED, "%s", err.msg);
    struct rows *rows = rows_new(&a->rows, &err);
    struct asking q = {.given = &a->given,
                       .study = w->study,
                       .other = w->other,
                       .rows = rows,
                       .interrupted = is_interrupted,
                       .progress = progress_count,
                       .arg = w->progress};
    int end = rows ? ask_answer(&q, &err) : -1;
    progress_end(w->progress);
    if (end >= 0)
        note_exec(w, rows);
    if (end >= 0 && rows_finish(rows, interrupted, &err))
        end = -1;
    rows_free(rows);
    return end < 0 ? refuse(w->study, &err) : say_finish();
}

/* The moment from which on rows are wanted, in what they are ordered by. */
static int find_after(struct arguments *a, struct study *s, struct err *err)
{
    const struct position *at = &a->given.after;
    char text[POSITION_TEXT];
    struct replay_stop stop;
    int found = 1;
    if (!at->thread)
        return 0;
    if (s->trace) {
        found = number_find(s->trace, at, &a->rows.after, err);
    } else {
        struct replay *r = replay_new(s->pinball, &(struct replay_options){.output = NULL}, err);
        found = r && !replay_run(r, at, &stop, err) ? stop.why == STOP_POSITION : -1;
        if (found > 0)
            a->rows.after = stop.ticks;
        replay_free(r);
    }
    position_format(at, text);
    return found > 0   ? 0
           : found < 0 ? -1
                       : err_set(err, "--after %s: it never comes to that", text);
}

static unsigned terminal_width(void)
{
    struct winsize size = {.ws_col = 0};
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}

/* The other recording, of a question about two. 0, or the status to end with. */
static int open_other(struct arguments *a, struct work *w)
{
    struct study_options how = {.progress = progress_count, .arg = w->progress};
    struct err err = {.code = 0};
    const char *path = a->given.word[0];
    if (!(a->given.question->options & ASK_PAIR))
        return 0;
    progress_begin(w->progress, path);
    w->other = study_collect(path, &how, &err);
    progress_end(w->progress);
    return w->other
               ? 0
               : say_error(err.code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED, "%s", err.msg);
}

static int work(struct arguments *a)
{
    struct progress progress;
    struct err err = {.code = 0};
    progress_begin(&progress, a->in);
    a->study.progress = progress_count;
    a->study.arg = &progress;
    a->study.untraced = a->given.question->needs != ASK_TRACE;
    a->study.modules = a->given.question->needs == ASK_END;
    struct study *s = study_collect(a->in, &a->study, &err);
    progress_end(&progress);
    if (!s)
        return say_error(err.code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED, "%s", err.msg);
    if (!a->study.untraced)
        outcome_hint_changes(s->pinball);
    int status = find_after(a, s, &err) ? say_error(CLI_FAILED, "ask: %s", err.msg) : -1;
    struct work w = {a, s, NULL, &progress};
    if (status < 0 && (status = open_other(a, &w)) == 0)
        status = -1;
    if (status < 0) {
        progress_begin(&progress, a->given.question->name);
        catch_interrupt(); /* the broker, too, goes on until the answer is there */
        status = broker_run(s, &(struct broker_options){.other = w.other}, answer, &w, &err);
        if (status < 0)
            status = say_error(CLI_FAILED, "ask: %s", err.msg);
    }
    study_close(w.other);
    study_close(s);
    return status;
}

int ask_main(int argc, char *argv[])
{
    struct arguments a = {.rows = {.out = stdout}};
    int status = parse(argc, argv, &a);
    if (status >= 0)
        return status;
    a.rows.width = terminal_width();
    if (a.rows.form == ROWS_TABLE)
        pager_begin();
    status = work(&a);
    pager_end();
    return status;
}
