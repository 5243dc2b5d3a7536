/* probe.c - asks slicer/source what the lines of standard input say; for source_test.py.
 *
 * SPDX-License-Identifier: MIT
 *
 * A line is a verb and its words; numbers are hexadecimal. The answer is one line, flushed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slicer/source.h"

static struct source *s;

struct words {
    char *word[8]; /* missing ones are "" */
};

static uint64_t number(const char *word)
{
    return strtoull(word, NULL, 16);
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static void do_module(struct words *w)
{
    struct source_module module = {
        .path = w->word[1], .file = w->word[1], .bias = number(w->word[2])};
    struct err err;

    printf("%s", source_add(s, &module, &err) ? err.msg : "ok");
}

static void do_line(struct words *w)
{
    struct source_line line;

    source_line(s, number(w->word[1]), &line);
    printf("%s %u %u %d %d %s %s %u %" PRIx64 " %s", or_dash(line.file), line.line, line.column,
           line.stmt, line.own, or_dash(line.function), or_dash(line.outer), line.inlined,
           line.offset, or_dash(line.module));
}

static void do_calls(struct words *w)
{
    struct source_call call[64];
    size_t count = source_calls(s, number(w->word[1]), call, 64);

    printf("%zu", count);
    for (size_t i = 0; i < count && i < 64; i++)
        printf(" %s %s:%u", or_dash(call[i].function), or_dash(call[i].file), call[i].line);
}

static void do_name(struct words *w)
{
    char name[256];

    source_name(s, number(w->word[1]), name, sizeof name);
    printf("%s", name);
}

static void do_breaks(struct words *w)
{
    static struct source_breaks list;
    struct err err;

    if (source_breaks_at(s, w->word[1], &list, &err)) {
        printf("error %d %s", err.code, err.msg);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        printf("%s%" PRIx64, i ? " " : "", list.at[i].pc);
    source_breaks_deinit(&list);
}

static void do_text(struct words *w)
{
    const char *text = source_text(s, w->word[1], (uint32_t)strtoul(w->word[2], NULL, 10));

    printf("%s", text ? text : "(none)");
}

static void do_folder(struct words *w)
{
    source_add_folder(s, w->word[1]);
}

static void do_noreturn(struct words *w)
{
    printf("%d", source_is_noreturn(s, number(w->word[1])));
}

static void do_function(struct words *w)
{
    gaddr start = 0, end = 0;
    bool known = source_function(s, number(w->word[1]), &start, &end);

    printf("%d %" PRIx64 " %" PRIx64, known, start, end);
}

static const struct {
    const char *name;
    void (*run)(struct words *w);
} verb[] = {
    {"module", do_module}, {"line", do_line},     {"calls", do_calls},
    {"name", do_name},     {"breaks", do_breaks}, {"text", do_text},
    {"folder", do_folder}, {"noreturn", do_noreturn}, {"function", do_function},
};

static void run(char *line)
{
    struct words w = {.word = {"", "", "", "", "", "", "", ""}};
    size_t count = 0;

    for (char *word = strtok(line, " \n"); word && count < 8; word = strtok(NULL, " \n"))
        w.word[count++] = word;
    for (size_t i = 0; i < ARRAY_LEN(verb); i++)
        if (strcmp(verb[i].name, w.word[0]) == 0)
            verb[i].run(&w);
    putchar('\n');
    fflush(stdout);
}

int main(void)
{
    static char line[4096];

    s = source_new();
    while (s && fgets(line, sizeof line, stdin))
        run(line);
    source_free(s);
    return 0;
}
