/* functions.c - functions by their names. SPDX-License-Identifier: MIT */
#include "source/functions.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/names.h"
#include "source/source_int.h"

void functions_deinit(struct functions *list)
{
    free(list->at);
    *list = (struct functions){0};
}

/* ---- patterns ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The part behind `MODULE!`. */
static const char *name_part(const char *pattern)
{
    const char *mark = strchr(pattern, '!');

    return mark ? mark + 1 : pattern;
}

static bool module_matches(const char *pattern, const char *path)
{
    size_t n = (size_t)(name_part(pattern) - pattern);
    char module[1024];

    if (!n)
        return true;
    snprintf(module, sizeof module, "%.*s", (int)(n - 1), pattern);
    return !fnmatch(module, base_name(path), 0) || !fnmatch(module, path, 0);
}

/* The length of a name without its template arguments. */
static size_t plain_length(const char *name)
{
    size_t length = strlen(name), depth = 0;

    if (!length || name[length - 1] != '>')
        return length;
    for (size_t i = length; i-- > 0;) {
        depth += name[i] == '>';
        if (name[i] == '<' && --depth == 0)
            return i;
    }
    return length;
}

bool functions_name_matches(const char *name, const char *wanted)
{
    size_t want = strlen(wanted);
    size_t have = strchr(wanted, '<') ? strlen(name) : plain_length(name);

    if (want > have || memcmp(name + have - want, wanted, want) != 0)
        return false;
    return want == have || (have - want >= 2 && memcmp(name + have - want - 2, "::", 2) == 0);
}

static bool name_matches(const char *wanted, const char *name)
{
    if (!strpbrk(wanted, "*?["))
        return functions_name_matches(name, wanted);
    return !fnmatch(wanted, name, 0);
}

bool functions_in_module(struct source *s, const char *pattern, gaddr pc)
{
    uint64_t addr;
    const struct source_mod *m = source_module_find(s, pc, &addr);

    return m && module_matches(pattern, m->path);
}

/* ---- finding ---- */

static void by_scopes(const struct source_mod *m, const char *name, struct functions *out)
{
    for (size_t i = 0; i < m->scopes; i++) {
        const struct source_scope *scope = &m->scope[i];
        if (scope->kind == SOURCE_BLOCK || !scope->name || !name_matches(name, scope->name))
            continue;
        bool inlined = scope->kind == SOURCE_INLINED;
        *SOURCE_PUSH(out->at, out->count) =
            (struct functions_one){.name = scope->name,
                                   .module = m->path,
                                   .entry = scope->entry + m->bias,
                                   .kind = inlined ? FUNCTIONS_INLINED : FUNCTIONS_WHOLE,
                                   .scope = (int32_t)i,
                                   .file = inlined ? scope->call_file : NULL,
                                   .line = inlined ? scope->line : 0};
    }
}

/* Takes @plt away. */
static bool is_stub(const struct source_symbol *symbol, char *name, size_t room)
{
    size_t n = strlen(symbol->name);
    bool stub = n > 4 && strcmp(symbol->name + n - 4, "@plt") == 0;

    snprintf(name, room, "%.*s", (int)(stub ? n - 4 : n), symbol->name);
    return stub;
}

/* Symbols that a function of debug information begins with say nothing new. True: there is such a
 * function, even if nobody knows where. */
static bool by_symbols(struct source *s, const struct source_mod *m, const char *name, bool module,
                       struct functions *out)
{
    char plain[1024];
    bool any = false;

    for (size_t i = 0; i < m->symbols; i++) {
        const struct source_symbol *symbol = &m->symbol[i];
        bool stub = is_stub(symbol, plain, sizeof plain);
        if (!symbol->code || (!stub && !module) || !name_matches(name, plain))
            continue;
        any |= module;
        if (symbol->chooses)
            continue;
        int32_t scope = source_scopes_function(m, source_scopes_at(m, symbol->addr));
        if (scope != SOURCE_NONE && m->scope[scope].entry != symbol->addr && !symbol->bytes)
            continue; /* a label in a function */
        *SOURCE_PUSH(out->at, out->count) =
            (struct functions_one){.name = source_names_add(s->names, plain),
                                   .module = m->path,
                                   .entry = symbol->addr + m->bias,
                                   .kind = stub ? FUNCTIONS_STUB : FUNCTIONS_WHOLE,
                                   .scope = SOURCE_NONE};
    }
    return any;
}

static int by_entry(const void *a, const void *b)
{
    const struct functions_one *x = a, *y = b;

    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->scope > y->scope ? -1 : x->scope < y->scope; /* symbols last */
}

static void drop_twins(struct functions *out)
{
    size_t kept = 0;

    if (out->count)
        qsort(out->at, out->count, sizeof *out->at, by_entry);
    for (size_t i = 0; i < out->count; i++) {
        const struct functions_one *last = kept ? &out->at[kept - 1] : NULL;
        bool twin = last && last->entry == out->at[i].entry && last->kind == out->at[i].kind &&
                    last->kind != FUNCTIONS_INLINED;
        if (!twin)
            out->at[kept++] = out->at[i];
    }
    out->count = kept;
}

/* ---- what to say where there is none ---- */

enum { SIMILAR = 4, NAME_MOST = 64 };

/* Letters to change, add or take away. Only beginnings of long names count. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[NAME_MOST + 1], la = (unsigned)strnlen(a, NAME_MOST),
                                 lb = (unsigned)strnlen(b, NAME_MOST);

    for (unsigned k = 0; k <= lb; k++)
        row[k] = k;
    for (unsigned i = 1; i <= la; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned k = 1; k <= lb; k++) {
            unsigned change = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            unsigned less = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
            row[k] = change < less ? change : less;
        }
    }
    return row[lb];
}

struct similar {
    const char *wanted;
    const char *name[SIMILAR];
    unsigned far[SIMILAR];
    size_t count;
};

/* Functions with source lines come first among those that are as near. */
static void note_similar(struct similar *l, const char *name, bool own)
{
    unsigned far = 2 * distance(name, l->wanted) + !own;
    size_t at = l->count;

    for (size_t i = 0; i < l->count; i++)
        if (l->name[i] == name)
            return;
    while (at && l->far[at - 1] > far)
        at--;
    if (at == SIMILAR)
        return;
    size_t keep = l->count < SIMILAR ? l->count : SIMILAR - 1;
    memmove(&l->name[at + 1], &l->name[at], (keep - at) * sizeof *l->name);
    memmove(&l->far[at + 1], &l->far[at], (keep - at) * sizeof *l->far);
    l->name[at] = name;
    l->far[at] = far;
    l->count = keep + 1;
}

static int no_function(struct source *s, const char *pattern, struct err *err)
{
    struct similar l = {.wanted = name_part(pattern)};
    char list[384] = "";
    size_t n = 0;

    for (size_t i = 0; i < s->modules; i++) {
        const struct source_mod *m = s->module[i];
        if (!module_matches(pattern, m->path))
            continue;
        for (size_t k = 0; k < m->scopes; k++)
            if (m->scope[k].kind != SOURCE_BLOCK && m->scope[k].name)
                note_similar(&l, m->scope[k].name, true);
        for (size_t k = 0; k < m->symbols; k++)
            if (m->symbol[k].code && !strchr(m->symbol[k].name, '@'))
                note_similar(&l, m->symbol[k].name, false);
    }
    for (size_t i = 0; i < l.count && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "; the nearest are ",
                              l.name[i]);
    return err_set_code(err, SOURCE_NO_FUNCTION, "%s: no such function%s", pattern, list);
}

/* Debug information that came apart from its library is large and nobody's own code. */
static bool is_own(const struct source_mod *m)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (m->read || m->executable)
        return true;
    if (!m->elf || elf_getshdrstrndx(m->elf, &names))
        return false;
    while ((section = elf_nextscn(m->elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(m->elf, names, header.sh_name) : NULL;
        if (name && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
            return true;
    }
    return false;
}

int functions_find(struct source *s, const char *pattern, struct functions *out, struct err *err)
{
    const char *name = name_part(pattern);

    bool any = false;

    functions_deinit(out);
    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        bool module = module_matches(pattern, m->path);
        if (name == pattern ? is_own(m) : module)
            source_module_read(s, m);
        else if (!m->symbols)
            source_symbols_read(s, m);
        if (module)
            by_scopes(m, name, out);
        any |= by_symbols(s, m, name, module, out);
    }
    drop_twins(out);
    return any || out->count ? 0 : no_function(s, pattern, err);
}

bool functions_chosen(struct source *s, const char *pattern)
{
    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        if (!m->read && !m->symbols)
            source_symbols_read(s, m);
        for (size_t k = 0; module_matches(pattern, m->path) && k < m->symbols; k++)
            if (m->symbol[k].chooses && name_matches(name_part(pattern), m->symbol[k].name))
                return true;
    }
    return false;
}

bool functions_within(struct source *s, const struct functions_one *instance, gaddr pc)
{
    uint64_t addr, low, high;
    const struct source_mod *m = source_module_at(s, pc, &addr);

    return m && instance->scope != SOURCE_NONE && m->path == instance->module &&
           source_scopes_range(m, instance->scope, addr, &low, &high);
}

int functions_lines(struct source *s, functions_line_fn *fn, void *arg)
{
    int end = 0;

    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        if (is_own(m))
            source_module_read(s, m);
        for (size_t k = 0; !end && k < m->rows; k++)
            if (m->row[k].line)
                end = fn(arg, m->row[k].addr + m->bias, m->row[k].file, m->row[k].line);
    }
    return end;
}
