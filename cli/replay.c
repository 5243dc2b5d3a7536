/* replay.c - `drdebug replay` and `drdebug verify`. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replayer/replay.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/engine_options.h"
#include "cli/newest.h"
#include "cli/outcome.h"
#include "debug/messages.h"
#include "pinball/ends.h"
#include "pinball/pinball.h"
#include "pinball/statements.h"
#include "pinball/text.h"

const char replay_details[] =
    "  --until POS        stop at a position such as T1:2045:401136 and print the registers there\n"
    "  -q, --quiet        without the program's output\n"
    "  --status           end as the program did: its exit status, or 128 and the signal's number;\n"
    "                     125 if the replay fails or diverges, or does not come to the program's end\n"
    "  --no-link          do not link translated blocks directly (slower; for comparison)\n"
    "  --help             print this\n"
    "\n"
    "The program's standard output and error appear again; it touches nothing else. The status is 0\n"
    "when the recording was repeated, 3 when the replay diverged from it, 1 for a bad pinball.\n";

const char verify_details[] =
    "  --count            count instructions, too, and keep the number with the pinball (slow)\n"
    "  --help             print this\n"
    "\n"
    "Checks all sums, then replays and compares registers and memory with the recorded hashes. The\n"
    "status is 0 if all is well, 1 for a damaged pinball, 3 if the replay diverged.\n";

enum { OPT_UNTIL = 1, OPT_STATUS, OPT_COUNT, OPT_QUIET, OPT_NO_LINK, OPT_ENGINE, OPT_HELP };

static const struct option long_options[] = {
    {"until", required_argument, NULL, OPT_UNTIL}, {"status", no_argument, NULL, OPT_STATUS},
    {"count", no_argument, NULL, OPT_COUNT},       {"quiet", no_argument, NULL, OPT_QUIET},
    {"no-link", no_argument, NULL, OPT_NO_LINK},   {"engine", required_argument, NULL, OPT_ENGINE},
    {"help", no_argument, NULL, OPT_HELP},         {NULL, 0, NULL, 0},
};

struct replay_args {
    const char *verb, *dir;
    bool quiet, count, has_until;
    bool as_program; /* --status */
    struct position until;
    struct engine_options engine;
    char newest[PATH_MAX];
};

static int parse(int argc, char *argv[], struct replay_args *a)
{
    struct err err;
    int c, bad = 0;

    opterr = 0;
    while (!bad && (c = getopt_long(argc, argv, ":q", long_options, NULL)) != -1) {
        switch (c) {
        case OPT_UNTIL:
            if (position_parse(optarg, &a->until, &err))
                return say_option(a->verb, "--until", err.msg);
            a->has_until = true;
            break;
        case OPT_STATUS:
            a->as_program = true;
            break;
        case OPT_COUNT:
            a->count = true;
            break;
        case 'q':
        case OPT_QUIET:
            a->quiet = true;
            break;
        case OPT_NO_LINK:
            bad = engine_options_add(&a->engine, "link=0");
            break;
        case OPT_ENGINE:
            bad = engine_options_key(&a->engine, optarg);
            break;
        case OPT_HELP:
            return help_verb(a->verb);
        default:
            return say_bad_option(a->verb, argv, c == ':' ? ':' : optopt, OPT_HELP);
        }
    }
    if (bad)
        return CLI_USAGE;
    if (a->count && strcmp(a->verb, "verify") != 0)
        return say_option(a->verb, "--count", "is an option of verify");
    if ((a->has_until || a->quiet || a->as_program) && strcmp(a->verb, "replay") != 0)
        return say_option(a->verb,
                          a->quiet       ? "--quiet"
                          : a->has_until ? "--until"
                                         : "--status",
                          "is an option of replay");
    if (a->has_until && a->as_program)
        return say_option(a->verb, "--status", "not with --until, which does not come to the end");
    if (optind == argc) {
        if (newest_find(a->newest, &err))
            return say_error(CLI_FAILED, "%s: %s", a->verb, err.msg);
        a->dir = a->newest;
        return -1;
    }
    if (optind + 1 != argc) {
        say_error(CLI_USAGE, "%s: one pinball, not several", a->verb);
        return CLI_USAGE;
    }
    a->dir = argv[optind];
    return -1;
}

/* Where what the program writes goes. */
struct output {
    struct pinball *pinball;
    struct statements kept; /* what other code writes does not appear */
    bool read, bad;         /* they were; they cannot be */
    struct err err;
    int failed; /* errno of a write */
};

static bool take_entry(void *arg, const struct mailbox_entry *e, const void *text)
{
    struct output *o = arg;
    const struct position at = {.thread = e->at.thread, .count = e->at.count, .pc = e->at.pc};
    (void)text;
    if (!o->read && statements_read(o->pinball, &o->kept, &o->err))
        o->bad = true;
    o->read = true;
    return !statements_hush(&o->kept, &at);
}

static void write_output(void *arg, int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    struct output *o = arg;
    while (n) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0) {
            o->failed = errno;
            return;
        }
        p += w;
        n -= (size_t)w;
    }
}

static void print_line(void *arg, const char *line)
{
    (void)arg;
    say_line(line);
}

/* As a shell tells it; an end that was not recorded is a failure. */
static int program_status(const struct outcome *o)
{
    const struct ends_row *row = ends_row(o->reason);
    if (o->missing || !row)
        return CLI_NO_STATUS;
    if (row->status == ENDS_EXIT)
        return o->status & 0xff;
    return row->status == ENDS_SIGNAL && o->status ? 128 + o->status : CLI_NO_STATUS;
}

/* Returns the status to end with. */
static int say_end(struct pinball *p, const struct replay_args *a, const struct replay_stop *stop)
{
    struct outcome o = {.reason = stop->reason,
                        .status = stop->status,
                        .thread = stop->at.thread,
                        .threads = (size_t)pinball_end_number(p, "threads", 1)};
    if (stop->why == STOP_LOG_END) {
        const char *reason = pinball_end_get(p, "reason"), *status = pinball_end_get(p, "status");
        o.reason = reason ? ends_reason(reason) : 0;
        o.status = status ? atoi(status) : 0;
        o.missing = pinball_missing(p);
        if (o.reason == END_EXIT || o.reason == END_SIGNAL)
            o.reason = 0;
    }
    outcome_say(stderr, pinball_path(p), &o);
    return a->as_program ? program_status(&o) : CLI_DONE;
}

static int say_registers(struct replay *r, const struct replay_stop *stop)
{
    static const char *const name[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                       "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    struct program_registers regs;
    char at[POSITION_TEXT];
    struct err err;
    position_format(&stop->at, at);
    if (replay_registers(r, 0, &regs, &err))
        return say_error(CLI_FAILED, "%s", err.msg);
    printf("%s\n", at);
    for (int i = 0; i < 16; i++)
        printf("%-4s 0x%016" PRIx64 "%s", name[i], regs.gpr[i], i % 4 == 3 ? "\n" : "  ");
    return CLI_DONE;
}

static int failed(const struct err *err)
{
    return say_error(err->code == REPLAY_DIVERGED ? CLI_DIVERGED : CLI_FAILED, "%s", err->msg);
}

/* Replays as far as it was asked to. Returns CLI_DONE with *status, what to end with, or why not.
 */
static int replay_all(struct pinball *p, const struct replay_args *a, int *status)
{
    struct output out = {.pinball = p};
    struct replay_options options = {.message = print_line,
                                     .output = a->quiet ? NULL : write_output,
                                     .entry = take_entry,
                                     .arg = &out,
                                     .engine = a->engine.len ? a->engine.text : NULL};
    struct replay_stop stop;
    struct err err;
    struct replay *r = replay_new(p, &options, &err);
    int bad = CLI_DONE;

    *status = CLI_DONE;
    if (!r || replay_run(r, a->has_until ? &a->until : NULL, &stop, &err))
        bad = failed(&err);
    else if (stop.why == STOP_POSITION)
        bad = say_registers(r, &stop);
    else if (a->has_until)
        bad = say_error(CLI_FAILED, "%s: ended before that position", a->dir);
    else
        *status = say_end(p, a, &stop);
    if (!bad && out.bad)
        bad = failed(&out.err);
    if (!bad && out.failed)
        bad = say_error(CLI_FAILED, "the program's output: %s", strerror(out.failed));
    replay_free(r);
    statements_deinit(&out.kept);
    return bad;
}

int replay_main(int argc, char *argv[])
{
    struct replay_args a = {.verb = "replay", .engine.verb = "replay"};
    struct err err;
    int status = CLI_DONE, bad = parse(argc, argv, &a);

    if (bad == CLI_DONE) /* --help */
        return bad;
    if (bad < 0) {
        struct pinball *p = pinball_open(a.dir, &err);
        bad = p ? replay_all(p, &a, &status) : say_error(CLI_FAILED, "%s", err.msg);
        pinball_close(p);
    }
    return !bad ? status : a.as_program ? CLI_NO_STATUS : bad;
}

/* The tool's last words: one line for each program that ran. */
static void take_count(void *arg, const char *line)
{
    const char *number = strstr(line, "icount: instructions=");
    if (number)
        *(uint64_t *)arg += strtoull(number + strlen("icount: instructions="), NULL, 10);
    else
        say_line(line);
}

static int keep_count(struct pinball *p, uint64_t instructions, struct err *err)
{
    struct text text = {0};
    text_addf(&text, "instructions", "%" PRIu64, instructions);
    int result = pinball_note(p, text.data, text.bytes, err);
    text_deinit(&text);
    return result;
}

static int verify(struct pinball *p, const struct replay_args *a, struct err *err)
{
    uint64_t instructions = 0;
    struct replay_options options = {.message = take_count,
                                     .arg = &instructions,
                                     .verify = true,
                                     .engine = a->engine.len ? a->engine.text : NULL};
    struct replay_stop stop;
    struct replay *r = NULL;
    int result = pinball_check(p, NULL, NULL, err) || !(r = replay_new(p, &options, err)) ||
                 (a->count && replay_tool(r, "icount", err)) || replay_run(r, NULL, &stop, err);
    if (!result && a->count)
        result = replay_tool(r, NULL, err) || keep_count(p, instructions, err);
    if (!result)
        plain_printf(stdout, "%s: good: %" PRIu64 " ticks, %" PRIu64 " events repeated\n", a->dir,
                     stop.ticks, stop.events);
    if (!result && a->count)
        printf("%" PRIu64 " instructions\n", instructions);
    replay_free(r);
    return result;
}

int verify_main(int argc, char *argv[])
{
    struct replay_args a = {.verb = "verify", .engine.verb = "verify"};
    struct err err;
    int status = parse(argc, argv, &a);

    if (status >= 0)
        return status;
    struct pinball *p = pinball_open(a.dir, &err);
    if (!p)
        return say_error(CLI_FAILED, "%s", err.msg);
    status = verify(p, &a, &err) ? failed(&err) : CLI_DONE;
    pinball_close(p);
    return status;
}
