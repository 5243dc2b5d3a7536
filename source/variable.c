/* variable.c - variables by address, by register and by name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source/variable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "source/module.h"
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
    const struct source_var *all = m->var;
    const size_t behind =
        search_first(m->globals, i,
                     all[m->global[i]].tls < tls ||
                         (all[m->global[i]].tls == tls && all[m->global[i]].addr <= addr));

    for (size_t i = behind, tried = 0; i-- > 0 && tried < 8; tried++) {
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
    struct source_mod *here = source_units_at(s, pc, &at);
    struct source_view view = {.s = s, .m = here, .here = here, .addr = at, .frame = frame};
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
    struct source_mod *here = source_units_at(s, pc, &at);
    struct source_view view = {.s = s, .m = here, .here = here, .addr = at, .frame = frame};
    const struct source_var *var = NULL;

    if (here && here->dwarf && may_be_local(frame, addr))
        var = local_at(&view, addr, offset);
    *m = here;
    if (!var && (*m = source_module_at(s, addr, &at)) && (var = global_at(*m, at, false)))
        *offset = at - var->addr;
    return var;
}

/* Variables of inner scopes, of inlined functions too, come and go, and their memory is used again;
 * in other languages than C, and by other compilers, temporary objects do so everywhere. */
static bool shares_memory(const struct source_view *view, int32_t function)
{
    const struct source_mod *m = view->m;
    Dwarf_Die die;

    if (!m->unit[m->scope[function].unit].settled)
        return true;
    for (int32_t i = function + 1;
         (size_t)i < m->scopes && source_scopes_function(m, i) == function; i++)
        for (int32_t v = m->scope[i].variable; v != SOURCE_NONE; v = m->var[v].next) {
            struct source_place place;
            if (!source_scopes_die(m, m->var[v].unit, m->var[v].die, &die) ||
                source_type_bytes(&die) > sizeof(uint64_t))
                return true;
            if (!source_place_find(view, &m->var[v], &place, NULL) && place.pieces == 1 &&
                place.piece[0].where == SOURCE_MEMORY)
                return true;
        }
    return false;
}

static bool local_object(const struct source_view *view, gaddr addr, struct source_object *out)
{
    const struct source_mod *m = view->m;
    struct source_place place;
    uint64_t offset;
    const struct source_var *var = local_at(view, addr, &offset);

    if (!var || source_place_find(view, var, &place, NULL) || place.pieces != 1 ||
        !place.piece[0].bytes)
        return false;
    const struct source_unit *unit = &m->unit[var->unit];
    *out = (struct source_object){.start = place.piece[0].address,
                                  .bytes = place.piece[0].bytes,
                                  .tuned = unit->tuned || unit->loclists};
    int32_t function = source_scopes_function(m, source_scopes_at(m, view->addr));
    /* without optimisation, large ones of inner scopes are, with C++'s temporary objects */
    out->shared = out->tuned ? shares_memory(view, function)
                             : !unit->settled && m->scope[var->scope].kind != SOURCE_FUNCTION;
    return true;
}

/* A section whose name is an identifier may be an array that the linker made of many variables. */
static bool global_object(struct source *s, gaddr addr, struct source_object *out)
{
    uint64_t at;
    const struct source_mod *m = source_module_at(s, addr, &at);
    const char *section = m ? source_elf_section(m, at) : NULL;

    if (!section || section[0] != '.')
        return false;
    const struct source_var *var = global_at(m, at, false);
    const struct source_symbol *symbol = source_symbols_at(m, at);
    if (symbol && (symbol->code || !symbol->bytes))
        symbol = NULL;
    if (!symbol && (!var || !var->bytes))
        return false;
    uint64_t start = symbol ? symbol->addr : var->addr, bytes = symbol ? symbol->bytes : var->bytes;
    if (symbol && var && var->addr <= symbol->addr && var->bytes > symbol->bytes) {
        start = var->addr;
        bytes = var->bytes;
    }
    *out = (struct source_object){.start = start + m->bias, .bytes = bytes};
    return true;
}

/* Was the code optimized? Where that is not known: yes. */
static bool is_tuned(const struct source_mod *here, uint64_t at)
{
    const int32_t scope = here ? source_scopes_at(here, at) : SOURCE_NONE;

    if (scope == SOURCE_NONE)
        return true;
    const struct source_unit *unit = &here->unit[here->scope[scope].unit];
    return unit->tuned || unit->loclists;
}

bool source_object(struct source *s, gaddr pc, const struct source_frame *frame, gaddr addr,
                   struct source_object *out)
{
    uint64_t at = 0;
    struct source_mod *here = source_units_at(s, pc, &at);
    struct source_view view = {.s = s, .m = here, .here = here, .addr = at, .frame = frame};

    if (frame)
        return here && here->dwarf && local_object(&view, addr, out);
    if (!global_object(s, addr, out))
        return false;
    out->tuned = is_tuned(here, at);
    return true;
}

bool source_variable_declared(struct source *s, gaddr pc, const struct source_frame *frame,
                              gaddr addr, const char **file, uint32_t *line)
{
    struct source_mod *m;
    uint64_t offset;
    int number;
    const struct source_var *var = source_place_variable(s, pc, frame, addr, &m, &offset);
    Dwarf_Die die;
    const char *path;

    if (!var || !source_scopes_die(m, var->unit, var->die, &die) ||
        dwarf_decl_line(&die, &number) || number <= 0 || !(path = dwarf_decl_file(&die)))
        return false;
    *file = source_keep(s, path);
    *line = (uint32_t)number;
    return true;
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
    struct source_mod *m = source_units_at(s, pc, &at);

    if (!m || !m->dwarf)
        return NULL;
    struct source_view view = {.s = s, .m = m, .here = m, .addr = at};
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

/* Without debug information a variable is a symbol, of any module; a global one, if there is one.
 */
static bool find_symbol(struct source *s, const char *name, struct source_place *out)
{
    for (size_t i = 0; i < 2 * s->modules; i++) {
        struct source_mod *m = s->module[i % s->modules];
        source_symbols_all(s, m);
        const struct source_symbol *symbol = source_symbols_data(m, name, i >= s->modules);
        if (!symbol)
            continue;
        memset(out, 0, sizeof *out);
        out->bytes = symbol->bytes;
        out->pieces = 1;
        out->piece[0] = (struct source_piece){.where = SOURCE_MEMORY,
                                              .address = symbol->addr + m->bias,
                                              .bytes = (uint32_t)symbol->bytes};
        return true;
    }
    return false;
}

int source_variable_this(struct source *s, gaddr pc, const struct source_frame *frame,
                         struct source_place *out, struct err *err)
{
    struct source_view view = source_visible_view(s, pc, frame);
    const struct source_var *var = source_visible_local(&view, "this");

    if (!var)
        return err_set_code(err, SOURCE_NO_VARIABLE, "this is in no method");
    return source_place_find(&view, var, out, err);
}

int source_variable_at(struct source *s, gaddr pc, const struct source_frame *frame,
                       const char *name, struct source_place *out, struct err *err)
{
    struct source_view view = source_visible_view(s, pc, frame);
    struct err why;
    const struct source_var *var = source_visible(&view, name);
    if (!var && find_symbol(s, name, out))
        return 0;
    if (!var)
        return err_set_code(err, SOURCE_NO_VARIABLE, "%s: no such variable%s", name,
                            pc ? " is visible here" : "");
    if (source_place_find(&view, var, out, &why))
        return err_set_code(err, why.code, "%s: %s", name, why.msg);
    return 0;
}
