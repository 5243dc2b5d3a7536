/* source.c - modules, and what is known about a pc.
 *
 * SPDX-License-Identifier: MIT
 *
 * Out of memory ends the program: the tables of source are no input that a caller could make
 * smaller.
 */
#include "source/source.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/search.h"
#include "source/frame_int.h"
#include "source/module.h"
#include "source/names.h"

void *source_grow(void *array, size_t count, size_t bytes)
{
    if (array_fit(&array, count, bytes))
        abort();
    return array;
}

struct source *source_new(void)
{
    struct source *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->names = source_names_new();
    s->files = source_files_new();
    if (!s->names || !s->files) {
        source_free(s);
        return NULL;
    }
    return s;
}

const char *source_keep(struct source *s, const char *text)
{
    return source_names_add(s->names, text);
}

static void free_module(struct source_mod *m)
{
    source_elf_close(m);
    source_units_free(m);
    source_units_forget(m);
    free(m->symbol);
    free(m->site);
    source_slots_free(m);
    free(m->mapping);
    free(m->path);
    free(m);
}

void source_free(struct source *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->modules; i++)
        free_module(s->module[i]);
    free(s->module);
    free(s->part);
    source_names_free(s->names);
    source_files_free(s->files);
    free(s);
}

/* ---- modules ---- */

/* The first part that ends past addr. */
static size_t part_after(const struct source *s, gaddr addr)
{
    return search_upto(s->part, s->parts, end, addr);
}

static int add_part(struct source *s, gaddr start, gaddr end, struct err *err)
{
    size_t at = part_after(s, start);
    const char *path = s->module[s->modules - 1]->path;

    if (start >= end)
        return 0;
    if (at < s->parts && s->part[at].start < end) {
        uint32_t other = s->part[at].module;
        if (other == s->modules - 1) /* segments that share a page */
            return add_part(s, s->part[at].end, end, err);
        return err_set(err, "%s: %s is at 0x%" PRIx64, path, s->module[other]->path, start);
    }
    SOURCE_PUSH(s->part, s->parts);
    memmove(&s->part[at + 1], &s->part[at], (s->parts - 1 - at) * sizeof *s->part);
    s->part[at] = (struct source_part){start, end, (uint32_t)s->modules - 1};
    return 0;
}

int source_add(struct source *s, const struct source_module *module, struct err *err)
{
    struct source_mod *m = calloc(1, sizeof *m);

    if (!m)
        return err_set(err, "%s: no memory", module->path);
    m->path = strdup(module->path);
    m->debug = module->debug;
    m->debug_size = module->debug_size;
    for (size_t i = 0; i < module->mappings; i++)
        *SOURCE_PUSH(m->mapping, m->mappings) = module->mapping[i];
    source_elf_open(m, module);
    *SOURCE_PUSH(s->module, s->modules) = m;
    s->latest = NULL;
    memset(s->answer, 0, sizeof s->answer);
    /* Those that were not given are pages of zeroed data: nothing is lost if somebody has them. */
    size_t given = module->mappings ? module->mappings : m->mappings;
    for (size_t i = 0; i < given; i++)
        if (add_part(s, m->mapping[i].start, m->mapping[i].end, err))
            return -1;
    for (size_t i = given; i < m->mappings; i++)
        add_part(s, m->mapping[i].start, m->mapping[i].end, NULL);
    return 0;
}

static void look_at_producer(struct source_unit *unit, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *producer = NULL;
    int language = dwarf_srclang(die), major = 0, minor = 0;

    if (dwarf_attr_integrate(die, DW_AT_producer, &attribute))
        producer = dwarf_formstring(&attribute);
    unit->llvm = producer && (strstr(producer, "clang") || strstr(producer, "LLVM"));
    unit->tuned = true;
    if (producer && strncmp(producer, "GNU ", 4) == 0) {
        const char *p = producer + 4, *level = NULL;
        for (const char *at = producer; (at = strstr(at, " -O")); at++)
            level = at; /* the last one counts */
        bool c = strncmp(producer, "GNU C", 5) == 0;
        unit->tuned = !c || (level && level[3] != '0');
        unit->settled = c && producer[5] != '+';
        while (*p && (*p < '0' || *p > '9' || p[-1] != ' '))
            p++;
        sscanf(p, "%d.%d", &major, &minor);
        unit->gcc = major > 4 || (major == 4 && minor >= 5);
    }
    unit->cxx = language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
                language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
}

void source_unit_add(struct source_mod *m, Dwarf_Die *die, Dwarf_Die *entries)
{
    struct source_unit *new = SOURCE_PUSH(m->unit, m->units);

    *new = (struct source_unit){.die = dwarf_dieoffset(die),
                                .dwarf = dwarf_cu_getdwarf(entries->cu),
                                .entries = dwarf_dieoffset(entries)};
    look_at_producer(new, entries);
}

const char *source_bare(struct source *s)
{
    for (size_t i = 0; i < s->modules; i++)
        if (s->module[i]->executable) {
            source_module_read(s, s->module[i]);
            return s->module[i]->dwarf ? NULL : s->module[i]->path;
        }
    return NULL;
}

uint64_t source_identity(struct source *s)
{
    uint64_t id = 0;
    for (size_t i = 0; i < s->modules; i++)
        id = hash_fold(id, source_elf_identity(s->module[i]));
    return id;
}

void source_module_read(struct source *s, struct source_mod *m)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;

    if (m->read)
        return;
    m->read = true;
    if (!m->elf)
        return;
    source_elf_debug(m);
    while (m->dwarf && dwarf_get_units(m->dwarf, unit, &unit, NULL, NULL, &die, &split) == 0) {
        int tag = dwarf_tag(&die);
        if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
            continue;
        Dwarf_Die *body = dwarf_tag(&split) == DW_TAG_compile_unit ? &split : &die;
        source_unit_add(m, &die, body);
    }
    source_rows_read(s, m);
    source_scopes_read(s, m);
    source_symbols_all(s, m);
}

struct source_mod *source_module_find(struct source *s, gaddr pc, uint64_t *addr)
{
    size_t at = part_after(s, pc);

    if (at >= s->parts || s->part[at].start > pc)
        return NULL;
    struct source_mod *m = s->module[s->part[at].module];
    *addr = pc - m->bias;
    return m;
}

struct source_mod *source_module_at(struct source *s, gaddr pc, uint64_t *addr)
{
    if (!s->latest || pc < s->latest_part.start || pc >= s->latest_part.end) {
        size_t at = part_after(s, pc);
        if (at >= s->parts || s->part[at].start > pc)
            return NULL;
        s->latest_part = s->part[at];
        s->latest = s->module[s->part[at].module];
        source_module_read(s, s->latest);
    }
    *addr = pc - s->latest->bias;
    return s->latest;
}

/* ---- lines ---- */

static void name_by_symbol(const struct source_mod *m, uint64_t addr, struct source_line *out)
{
    const struct source_symbol *symbol = source_symbols_at(m, addr);

    if (symbol && symbol->code) {
        out->function = out->outer = symbol->name;
        out->entry = symbol->addr + m->bias;
    } else if (m->elf) {
        out->entry = m->bias;
    } else {
        out->entry = m->mapping[0].start - m->mapping[0].offset;
    }
}

static void find_line(struct source *s, gaddr pc, struct source_line *out)
{
    uint64_t addr;
    struct source_mod *m = source_units_at(s, pc, &addr);

    *out = (struct source_line){0};
    if (!m)
        return;
    out->module = m->path;
    out->lines = m->rows > 0 || m->part;
    const struct source_row *row = source_rows_at(m, addr);
    if (row) {
        out->file = row->file;
        out->line = row->line;
        out->column = row->column;
        out->stmt = row->stmt && row->addr == addr;
        out->own = true;
    }
    for (int32_t i = source_scopes_at(m, addr); i != SOURCE_NONE; i = m->scope[i].parent) {
        const struct source_scope *scope = &m->scope[i];
        if (scope->kind == SOURCE_BLOCK)
            continue;
        if (!out->function)
            out->function = scope->name;
        out->inlined += scope->kind == SOURCE_INLINED;
        if (scope->kind == SOURCE_FUNCTION) {
            out->outer = scope->name;
            out->entry = scope->entry + m->bias;
            break;
        }
    }
    if (!out->outer)
        name_by_symbol(m, addr, out);
    out->offset = pc - out->entry;
}

/* Traces come by the same instructions again and again, so answers are kept. */
bool source_line(struct source *s, gaddr pc, struct source_line *out)
{
    struct source_answer *answer = &s->answer[(pc ^ pc >> 12) % SOURCE_ANSWERS];

    if (!answer->given || answer->pc != pc) {
        find_line(s, pc, &answer->line);
        answer->pc = pc;
        answer->given = true;
    }
    *out = answer->line;
    return out->own;
}

size_t source_calls(struct source *s, gaddr pc, struct source_call *out, size_t room)
{
    uint64_t addr;
    struct source_mod *m = source_units_at(s, pc, &addr);
    size_t count = 0;

    if (!m)
        return 0;
    for (int32_t i = source_scopes_at(m, addr); i != SOURCE_NONE; i = m->scope[i].parent) {
        const struct source_scope *scope = &m->scope[i];
        if (scope->kind == SOURCE_FUNCTION)
            break;
        if (scope->kind != SOURCE_INLINED)
            continue;
        if (count < room)
            out[count] = (struct source_call){scope->name, scope->call_file, scope->line};
        count++;
    }
    return count;
}

uint32_t source_line_in(struct source *s, gaddr pc, gaddr entry, const char *file)
{
    uint64_t addr;
    const struct source_mod *m = source_module_at(s, pc, &addr);
    const struct source_row *best = NULL;

    for (size_t u = 0; m && u < m->units; u++)
        for (size_t t = 0; t < m->unit[u].tables; t++) {
            const struct source_table *table = &m->unit[u].table[t];
            if (table->file != file)
                continue;
            for (size_t i = search_below(table->row, table->rows, addr, addr + 1); i-- > 0;) {
                const struct source_row *row = &table->row[i];
                if (row->line && row->addr >= entry - m->bias && (!best || row->addr > best->addr))
                    best = row;
                if (row->line)
                    break;
            }
        }
    return best ? best->line : 0;
}

/* The line at which a function is written; 0: it is not in this file. */
static uint32_t written_at(struct source *s, const struct source_mod *m,
                           const struct source_scope *function, const char *file)
{
    Dwarf_Die die;
    const char *path;
    int line;

    if (!source_scopes_die(m, function->unit, function->die, &die) ||
        dwarf_decl_line(&die, &line) || line < 0 || !(path = dwarf_decl_file(&die)))
        return 0;
    return strcmp(source_names_path(s->names, path), file) == 0 ? (uint32_t)line : 0;
}

/* Does the line call what is inlined there from addr on? */
static bool calls_at(const struct source_mod *m, int32_t inlined, uint64_t addr, const char *file,
                     uint32_t line)
{
    const struct source_scope *scope = &m->scope[inlined];
    uint64_t low, high;

    return scope->line == line && scope->call_file && strcmp(scope->call_file, file) == 0 &&
           source_scopes_range(m, inlined, addr, &low, &high) && low == addr;
}

/* Functions do not nest: the line is of the one that begins last before it. */
uint32_t source_line_depth(struct source *s, gaddr pc, const char *file, uint32_t line)
{
    uint64_t addr;
    struct source_mod *m = source_module_at(s, pc, &addr);
    uint32_t depth = 0, best = 0, latest = 0;

    for (int32_t i = m && file ? source_scopes_at(m, addr) : SOURCE_NONE; i != SOURCE_NONE;
         i = m->scope[i].parent) {
        const struct source_scope *scope = &m->scope[i];
        if (scope->kind == SOURCE_BLOCK)
            continue;
        uint32_t from = written_at(s, m, scope, file);
        if (from > latest && from <= line) {
            latest = from;
            best = depth;
        }
        if (scope->kind == SOURCE_FUNCTION)
            break;
        depth++;
        if (calls_at(m, i, addr, file, line)) {
            latest = 0;
            best = depth;
        }
    }
    return best;
}

/* Does code count to a line of a table? */
static bool has_code(const struct source_mod *m, const struct source_table *table, uint32_t line)
{
    for (size_t i = 0; i < table->rows; i++) {
        const struct source_row *x = &table->row[i];
        const struct source_row *is = x->line == line ? source_rows_at(m, x->addr) : NULL;
        if (is && is->line == line && is->file == table->file)
            return true;
    }
    return false;
}

static size_t add_line(uint32_t *list, size_t count, size_t room, uint32_t line)
{
    size_t at = 0;

    while (at < count && list[at] < line)
        at++;
    if ((at < count && list[at] == line) || count == room)
        return count;
    memmove(&list[at + 1], &list[at], (count - at) * sizeof *list);
    list[at] = line;
    return count + 1;
}

size_t source_lines_merged(struct source *s, gaddr pc, const char *file, uint32_t *line,
                           size_t room)
{
    uint64_t addr;
    const struct source_mod *m = source_units_at(s, pc, &addr);
    size_t count = 0;
    int32_t scope = m ? source_scopes_at(m, addr) : SOURCE_NONE;

    while (scope != SOURCE_NONE && m->scope[scope].kind == SOURCE_BLOCK)
        scope = m->scope[scope].parent;
    uint32_t head = scope == SOURCE_NONE ? 0 : written_at(s, m, &m->scope[scope], file);
    for (size_t u = 0; m && u < m->units; u++)
        for (size_t t = 0; t < m->unit[u].tables; t++) {
            const struct source_table *table = &m->unit[u].table[t];
            if (table->file != file)
                continue;
            for (size_t i = search_below(table->row, table->rows, addr, addr);
                 i < table->rows && table->row[i].addr == addr; i++) {
                const struct source_row *row = &table->row[i];
                if (row->line > head && row->stmt && !source_line_depth(s, pc, file, row->line) &&
                    !has_code(m, table, row->line))
                    count = add_line(line, count, room, row->line);
            }
        }
    return count;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

void source_name(struct source *s, gaddr pc, char *buf, size_t room)
{
    struct source_line line;

    source_line(s, pc, &line);
    if (line.own && line.function)
        snprintf(buf, room, "%s:%u in %s", base_name(line.file), line.line, line.function);
    else if (line.own)
        snprintf(buf, room, "%s:%u", base_name(line.file), line.line);
    else if (line.function)
        snprintf(buf, room, "%s+0x%" PRIx64 " in %s", line.function, line.offset,
                 base_name(line.module));
    else if (line.module)
        snprintf(buf, room, "%s+0x%" PRIx64, base_name(line.module), line.offset);
    else
        snprintf(buf, room, "0x%" PRIx64, pc);
}

bool source_function(struct source *s, gaddr pc, gaddr *start, gaddr *end)
{
    uint64_t addr;
    struct source_mod *m = source_units_at(s, pc, &addr);

    if (!m)
        return false;
    int32_t scope = source_scopes_function(m, source_scopes_at(m, addr));
    if (scope == SOURCE_NONE || !source_scopes_range(m, scope, addr, start, end)) {
        const struct source_symbol *symbol = source_symbols_at(m, addr);
        if (!symbol || !symbol->code || !symbol->bytes)
            return false;
        *start = symbol->addr;
        *end = symbol->addr + symbol->bytes;
    }
    *start += m->bias;
    *end += m->bias;
    return true;
}

/* Functions of libraries that do not return, for where debug information does not say so. */
static const char *const noreturn[] = {
    "_Exit",
    "_Unwind_Resume",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__chk_fail",
    "__cxa_bad_cast",
    "__cxa_call_unexpected",
    "__cxa_rethrow",
    "__cxa_throw",
    "__fortify_fail",
    "__libc_fatal",
    "__libc_start_call_main",
    "__longjmp_chk",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "_exit",
    "_longjmp",
    "abort",
    "err",
    "errx",
    "exit",
    "longjmp",
    "pthread_exit",
    "quick_exit",
    "siglongjmp",
    "thrd_exit",
    "verr",
    "verrx",
    "_ZSt9terminatev",
    "__cxa_throw_bad_array_new_length",
    "__libc_siglongjmp",
};

static bool listed(const char *name)
{
    size_t length = strcspn(name, "@");

    if (strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_"))
        return true; /* std::__throw_length_error() and its like */
    for (size_t i = 0; i < ARRAY_LEN(noreturn); i++)
        if (strlen(noreturn[i]) == length && strncmp(noreturn[i], name, length) == 0)
            return true;
    return false;
}

bool source_is_noreturn(struct source *s, gaddr pc)
{
    uint64_t addr;
    struct source_mod *m = source_units_at(s, pc, &addr);

    if (!m)
        return false;
    int32_t scope = source_scopes_function(m, source_scopes_at(m, addr));
    if (scope != SOURCE_NONE)
        return m->scope[scope].noreturn; /* a program may have its own err() */
    const struct source_symbol *symbol = source_symbols_at(m, addr);
    return symbol && symbol->code && listed(symbol->name);
}

bool source_is_libc(struct source *s, gaddr pc)
{
    uint64_t addr;
    struct source_mod *m = source_units_at(s, pc, &addr);

    return m && addr >= m->libc_low && addr < m->libc_high;
}
