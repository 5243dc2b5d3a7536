/* probe.c - asks source/ what the lines of standard input say; for source_test.py.
 *
 * SPDX-License-Identifier: MIT
 *
 * A line is a verb and its words; numbers are hexadecimal, files are told from numbers by where
 * they stand. The answer is one line, flushed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/frame.h"
#include "source/variable.h"

static struct source *s;

enum { MAX_WORDS = 26 };

struct words {
    char *word[MAX_WORDS]; /* missing ones are "" */
};

static uint64_t number(const char *word)
{
    return strtoull(word, NULL, 16);
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

/* The bytes of a file, or of its debug file. They stay until the end. */
static void *slurp(const char *path, size_t *size, bool debug)
{
    static char *bytes[2];
    FILE *f = fopen(path, "r");
    enum { MOST = 64 << 20 };

    if (!bytes[debug])
        bytes[debug] = malloc(MOST);

    *size = bytes[debug] && f ? fread(bytes[debug], 1, MOST, f) : 0;
    if (f)
        fclose(f);
    return bytes[debug];
}

/* PATH BIAS [file|bytes|none] [DEBUG] */
static void do_module(struct words *w)
{
    struct source_module module = {.path = w->word[1], .bias = number(w->word[2])};
    struct err err;

    if (w->word[3][0] == 'b')
        module.bytes = slurp(w->word[1], &module.size, false);
    else if (w->word[3][0] != 'n')
        module.file = w->word[1];
    if (w->word[4][0])
        module.debug = slurp(w->word[4], &module.debug_size, true);
    printf("%s", source_add(s, &module, &err) ? err.msg : "ok");
}

/* PATH START END OFFSET...: a module by its mappings; a path that is no file has no contents. */
static void do_mapped(struct words *w)
{
    struct source_mapping mapping[8];
    struct source_module module = {.path = w->word[1], .mapping = mapping};
    struct err err;

    if (w->word[1][0] == '/')
        module.file = w->word[1];
    for (size_t i = 2; i + 2 < MAX_WORDS && w->word[i][0]; i += 3)
        mapping[module.mappings++] = (struct source_mapping){
            number(w->word[i]), number(w->word[i + 1]), number(w->word[i + 2])};
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
    static char folder[4096]; /* of one call: its name must stay */
    struct sourcefile_places places = {.as_named = true, .folder = {folder}, .folders = 1};

    snprintf(folder, sizeof folder, "%s", w->word[1]);
    source_set_places(s, &places);
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

/* PC CFA FS ADDR BYTES */
static void do_var(struct words *w)
{
    char name[256];
    struct source_frame frame = {.cfa = number(w->word[2]), .fs_base = number(w->word[3])};
    bool known = source_variable(s, number(w->word[1]), &frame, number(w->word[4]),
                                 (uint32_t)number(w->word[5]), name, sizeof name);

    printf("%s", known ? name : "-");
}

static void do_reg(struct words *w)
{
    printf("%s",
           or_dash(source_register_variable(s, number(w->word[1]), (unsigned)number(w->word[2]))));
}

/* PC CFA FS NAME */
static void do_at(struct words *w)
{
    static const char *const where[] = {"memory", "register", "constant", "computed", "nowhere"};
    struct source_frame frame = {.cfa = number(w->word[2]), .fs_base = number(w->word[3])};
    struct source_place place;
    struct err err;

    if (source_variable_at(s, number(w->word[1]), &frame, w->word[4], &place, &err)) {
        printf("error %d %s", err.code, err.msg);
        return;
    }
    for (uint32_t i = 0; i < place.pieces; i++) {
        const struct source_piece *piece = &place.piece[i];
        printf("%s %" PRIx64 " %u ", where[piece->where],
               piece->where == SOURCE_MEMORY     ? piece->address
               : piece->where == SOURCE_REGISTER ? piece->reg
                                                 : piece->value,
               piece->bytes);
    }
    for (uint32_t i = 0; i < place.reads; i++)
        printf("%s%s%u ", place.read[i].memory ? "mem" : "reg",
               place.read[i].at_entry ? "@entry" : "", place.read[i].reg);
}

static void do_atomic(struct words *w)
{
    printf("%d", source_is_atomic(s, number(w->word[1])));
}

static void do_cfa(struct words *w)
{
    struct source_cfa cfa = {0};
    bool known = source_cfa(s, number(w->word[1]), &cfa);

    printf("%d %u %" PRId64, known, cfa.reg, cfa.offset);
}

static void do_saves(struct words *w)
{
    struct source_save save[64];
    size_t count = source_saves(s, number(w->word[1]), save, 64);

    for (size_t i = 0; i < count && i < 64; i++)
        printf("%u:%" PRId64 ":%" PRIx64 " ", save[i].reg, save[i].offset, save[i].from);
}

static void do_slots(struct words *w)
{
    const struct source_slot *slot;

    for (unsigned reg = 0; reg <= 16; reg++) {
        size_t count = source_slots(s, number(w->word[1]), reg, &slot);
        for (size_t i = 0; i < count; i++)
            printf("%u:%" PRId64 " ", slot[i].reg, slot[i].offset);
    }
}

static const struct {
    const char *name;
    void (*run)(struct words *w);
} verb[] = {
    {"module", do_module},
    {"mapped", do_mapped},
    {"line", do_line},
    {"calls", do_calls},
    {"name", do_name},
    {"breaks", do_breaks},
    {"text", do_text},
    {"folder", do_folder},
    {"noreturn", do_noreturn},
    {"function", do_function},
    {"var", do_var},
    {"reg", do_reg},
    {"at", do_at},
    {"atomic", do_atomic},
    {"cfa", do_cfa},
    {"saves", do_saves},
    {"slots", do_slots},
};

static void run(char *line)
{
    struct words w;
    size_t count = 0;

    for (size_t i = 0; i < MAX_WORDS; i++)
        w.word[i] = "";
    for (char *word = strtok(line, " \n"); word && count < MAX_WORDS; word = strtok(NULL, " \n"))
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
