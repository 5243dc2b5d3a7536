/* visible.c - what a name means where a frame is.
 *
 * SPDX-License-Identifier: MIT
 *
 * As for GDB, what is around an inlined call is not visible in it: there follow the globals. A
 * variable that the compiler has left out of an inlined function's copy is still declared in it, so
 * it hides a global of its name.
 */
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "source/module.h"
#include "source/place.h"

struct source_view source_visible_view(struct source *s, gaddr pc, const struct source_frame *frame)
{
    struct source_view view = {.s = s, .frame = frame};
    gaddr scope = frame && frame->scope ? frame->scope : pc;
    uint64_t addr;

    view.here = scope ? source_units_at(s, scope, &view.scope) : NULL;
    view.addr = view.scope;
    if (view.here && scope != pc && source_units_same(source_module_find(s, pc, &addr), view.here))
        view.addr = addr;
    return view;
}

/* From here on all of the module is needed. */
static void read_here(struct source_view *view)
{
    uint64_t addr;

    if (view->here && view->here->part)
        view->here = source_module_at(view->s, view->scope + view->here->bias, &addr);
}

static bool is_named(const char *name, const char *wanted)
{
    size_t have = strlen(name), want = strlen(wanted);

    return want <= have && strcmp(name + have - want, wanted) == 0 &&
           (want == have || (have - want >= 2 && name[have - want - 1] == ':'));
}

/* ---- locals ---- */

/* The function that the frame is of, inlined or not. */
static int32_t own_function(const struct source_view *view)
{
    const struct source_mod *m = view->here;
    uint32_t outside = view->frame ? view->frame->inlined : 0;
    int32_t i = source_scopes_at(m, view->scope);

    while (i != SOURCE_NONE && m->scope[i].kind != SOURCE_FUNCTION &&
           (m->scope[i].kind != SOURCE_INLINED || outside)) {
        outside -= m->scope[i].kind == SOURCE_INLINED;
        i = m->scope[i].parent;
    }
    return i;
}

/* Static variables are in the table, though of no scope. */
static const struct source_var *static_at(const struct source_mod *m, Dwarf *dwarf, Dwarf_Off die)
{
    for (size_t i = 0; i < m->globals; i++) {
        const struct source_var *var = &m->var[m->global[i]];
        if (var->die == die && m->unit[var->unit].dwarf == dwarf)
            return var;
    }
    return NULL;
}

/* What the function that a scope is a copy of declares, and the copy does not have: a static
 * variable, or one that was optimized out. */
static const struct source_var *inherited(struct source_view *view, int32_t scope, const char *name)
{
    const struct source_mod *m = view->here;
    const struct source_scope *copy = &m->scope[scope];
    Dwarf *dwarf = m->unit[copy->unit].dwarf;
    Dwarf_Attribute attribute;
    Dwarf_Die die, original, child;

    if (!source_scopes_die(m, copy->unit, copy->die, &die) ||
        !dwarf_attr(&die, DW_AT_abstract_origin, &attribute) ||
        !dwarf_formref_die(&attribute, &original) || dwarf_child(&original, &child) ||
        dwarf_cu_getdwarf(child.cu) != dwarf)
        return NULL;
    do {
        const char *has = dwarf_diename(&child);
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) || !has ||
            strcmp(has, name) != 0 || dwarf_hasattr(&child, DW_AT_declaration))
            continue;
        view->inherited = (struct source_var){.name = name,
                                              .die = dwarf_dieoffset(&child),
                                              .scope = scope,
                                              .next = SOURCE_NONE,
                                              .unit = copy->unit,
                                              .inner = true};
        const struct source_var *var = static_at(m, dwarf, view->inherited.die);
        return var ? var : &view->inherited;
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

static const struct source_var *local_in(struct source_view *view, int32_t scope, const char *name)
{
    const struct source_mod *m = view->here;

    for (int32_t v = m->scope[scope].variable; v != SOURCE_NONE; v = m->var[v].next)
        if (strcmp(m->var[v].name, name) == 0)
            return &m->var[v];
    return inherited(view, scope, name);
}

/* A local of the frame's function, in the blocks that are around addr. */
static const struct source_var *local_at(struct source_view *view, uint64_t addr, const char *name)
{
    const struct source_mod *m = view->here;
    const struct source_var *found = NULL;
    int32_t function = own_function(view);

    for (int32_t i = source_scopes_at(m, addr); i != SOURCE_NONE; i = m->scope[i].parent) {
        if (!found)
            found = local_in(view, i, name);
        if (i == function)
            return found;
        if (m->scope[i].kind != SOURCE_BLOCK)
            found = NULL; /* of another function, which is inlined in this one */
    }
    return NULL;
}

/* ---- what is of no frame ---- */

enum kind { UNIT_STATIC, GLOBAL, FUNCTION_STATIC };

static enum kind kind_of(const struct source_var *var)
{
    return var->inner ? FUNCTION_STATIC : var->external ? GLOBAL : UNIT_STATIC;
}

/* One of this kind and of the unit; UINT32_MAX: of any. */
static const struct source_var *lasting_in(const struct source_mod *m, uint32_t unit,
                                           enum kind kind, const char *name)
{
    for (size_t i = 0; i < m->lastings; i++) {
        const struct source_var *var = &m->var[m->lasting[i]];
        if (kind_of(var) == kind && (unit == UINT32_MAX || var->unit == unit) &&
            is_named(var->name, name))
            return var;
    }
    return NULL;
}

/* The same in all modules, in the order in which they were loaded. */
static const struct source_var *lasting_anywhere(struct source_view *view, enum kind kind,
                                                 const char *name)
{
    const struct source_var *var = NULL;

    for (size_t i = 0; !var && i < view->s->modules; i++) {
        view->m = view->s->module[i];
        if (!source_strings_variable(view->m, name))
            continue;
        source_module_read(view->s, view->m);
        var = lasting_in(view->m, UINT32_MAX, kind, name);
    }
    return var;
}

static uint32_t unit_at(const struct source_mod *m, uint64_t addr)
{
    int32_t scope = source_scopes_at(m, addr);

    return scope == SOURCE_NONE ? UINT32_MAX : m->scope[scope].unit;
}

/* What is static in the unit, or its globals. */
static const struct source_var *lasting_of_unit(struct source_view *view, const char *name)
{
    const struct source_var *var = NULL;
    uint32_t unit = view->here ? unit_at(view->here, view->scope) : UINT32_MAX;

    view->m = view->here;
    if (unit != UINT32_MAX && !(var = lasting_in(view->here, unit, UNIT_STATIC, name)))
        var = lasting_in(view->here, unit, GLOBAL, name);
    return var;
}

/* In GDB's order: what is static in the unit, its globals, globals of all modules, what is static
 * in any of them. A library's static variable does not hide the program's global, not even while
 * the library executes. */
static const struct source_var *lasting_at(struct source_view *view, const char *name)
{
    const struct source_var *var = lasting_of_unit(view, name);

    if (var && view->here->part) {
        read_here(view);
        var = lasting_of_unit(view, name);
    }
    if (!var)
        var = lasting_anywhere(view, GLOBAL, name);
    if (!var)
        var = lasting_anywhere(view, UNIT_STATIC, name);
    if (!var || source_units_same(view->m, view->here))
        read_here(view);
    return var;
}

/* GDB wants the function's name with these: the nearest one is meant. */
static const struct source_var *function_static(struct source_view *view, const char *name)
{
    const struct source_var *var = NULL;

    if (view->here) {
        view->m = view->here;
        var = lasting_in(view->m, unit_at(view->m, view->scope), FUNCTION_STATIC, name);
        if (!var)
            var = lasting_in(view->m, UINT32_MAX, FUNCTION_STATIC, name);
    }
    return var ? var : lasting_anywhere(view, FUNCTION_STATIC, name);
}

/* ---- names with a file or function before them ---- */

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
    for (size_t i = 0; i < m->lastings; i++) {
        const struct source_var *var = &m->var[m->lasting[i]];
        if (is_named(var->name, q->name) && is_of(m, var, q) && (q->function || !var->inner))
            return var;
    }
    return NULL;
}

/* A local of a function that the frame is in, or around whose inlined call it is. */
static const struct source_var *qualified_here(struct source_view *view, const struct qualified *q)
{
    const struct source_mod *m = view->here;
    const struct source_var *var;
    uint32_t outside = view->frame ? view->frame->inlined : 0;

    for (int32_t i = source_scopes_at(m, view->scope); i != SOURCE_NONE; i = m->scope[i].parent) {
        if (!outside && (var = local_in(view, i, q->name)) && is_of(m, var, q))
            return var;
        if (m->scope[i].kind == SOURCE_FUNCTION)
            break;
        outside -= outside && m->scope[i].kind == SOURCE_INLINED;
    }
    return NULL;
}

static const struct source_var *find_qualified(struct source_view *view, const char *name)
{
    struct source *s = view->s;
    struct qualified q = take_apart(name);
    const struct source_var *var = NULL;

    if (!q.file && !q.function)
        return NULL;
    if (view->here) {
        view->m = view->here;
        if (q.function)
            var = qualified_here(view, &q);
        if (!var)
            var = qualified_in(view->here, &q);
    }
    for (size_t i = 0; !var && i < s->modules; i++) {
        view->m = s->module[i];
        source_module_read(s, view->m);
        var = qualified_in(view->m, &q);
    }
    return var;
}

const struct source_var *source_visible_local(struct source_view *view, const char *name)
{
    view->m = view->here;
    const struct source_var *var = view->here ? local_at(view, view->scope, name) : NULL;
    if (!var || !view->here->part)
        return var;
    read_here(view);
    view->m = view->here;
    return local_at(view, view->scope, name);
}

const struct source_var *source_visible(struct source_view *view, const char *name)
{
    const struct source_var *var = source_visible_local(view, name);

    if (!var)
        var = lasting_at(view, name);
    if (!var)
        var = function_static(view, name);
    if (!var && view->here) { /* what a line declares may be visible only behind it */
        view->m = view->here;
        var = local_at(view, view->addr, name);
    }
    return var ? var : find_qualified(view, name);
}
