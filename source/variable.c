/* variable.c - variables by address, by register and by name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source/variable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "source/place.h"
#include "source/source_int.h"

enum { FRAME_MAX_BYTES = 64 << 20, ARGUMENTS_MAX_BYTES = 1 << 20 };

/* ---- by address ---- */

/* Where a name goes, and perhaps a type. */
struct name {
    char *buf;
    size_t room;
    struct source_type *type;
};

/* Writes the variable's name and the path to the part at `offset`. */
static void write_name(const struct source_mod *m, const struct source_var *var, uint64_t offset,
                       uint32_t bytes, struct name *out)
{
    Dwarf_Die die;
    int n = snprintf(out->buf, out->room, "%s", var->name);

    if (n > 0 && (size_t)n < out->room && source_scopes_die(m, var->unit, var->die, &die))
        source_type_path(&die, offset, bytes ? bytes : 1, out->buf + n, out->room - (size_t)n,
                         out->type);
}

/* The local or parameter at addr, and how far into it that is. */
static const struct source_var *local_at(const struct source_view *view, gaddr addr,
                                         uint64_t *offset)
{
    const struct source_mod *m = view->m;
    struct source_place place;

    for (int32_t i = source_scopes_at(m, view->addr); i != SOURCE_NONE; i = m->scope[i].parent) {
        for (int32_t v = m->scope[i].variable; v != SOURCE_NONE; v = m->var[v].next) {
            uint64_t before = 0;
            if (source_place_find(view, &m->var[v], &place, NULL))
                continue;
            for (uint32_t k = 0; k < place.pieces; before += place.piece[k++].bytes) {
                const struct source_piece *piece = &place.piece[k];
                if (piece->where != SOURCE_MEMORY || addr < piece->address ||
                    addr - piece->address >= (piece->bytes ? piece->bytes : 1))
                    continue;
                *offset = before + addr - piece->address;
                return &m->var[v];
            }
        }
        if (m->scope[i].kind == SOURCE_FUNCTION)
            break;
    }
    return NULL;
}

static bool find_local(const struct source_view *view, gaddr addr, uint32_t bytes, struct name *out)
{
    uint64_t offset;
    const struct source_var *var = local_at(view, addr, &offset);

    if (var)
        write_name(view->m, var, offset, bytes, out);
    return var;
}

/* The global, or thread-local variable, that has an address or offset. */
static const struct source_var *global_at(const struct source_mod *m, uint64_t addr, bool tls)
{
    size_t low = 0, high = m->globals;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct source_var *var = &m->var[m->global[middle]];
        if (var->tls < tls || (var->tls == tls && var->addr <= addr))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low, tried = 0; i-- > 0 && tried < 8; tried++) {
        const struct source_var *var = &m->var[m->global[i]];
        if (var->tls == tls && addr - var->addr < (var->bytes ? var->bytes : 1))
            return var;
    }
    return NULL;
}

static bool find_global(struct source *s, gaddr addr, uint32_t bytes, struct name *out)
{
    uint64_t at;
    struct source_mod *m = source_module_at(s, addr, &at);

    if (!m)
        return false;
    const struct source_var *var = global_at(m, at, false);
    if (var) {
        write_name(m, var, at - var->addr, bytes, out);
        return true;
    }
    const struct source_symbol *symbol = source_symbols_at(m, at);
    if (!symbol || symbol->code || !symbol->bytes)
        return false;
    if (at == symbol->addr)
        snprintf(out->buf, out->room, "%s", symbol->name);
    else
        snprintf(out->buf, out->room, "%s+%" PRIu64, symbol->name, at - symbol->addr);
    return true;
}

static bool find_tls(struct source *s, const struct source_mod *here,
                     const struct source_frame *frame, gaddr addr, uint32_t bytes, struct name *out)
{
    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        gaddr base = source_place_tls(m, here, frame);
        if (!base || addr < base || addr - base >= m->tls_bytes)
            continue;
        source_module_read(s, m);
        const struct source_var *var = global_at(m, addr - base, true);
        if (var)
            write_name(m, var, addr - base - var->addr, bytes, out);
        return var;
    }
    return false;
}

/* Looking through locals takes time, so it is not done for what cannot be one: far from the frame,
 * or without anything known about the frame. */
static bool may_be_local(const struct source_frame *frame, gaddr addr)
{
    if (!frame)
        return false;
    if (frame->reg)
        return true;
    return frame->cfa &&
           addr - (frame->cfa - FRAME_MAX_BYTES) < FRAME_MAX_BYTES + ARGUMENTS_MAX_BYTES;
}

bool source_variable_typed(struct source *s, gaddr pc, const struct source_frame *frame, gaddr addr,
                           uint32_t bytes, char *buf, size_t room, struct source_type *type)
{
    uint64_t at = 0;
    struct source_mod *here = source_module_at(s, pc, &at);
    struct source_view view = {s, here, here, at, frame};
    struct name out = {buf, room, type};

    if (room)
        buf[0] = 0;
    if (type)
        *type = (struct source_type){0};
    if (here && here->dwarf && may_be_local(frame, addr) && find_local(&view, addr, bytes, &out))
        return true;
    return find_global(s, addr, bytes, &out) ||
           (frame && find_tls(s, here, frame, addr, bytes, &out));
}

bool source_variable(struct source *s, gaddr pc, const struct source_frame *frame, gaddr addr,
                     uint32_t bytes, char *buf, size_t room)
{
    return source_variable_typed(s, pc, frame, addr, bytes, buf, room, NULL);
}

const struct source_var *source_place_variable(struct source *s, gaddr pc,
                                               const struct source_frame *frame, gaddr addr,
                                               struct source_mod **m, uint64_t *offset)
{
    uint64_t at = 0;
    struct source_mod *here = source_module_at(s, pc, &at);
    struct source_view view = {s, here, here, at, frame};
    const struct source_var *var = NULL;

    if (here && here->dwarf && may_be_local(frame, addr))
        var = local_at(&view, addr, offset);
    *m = here;
    if (!var && (*m = source_module_at(s, addr, &at)) && (var = global_at(*m, at, false)))
        *offset = at - var->addr;
    return var;
}

bool source_is_atomic(struct source *s, gaddr addr)
{
    struct source_mod *m;
    uint64_t offset;
    const struct source_var *var = source_place_variable(s, 0, NULL, addr, &m, &offset);
    Dwarf_Die die;
    char unused[1];

    return var && source_scopes_die(m, var->unit, var->die, &die) &&
           source_type_path(&die, offset, 1, unused, sizeof unused, NULL);
}

/* ---- by register ---- */

const char *source_register_typed(struct source *s, gaddr pc, unsigned reg,
                                  struct source_type *type)
{
    uint64_t at;
    Dwarf_Die die;
    struct source_mod *m = source_module_at(s, pc, &at);

    if (!m || !m->dwarf)
        return NULL;
    struct source_view view = {s, m, m, at, NULL};
    for (int32_t i = source_scopes_at(m, at); i != SOURCE_NONE; i = m->scope[i].parent) {
        for (int32_t v = m->scope[i].variable; v != SOURCE_NONE; v = m->var[v].next)
            if (source_place_is_register(&view, &m->var[v], reg)) {
                if (type && source_scopes_die(m, m->var[v].unit, m->var[v].die, &die))
                    *type = source_types_of_variable(&die);
                return m->var[v].name;
            }
        if (m->scope[i].kind == SOURCE_FUNCTION)
            break;
    }
    return NULL;
}

const char *source_register_variable(struct source *s, gaddr pc, unsigned reg)
{
    return source_register_typed(s, pc, reg, NULL);
}

/* ---- by name ---- */

static bool is_named(const char *name, const char *wanted)
{
    size_t have = strlen(name), want = strlen(wanted);

    return want <= have && strcmp(name + have - want, wanted) == 0 &&
           (want == have || (have - want >= 2 && name[have - want - 1] == ':'));
}

/* A local of the function at the view, seen from its frame: from outside of calls that were
 * inlined. With `own` not one of what is around the frame's own call, if that was inlined. */
static const struct source_var *local_named(const struct source_view *view, const char *name,
                                            bool own)
{
    const struct source_mod *m = view->here;
    uint32_t outside = view->frame ? view->frame->inlined : 0;

    for (int32_t i = source_scopes_at(m, view->addr); i != SOURCE_NONE; i = m->scope[i].parent) {
        for (int32_t v = m->scope[i].variable; v != SOURCE_NONE && !outside; v = m->var[v].next)
            if (strcmp(m->var[v].name, name) == 0)
                return &m->var[v];
        if (m->scope[i].kind == SOURCE_FUNCTION ||
            (m->scope[i].kind == SOURCE_INLINED && own && !outside))
            break;
        outside -= outside && m->scope[i].kind == SOURCE_INLINED;
    }
    return NULL;
}

/* A global of one unit, or with UINT32_MAX of any. Those that only a function sees come last. */
static const struct source_var *global_named(const struct source_mod *m, uint32_t unit,
                                             const char *name)
{
    const struct source_var *inner = NULL;

    for (size_t i = 0; i < m->globals; i++) {
        const struct source_var *var = &m->var[m->global[i]];
        if ((unit != UINT32_MAX && var->unit != unit) || !is_named(var->name, name))
            continue;
        if (var->scope == SOURCE_NONE)
            return var;
        if (!inner)
            inner = var;
    }
    return inner;
}

/* A global of which only the value is known: a constant. */
static const struct source_var *constant_named(const struct source_mod *m, const char *name)
{
    for (size_t i = 0; i < m->vars; i++)
        if (m->var[i].scope == SOURCE_NONE && is_named(m->var[i].name, name))
            return &m->var[i];
    return NULL;
}

static uint32_t unit_at(const struct source_mod *m, uint64_t addr)
{
    int32_t scope = source_scopes_at(m, addr);

    return scope == SOURCE_NONE ? UINT32_MAX : m->scope[scope].unit;
}

/* As the frame's own function has it: a global of the file hides what is around an inlined call. */
static const struct source_var *named_inside(const struct source_view *view, const char *name)
{
    const struct source_var *var = local_named(view, name, true);

    if (var)
        return var;
    var = global_named(view->here, unit_at(view->here, view->addr), name);
    return var && var->scope == SOURCE_NONE ? var : NULL;
}

/* `FILE` or the end of its path, as the unit calls it. */
static bool unit_is(const struct source_mod *m, uint32_t unit, const char *file, size_t length)
{
    Dwarf_Die die;
    const char *name =
        source_scopes_die(m, unit, m->unit[unit].entries, &die) ? dwarf_diename(&die) : NULL;
    size_t have = name ? strlen(name) : 0;

    return have >= length && strncmp(name + have - length, file, length) == 0 &&
           (have == length || name[have - length - 1] == '/');
}

/* The name without the file and function before it; those are NULL, or part of it. */
struct qualified {
    const char *name, *file, *function;
    size_t file_length, function_length;
};

static struct qualified take_apart(const char *name)
{
    struct qualified q = {.name = name};
    const char *end = name[0] == '\'' ? strchr(name + 1, '\'') : NULL;

    if (end && strncmp(end, "'::", 3) == 0) {
        q.file = name + 1;
        q.file_length = (size_t)(end - q.file);
        q.name = end + 3;
    }
    for (const char *p = q.name; (p = strstr(p, "::")); p += 2) {
        q.function = q.file ? q.file + q.file_length + 3 : name;
        q.function_length = (size_t)(p - q.function);
    }
    if (q.function)
        q.name = q.function + q.function_length + 2;
    return q;
}

/* Is it a variable of the function? */
static bool is_of(const struct source_mod *m, const struct source_var *var,
                  const struct qualified *q)
{
    char function[256];
    int32_t scope = var->scope;

    if (q->file && !unit_is(m, var->unit, q->file, q->file_length))
        return false;
    if (!q->function)
        return true;
    while (scope != SOURCE_NONE && !m->scope[scope].name)
        scope = m->scope[scope].parent;
    snprintf(function, sizeof function, "%.*s", (int)q->function_length, q->function);
    return scope != SOURCE_NONE && is_named(m->scope[scope].name, function);
}

static const struct source_var *qualified_in(const struct source_mod *m, const struct qualified *q)
{
    for (size_t i = 0; i < m->globals; i++) {
        const struct source_var *var = &m->var[m->global[i]];
        if (is_named(var->name, q->name) && is_of(m, var, q) &&
            (q->function || var->scope == SOURCE_NONE))
            return var;
    }
    return NULL;
}

/* A static variable of a file or function, or a local of the function at the view. */
static const struct source_var *find_qualified(struct source_view *view, const char *name)
{
    struct source *s = view->s;
    struct qualified q = take_apart(name);
    const struct source_var *var = NULL;

    if (!q.file && !q.function)
        return NULL;
    if (view->here) {
        view->m = view->here;
        var = local_named(view, q.name, false);
        if (!var || !q.function || !is_of(view->here, var, &q))
            var = qualified_in(view->here, &q);
    }
    for (size_t i = 0; !var && i < s->modules; i++) {
        view->m = s->module[i];
        source_module_read(s, view->m);
        var = qualified_in(view->m, &q);
    }
    return var;
}

const struct source_var *source_variable_named(struct source_view *view, const char *name)
{
    struct source *s = view->s;
    const struct source_var *var = NULL;

    if (view->here) {
        view->m = view->here;
        if (view->frame && view->frame->exact)
            var = named_inside(view, name);
        if (!var)
            var = local_named(view, name, false);
        if (!var)
            var = global_named(view->here, unit_at(view->here, view->addr), name);
        if (!var)
            var = global_named(view->here, UINT32_MAX, name);
        if (!var)
            var = constant_named(view->here, name);
    }
    for (size_t i = 0; !var && i < s->modules; i++) {
        view->m = s->module[i];
        source_module_read(s, view->m);
        var = global_named(view->m, UINT32_MAX, name);
    }
    return var ? var : find_qualified(view, name);
}

/* Without debug information a variable is a symbol. */
static bool find_symbol(struct source *s, const char *name, struct source_place *out)
{
    for (size_t i = 0; i < s->modules; i++) {
        const struct source_mod *m = s->module[i];
        for (size_t k = 0; k < m->symbols; k++) {
            const struct source_symbol *symbol = &m->symbol[k];
            if (symbol->code || !symbol->bytes || strcmp(symbol->name, name) != 0)
                continue;
            memset(out, 0, sizeof *out);
            out->bytes = symbol->bytes;
            out->pieces = 1;
            out->piece[0] = (struct source_piece){.where = SOURCE_MEMORY,
                                                  .address = symbol->addr + m->bias,
                                                  .bytes = (uint32_t)symbol->bytes};
            return true;
        }
    }
    return false;
}

int source_variable_at(struct source *s, gaddr pc, const struct source_frame *frame,
                       const char *name, struct source_place *out, struct err *err)
{
    struct source_view view = {.s = s, .frame = frame};
    struct err why;

    view.here = pc ? source_module_at(s, pc, &view.addr) : NULL;
    const struct source_var *var = source_variable_named(&view, name);
    if (!var && find_symbol(s, name, out))
        return 0;
    if (!var)
        return err_set_code(err, SOURCE_NO_VARIABLE, "%s: no such variable%s", name,
                            pc ? " is visible here" : "");
    if (source_place_find(&view, var, out, &why))
        return err_set_code(err, why.code, "%s: %s", name, why.msg);
    return 0;
}
