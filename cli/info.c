/* info.c - `drdebug info`: say what a pinball holds.
 *
 * SPDX-License-Identifier: MIT
 *
 * Nothing in a pinball is trusted: its strings go to the terminal through base/plain.h.
 */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/newest.h"
#include "cli/outcome.h"
#include "pinball/beneath.h"
#include "pinball/ends.h"
#include "pinball/pinball.h"

const char info_details[] = "  --json             print it for a program to read\n"
                            "  --help             print this\n"
                            "\n"
                            "DIR is a directory or a packed file; by default the newest *.pinball "
                            "here. A recording whose\n"
                            "recorder was killed is first put in order.\n";

/* ---- for people ---- */

static int end_status(const struct pinball *p)
{
    const char *text = pinball_end_get(p, "status");

    return text ? (int)strtol(text, NULL, 10) : 0;
}

static uint32_t end_reason(const struct pinball *p)
{
    const char *text = pinball_end_get(p, "reason");

    return text ? ends_reason(text) : 0;
}

static void end_text(const struct pinball *p, char *text, size_t room)
{
    struct outcome outcome = {.reason = end_reason(p),
                              .status = end_status(p),
                              .thread = (uint32_t)pinball_end_number(p, "last_thread", 0),
                              .threads = (size_t)pinball_end_number(p, "threads", 1),
                              .missing = pinball_missing(p)};

    outcome_text(&outcome, text, room);
}

static void print_end(const struct pinball *p)
{
    const char *why = pinball_end_get(p, "why");
    char text[OUTCOME_TEXT];

    end_text(p, text, sizeof text);
    plain_printf(stdout, "%s%s%s\n", text, why ? ": " : "", why ? why : "");
}

static void print_value(const char *title, const char *value)
{
    if (value)
        plain_printf(stdout, "%-10s %s\n", title, value);
}

static void print_arguments(const struct pinball *p)
{
    const char *key, *value;
    size_t position = 0;
    bool any = false;

    while (pinball_head_line(p, &position, &key, &value)) {
        if (strcmp(key, "arg") != 0)
            continue;
        fputs(any ? " " : "arguments  ", stdout);
        json_shell_word(stdout, value);
        any = true;
    }
    if (any)
        putchar('\n');
}

/* Marks of the program. All of them are in the log, the first ones in `end`. */
static void print_marks(const struct pinball *p)
{
    enum { SHOWN = 12 };
    const char *key, *value;
    size_t position = 0;
    uint64_t shown = 0, marks = pinball_end_number(p, "marks", 0);

    while (shown < SHOWN && pinball_end_line(p, &position, &key, &value))
        if (strcmp(key, "mark") == 0)
            plain_printf(stdout, "%-10s %s\n", shown++ ? "" : "marks", value);
    if (shown && shown < marks)
        printf("%-10s ... %" PRIu64 " more: drdebug ask DIR events mark\n", "", marks - shown);
}

/* Where a part lies in its run. */
static void print_part(const struct pinball *p)
{
    const char *begin = pinball_end_get(p, "begin");
    char before[OUTCOME_BYTES];

    print_value("part of", pinball_head_get(p, "part_of"));
    print_value("slice of", pinball_head_get(p, "relog_slice"));
    print_value("in", pinball_head_get(p, "relog_of"));
    const uint64_t gaps = pinball_end_number(p, "gaps", 0);
    if (gaps)
        printf("%-10s %s instructions in %" PRIu64 " gap%s\n", "left out",
               outcome_number(before, pinball_end_number(p, "left_out", 0)), gaps,
               gaps == 1 ? "" : "s");
    print_value("from", pinball_head_get(p, "region_from"));
    print_value("to", pinball_head_get(p, "region_to"));
    print_value("part", pinball_head_get(p, "region_part"));
    if (begin)
        plain_printf(stdout, "%-10s %s, after %s ticks of all threads\n", "begins", begin,
                     outcome_number(before, pinball_end_number(p, "begin_ticks", 0)));
    else
        print_value("from", pinball_head_get(p, "part_from"));
}

static uint64_t kept_bytes(const struct kept_file *file)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < file->ranges; i++)
        bytes += file->range[i].bytes;
    return bytes;
}

static const char *kind_name(enum kept_kind kind)
{
    static const char *const names[] = {
        [KEPT_MAPPED] = "mapped", [KEPT_DEBUG] = "debug", [KEPT_SOURCE] = "source"};

    return names[kind];
}

/* A file that was young when the recorder read it is kept anew with each mapping (pinball/keep.c):
 * people need to see it once. */
static bool is_same(const struct kept_file *a, const struct kept_file *b)
{
    return a->kind == b->kind && a->whole && b->whole && a->ranges == 1 && b->ranges == 1 &&
           strcmp(a->path, b->path) == 0 && strcmp(a->range[0].sha256, b->range[0].sha256) == 0;
}

static void print_files(const struct pinball *p)
{
    char text[OUTCOME_BYTES];
    uint32_t others = 0;

    for (uint32_t n = 0; n < pinball_files(p); n++) {
        const struct kept_file *f = pinball_file(p, n);
        if (f->kind != KEPT_MAPPED) {
            others++;
            continue;
        }
        if (n > 0 && is_same(f, pinball_file(p, n - 1)))
            continue;
        plain_printf(stdout, "%-10s %s, %s%s\n", n == 0 ? "files" : "", f->path,
                     outcome_bytes(text, kept_bytes(f)),
                     f->waiting ? ", lost when the recorder was killed"
                     : f->whole ? ""
                                : ", in part");
    }
    if (others > 0)
        printf("%-10s %u debug and source file%s\n", "packed", others, others == 1 ? "" : "s");
}

static void print_summary(struct pinball *p)
{
    outcome_say_size(stdout, p);
    print_end(p);
}

int info_summary(const char *path)
{
    struct err err;
    struct pinball *p = pinball_open(path, &err);

    if (!p)
        return say_error(CLI_FAILED, "%s", err.msg);
    print_summary(p);
    pinball_close(p);
    return say_finish();
}

static void print_text(struct pinball *p)
{
    print_summary(p);
    print_value("program", pinball_head_get(p, "program"));
    print_arguments(p);
    print_value("directory", pinball_head_get(p, "cwd"));
    print_value("machine", pinball_head_get(p, "machine"));
    print_value("kernel", pinball_head_get(p, "kernel"));
    print_value("drdebug", pinball_head_get(p, "drdebug"));
    print_value("schedule", pinball_head_get(p, "schedule"));
    print_value("made", pinball_is_own(p)
                            ? "by you, on this machine"
                            : "by a stranger: sources are looked for in the pinball only");
    print_value("signals", pinball_end_get(p, "signals"));
    print_value("changes", pinball_end_get(p, "changes"));
    print_value("position", pinball_end_get(p, "position"));
    print_part(p);
    print_marks(p);
    print_files(p);
}

/* ---- for programs ---- */

static void member(const char *key, const char *value)
{
    printf(",\n  \"%s\": ", key);
    json_string(value);
}

static void json_files(const struct pinball *p)
{
    for (uint32_t n = 0; n < pinball_files(p); n++) {
        const struct kept_file *f = pinball_file(p, n);
        printf("%s\n    {\"number\": %u, \"kind\": \"%s\", \"path\": ", n ? "," : "", n,
               kind_name(f->kind));
        json_string(f->path);
        printf(", \"size\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"build_id\": ", f->size,
               kept_bytes(f));
        json_string(f->build_id);
        putchar('}');
    }
}

typedef int next_line(const struct pinball *p, size_t *position, const char **key,
                      const char **value);

/* A list of all lines with this key. */
static void json_lines(const struct pinball *p, next_line *next, const char *name, const char *key)
{
    const char *its, *value, *comma = "";

    printf(",\n  \"%s\": [", name);
    for (size_t position = 0; next(p, &position, &its, &value);) {
        if (strcmp(its, key) != 0)
            continue;
        fputs(comma, stdout);
        json_string(value);
        comma = ", ";
    }
    putchar(']');
}

static void print_json(struct pinball *p)
{
    static const char *const numbers[] = {"threads", "ticks", "signals"};
    const char *instructions = pinball_note_get(p, "instructions");
    int folder = pinball_packed(p) ? -1 : beneath_folder(pinball_path(p));
    char text[OUTCOME_TEXT];
    uint64_t n;

    json_begin();
    member("path", pinball_path(p));
    printf(",\n  \"packed\": %s", pinball_packed(p) ? "true" : "false");
    printf(",\n  \"recovered\": %s", pinball_recovered(p) ? "true" : "false");
    printf(",\n  \"own\": %s", pinball_is_own(p) ? "true" : "false");
    printf(",\n  \"traced\": %s",
           folder >= 0 && beneath_exists(folder, "trace") ? "true" : "false");
    if (folder >= 0)
        close(folder);
    printf(",\n  \"size\": %" PRIu64, pinball_bytes(p));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        printf(",\n  \"%s\": %" PRIu64, numbers[i], pinball_end_number(p, numbers[i], 0));
    if (instructions && text_number(instructions, &n) == 0)
        printf(",\n  \"instructions\": %" PRIu64, n);
    printf(",\n  \"events\": %" PRIu64, pinball_records(p));
    member("program", pinball_head_get(p, "program"));
    json_lines(p, pinball_head_line, "arguments", "arg");
    member("directory", pinball_head_get(p, "cwd"));
    member("machine", pinball_head_get(p, "machine"));
    member("kernel", pinball_head_get(p, "kernel"));
    member("drdebug", pinball_head_get(p, "drdebug"));
    member("schedule", pinball_head_get(p, "schedule"));
    end_text(p, text, sizeof text);
    member("end", text);
    member("reason", pinball_end_get(p, "reason"));
    member("position", pinball_end_get(p, "position"));
    member("begin", pinball_end_get(p, "begin"));
    json_lines(p, pinball_end_line, "marks", "mark");
    printf(",\n  \"status\": %d,\n  \"files\": [", end_status(p));
    json_files(p);
    puts("\n  ]\n}");
}

/* ---- the verb ---- */

int info_main(int argc, char *argv[])
{
    enum { OPT_JSON = 1, OPT_HELP };
    static const struct option options[] = {{"json", no_argument, NULL, OPT_JSON},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    char path[PATH_MAX];
    struct err err;
    bool json = false;
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == OPT_HELP)
            return help_verb("info");
        if (c != OPT_JSON)
            return say_bad_option("info", argv, optopt, OPT_HELP);
        json = true;
    }
    int status = newest_or_named("info", argc, argv, path);
    if (status >= 0)
        return status;
    struct pinball *p = pinball_open(path, &err);
    if (!p)
        return say_error(CLI_FAILED, "%s", err.msg);
    if (json)
        print_json(p);
    else
        print_text(p);
    pinball_close(p);
    return say_finish();
}
