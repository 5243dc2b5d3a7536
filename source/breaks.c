/* breaks.c - the addresses of a breakpoint, where GDB 13 puts them.
 *
 * SPDX-License-Identifier: MIT
 *
 * What can be observed of GDB:
 * 1. All files whose path ends in what was given count, in all modules.
 * 2. Rows that begin a statement of just this line. If no unit has any, those of the smallest
 *    larger line that has.
 * 3. Only the first of the rows in one block; a block in which nothing is declared is none.
 * 4. What lies in a function's prologue moves past it (source/prologue.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/functions.h"
#include "source/module.h"
#include "source/source_int.h"

void source_breaks_deinit(struct source_breaks *list)
{
    free(list->at);
    *list = (struct source_breaks){0};
}

/* Every file matches NULL. */
static bool file_matches(const char *file, const char *wanted)
{
    size_t have = strlen(file), want = wanted ? strlen(wanted) : 0;

    if (!wanted)
        return true;
    if (want > have || strcmp(file + have - want, wanted) != 0)
        return false;
    return want == have || wanted[0] == '/' || file[have - want - 1] == '/';
}

/* The stop for the line that is at addr. NULL if it was there already. */
static struct source_break *add(struct source *s, const struct source_mod *m, uint64_t addr,
                                struct source_breaks *out)
{
    struct source_line line;
    gaddr pc = addr + m->bias;

    for (size_t i = 0; i < out->count; i++)
        if (out->at[i].pc == pc)
            return NULL;
    source_line(s, pc, &line);
    struct source_break *at = SOURCE_PUSH(out->at, out->count);
    *at = (struct source_break){pc, pc, line.file, line.function, line.line};
    return at;
}

static int by_pc(const void *a, const void *b)
{
    const struct source_break *x = a, *y = b;

    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void finish(struct source_breaks *out)
{
    if (out->count)
        qsort(out->at, out->count, sizeof *out->at, by_pc);
}

/* ---- lines ---- */

/* Calls `each` for every table of a file that matches. Returns how many there are. */
typedef void each_table(const struct source_mod *m, const struct source_table *table, void *arg);

static size_t for_tables(struct source *s, const char *file, each_table *each, void *arg)
{
    size_t count = 0;

    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        if (!source_strings_file(m, file))
            continue;
        source_module_read(s, m);
        for (size_t u = 0; u < m->units; u++)
            for (size_t t = 0; t < m->unit[u].tables; t++)
                if (file_matches(m->unit[u].table[t].file, file)) {
                    each(m, &m->unit[u].table[t], arg);
                    count++;
                }
    }
    return count;
}

/* Lines with code around one: the line itself, its next, the one before. */
struct around {
    uint32_t line;
    bool exact;
    uint32_t below, above; /* 0: none */
};

static void look_around(const struct source_mod *m, const struct source_table *table, void *arg)
{
    struct around *around = arg;
    (void)m;

    for (size_t i = 0; i < table->rows; i++) {
        uint32_t line = table->row[i].line;
        if (!line || !table->row[i].stmt)
            continue;
        if (line == around->line)
            around->exact = true;
        else if (line < around->line && line > around->below)
            around->below = line;
        else if (line > around->line && (!around->above || line < around->above))
            around->above = line;
    }
}

/* The addresses of a line's rows, in the order in which GDB looks at them. */
struct found {
    uint32_t line;
    struct place {
        const struct source_mod *m;
        uint64_t addr;
        int32_t block;
        const char *file;
    } * place;
    size_t places;
};

static int32_t block_at(const struct source_mod *m, uint64_t addr)
{
    int32_t i = source_scopes_at(m, addr);

    while (i != SOURCE_NONE && m->scope[i].kind == SOURCE_BLOCK && !m->scope[i].symbols)
        i = m->scope[i].parent;
    return i;
}

/* Rule 3 is applied at once: a row whose block has one already is left out. */
static void collect(const struct source_mod *m, const struct source_table *table, void *arg)
{
    struct found *found = arg;

    for (size_t i = 0; i < table->rows; i++) {
        const struct source_row *row = &table->row[i];
        bool first = true;
        if (row->line != found->line || !row->stmt)
            continue;
        int32_t block = block_at(m, row->addr);
        for (size_t k = 0; block != SOURCE_NONE && first && k < found->places; k++)
            first = found->place[k].m != m || found->place[k].block != block;
        if (first)
            *SOURCE_PUSH(found->place, found->places) =
                (struct place){m, row->addr, block, row->file};
    }
}

/* Optimised code has statements of several lines begin at one address. There the breakpoint is of
 * the line that was asked for, as GDB says, too, whatever else begins there. */
static void add_place(struct source *s, const struct found *found, const struct place *p,
                      struct source_breaks *out)
{
    uint64_t addr = source_prologue_skip(p->m, p->addr);
    struct source_break *at = add(s, p->m, addr, out);

    if (!at)
        return;
    at->row = p->addr + p->m->bias;
    if (addr == p->addr) {
        at->file = p->file;
        at->line = found->line;
    }
}

/* ---- what to say where there is none ---- */

static int no_line(const char *file, uint32_t line, const struct around *around, struct err *err)
{
    char near[64] = "none has";

    if (around->below && around->above)
        snprintf(near, sizeof near, "lines %u and %u have", around->below, around->above);
    else if (around->below || around->above)
        snprintf(near, sizeof near, "the %s line that has is %u", around->below ? "last" : "first",
                 around->below ? around->below : around->above);
    return err_set_code(err, SOURCE_NO_LINE, "%s:%u: there is no code for this line; %s", file,
                        line, near);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* How many letters of two names differ, roughly: those past the common beginning and end. */
static size_t distance(const char *a, const char *b)
{
    size_t first = 0, last = 0, la = strlen(a), lb = strlen(b);

    while (a[first] && a[first] == b[first])
        first++;
    while (last < la - first && last < lb - first && a[la - 1 - last] == b[lb - 1 - last])
        last++;
    return (la > lb ? la : lb) - first - last;
}

enum { SIMILAR = 4 };

/* The files whose names are most like what was asked for, those with a text to look at first. */
struct similar {
    struct source *source;
    const char *wanted;
    const char *file[SIMILAR];
    size_t far[SIMILAR], count;
};

static void note_similar(struct similar *similar, const char *file)
{
    enum { UNREADABLE = 1 << 20 };
    size_t far = distance(base_name(file), base_name(similar->wanted)), at;

    for (size_t i = 0; i < similar->count; i++)
        if (similar->file[i] == file)
            return;
    if (similar->count == SIMILAR && similar->far[SIMILAR - 1] <= far)
        return;
    if (!source_text(similar->source, file, 1))
        far += UNREADABLE;
    for (at = similar->count; at > 0 && similar->far[at - 1] > far; at--)
        ;
    if (at >= SIMILAR)
        return;
    size_t keep = similar->count < SIMILAR ? similar->count : SIMILAR - 1;
    memmove(&similar->file[at + 1], &similar->file[at], (keep - at) * sizeof similar->file[0]);
    memmove(&similar->far[at + 1], &similar->far[at], (keep - at) * sizeof similar->far[0]);
    similar->file[at] = file;
    similar->far[at] = far;
    similar->count = keep + 1;
}

static void look_similar(const struct source_mod *m, const struct source_table *table, void *arg)
{
    (void)m;
    if (table->rows)
        note_similar(arg, table->file);
}

static int no_file(struct source *s, const char *file, struct err *err)
{
    struct similar similar = {.source = s, .wanted = file};
    char list[384] = "";
    size_t n = 0;

    for_tables(s, NULL, look_similar, &similar);
    for (size_t i = 0; i < similar.count && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
                              base_name(similar.file[i]));
    if (!similar.count)
        return err_set_code(err, SOURCE_NO_FILE, "%s: no module has source lines", file);
    return err_set_code(err, SOURCE_NO_FILE, "%s: no such source file; there are %s", file, list);
}

/* ---- the interface ---- */

int source_breaks(struct source *s, const char *file, uint32_t line, struct source_breaks *out,
                  struct err *err)
{
    struct around around = {.line = line};
    struct found found = {.line = line};

    source_breaks_deinit(out);
    if (strncmp(file, "./", 2) == 0)
        file += 2;
    if (!file[0] || !for_tables(s, file, look_around, &around))
        return no_file(s, file, err);
    if (!around.exact && !around.above)
        return no_line(file, line, &around, err);
    if (!around.exact)
        found.line = around.above;
    for_tables(s, file, collect, &found);
    for (size_t i = 0; i < found.places; i++)
        add_place(s, &found, &found.place[i], out);
    free(found.place);
    finish(out);
    return 0;
}

/* True if debug information has the function. */
static bool by_scopes(struct source *s, const struct source_mod *m, const char *function,
                      struct source_breaks *out)
{
    bool any = false;

    for (size_t i = 0; i < m->scopes; i++) {
        const struct source_scope *scope = &m->scope[i];
        if (scope->kind == SOURCE_BLOCK || !scope->name ||
            !functions_name_matches(scope->name, function))
            continue;
        any = true;
        add(s, m, source_prologue_skip(m, scope->entry), out);
    }
    return any;
}

int source_breaks_function(struct source *s, const char *function, struct source_breaks *out,
                           struct err *err)
{
    bool any = false;

    source_breaks_deinit(out);
    for (size_t i = 0; i < s->modules; i++) {
        source_module_read(s, s->module[i]);
        any |= by_scopes(s, s->module[i], function, out);
    }
    for (size_t i = 0; !any && i < s->modules; i++) {
        const struct source_mod *m = s->module[i];
        for (size_t k = 0; k < m->symbols; k++)
            if (m->symbol[k].code && strcmp(m->symbol[k].name, function) == 0)
                add(s, m, source_prologue_skip(m, m->symbol[k].addr), out);
    }
    finish(out);
    if (!out->count)
        return err_set_code(err, SOURCE_NO_FUNCTION, "%s: no such function", function);
    return 0;
}

int source_breaks_at(struct source *s, const char *where, struct source_breaks *out,
                     struct err *err)
{
    const char *colon = strrchr(where, ':');
    char file[4096], *end;

    if (where[0] == '*') {
        errno = 0;
        gaddr pc = strtoull(where + 1, &end, 0);
        if (errno || end == where + 1 || *end)
            return err_set(err, "%s: not an address", where);
        source_breaks_deinit(out);
        *SOURCE_PUSH(out->at, out->count) = (struct source_break){.pc = pc, .row = pc};
        struct source_line line;
        source_line(s, pc, &line);
        out->at[0].file = line.file;
        out->at[0].function = line.function;
        out->at[0].line = line.line;
        return 0;
    }
    if (!colon || colon == where || colon[-1] == ':')
        return source_breaks_function(s, where, out, err);
    unsigned long line = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end || line > INT32_MAX)
        return err_set(err, "%s: after FILE: there must be a line", where);
    snprintf(file, sizeof file, "%.*s", (int)(colon - where), where);
    return source_breaks(s, file, (uint32_t)line, out, err);
}
