/* scopes.c - functions, inlined functions, blocks, and the variables in them.
 *
 * SPDX-License-Identifier: MIT
 *
 * One walk over all entries of a module's debug information, at the module's first use. Ranges of
 * scopes nest, so a sweep over them in order of address with a stack gives the innermost scope of
 * every address; where a compiler's ranges do not nest, the innermost is the one that began last.
 */
#define _GNU_SOURCE /* qsort_r */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "source/names.h"
#include "source/source_int.h"

/* Where the walk is. */
struct walk {
    struct source *s;
    struct source_mod *m;
    struct declared *declared; /* what is declared in classes and namespaces, by offset */
    size_t count;
    uint32_t unit;
    int depth;     /* of entries: deep ones are not believed */
    bool abstract; /* in a function that has no code here, but is inlined elsewhere */
};

/* A declaration that a definition elsewhere refers to, and the scope's name before its own. */
struct declared {
    Dwarf_Off die;
    const char *prefix;
};

enum { DEPTH_MAX = 400, REFERENCES_MAX = 16 };

static void walk_children(struct walk *w, Dwarf_Die *die, int32_t scope, const char *prefix);

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &value))
        return 0;
    return value;
}

static bool flag_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool value = false;

    return dwarf_attr_integrate(die, name, &attribute) && !dwarf_formflag(&attribute, &value) &&
           value;
}

/* The prefix of the declaration that a definition outside of its scope belongs to. */
static const char *prefix_of(const struct walk *w, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die declaration = *die;

    for (int i = 0; dwarf_attr(&declaration, DW_AT_abstract_origin, &attribute) ||
                    dwarf_attr(&declaration, DW_AT_specification, &attribute);
         i++)
        if (i == REFERENCES_MAX || !dwarf_formref_die(&attribute, &declaration))
            return "";
    if (dwarf_cu_getdwarf(declaration.cu) != w->m->unit[w->unit].dwarf)
        return "";
    Dwarf_Off offset = dwarf_dieoffset(&declaration);
    size_t i = search_below(w->declared, w->count, die, offset);
    return i < w->count && w->declared[i].die == offset ? w->declared[i].prefix : "";
}

static const char *joined(struct walk *w, const char *prefix, const char *name)
{
    char text[1024];

    if (!prefix[0])
        return source_names_add(w->s->names, name);
    snprintf(text, sizeof text, "%s::%s", prefix, name);
    return source_names_add(w->s->names, text);
}

/* The same where the declaration comes later, as clang's static members do. */
static const char *prefix_ahead(struct walk *w, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die declaration, *scope = NULL;
    const char *prefix = "";

    if (!dwarf_attr(die, DW_AT_specification, &attribute) ||
        !dwarf_formref_die(&attribute, &declaration))
        return prefix;
    int n = dwarf_getscopes_die(&declaration, &scope);
    for (int i = n - 2; i > 0; i--) /* the unit is the last, itself the first */
        if (dwarf_diename(&scope[i]))
            prefix = joined(w, prefix, dwarf_diename(&scope[i]));
    free(scope);
    return prefix;
}

static const char *name_of(struct walk *w, Dwarf_Die *die, const char *prefix)
{
    const char *name = dwarf_diename(die);

    if (!name)
        return NULL;
    if (w->m->unit[w->unit].cxx && (!prefix[0] || dwarf_hasattr(die, DW_AT_specification))) {
        const char *declared = prefix_of(w, die);
        if (!declared[0])
            declared = prefix_ahead(w, die);
        prefix = declared[0] ? declared : prefix;
    }
    return joined(w, prefix, name);
}

static const char *call_file(struct walk *w, Dwarf_Die *die)
{
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    uint64_t number = number_of(die, DW_AT_call_file);

    if (!source_scopes_die(w->m, w->unit, w->m->unit[w->unit].entries, &unit) ||
        dwarf_getsrcfiles(&unit, &files, &count) || number >= count)
        return NULL;
    const char *name = dwarf_filesrc(files, number, NULL, NULL);
    return name ? source_names_path(w->s->names, name) : NULL;
}

static int32_t add_scope(struct walk *w, Dwarf_Die *die, int32_t parent, int tag,
                         const char *prefix)
{
    struct source_mod *m = w->m;
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;
    int32_t number = (int32_t)m->scopes;
    bool any = false;
    struct source_scope scope = {
        .die = dwarf_dieoffset(die), .parent = parent, .variable = SOURCE_NONE, .unit = w->unit};

    while ((next = dwarf_ranges(die, next, &base, &low, &high)) > 0) {
        if (low >= high || low < m->text_low)
            continue;
        if (!any)
            scope.entry = low;
        any = true;
        *SOURCE_PUSH(m->range, m->ranges) = (struct source_range){low, high, number};
    }
    if (!any)
        return SOURCE_NONE;
    scope.kind = tag == DW_TAG_subprogram           ? SOURCE_FUNCTION
                 : tag == DW_TAG_inlined_subroutine ? SOURCE_INLINED
                                                    : SOURCE_BLOCK;
    if (scope.kind != SOURCE_BLOCK) {
        scope.name = name_of(w, die, prefix);
        scope.noreturn = flag_of(die, DW_AT_noreturn);
        scope.line = (uint32_t)number_of(die, scope.kind == SOURCE_INLINED ? DW_AT_call_line
                                                                           : DW_AT_decl_line);
        if (scope.kind == SOURCE_INLINED)
            scope.call_file = call_file(w, die);
    }
    *SOURCE_PUSH(m->scope, m->scopes) = scope;
    return number;
}

/* A location that is the same everywhere: DW_OP_addr, or an offset in the thread's block. */
static bool fixed_address(Dwarf_Attribute *location, uint64_t *addr, bool *tls)
{
    Dwarf_Op *op;
    Dwarf_Attribute result;
    size_t count;

    if (dwarf_getlocation(location, &op, &count) || !count)
        return false;
    *tls = count == 2 &&
           (op[1].atom == DW_OP_form_tls_address || op[1].atom == DW_OP_GNU_push_tls_address);
    if (count != (*tls ? 2 : 1))
        return false;
    switch (op[0].atom) {
    case DW_OP_addr:
    case DW_OP_const4u:
    case DW_OP_const8u:
        *addr = op[0].number;
        return op[0].atom == DW_OP_addr || *tls;
    case DW_OP_addrx:
    case DW_OP_constx:
    case DW_OP_GNU_addr_index:
    case DW_OP_GNU_const_index:
        return !dwarf_getlocation_attr(location, op, &result) && !dwarf_formaddr(&result, addr);
    default:
        return false;
    }
}

static uint64_t size_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word bytes;

    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
        !dwarf_formref_die(&attribute, &type) || dwarf_aggregate_size(&type, &bytes))
        return 0;
    return bytes;
}

static bool is_list(Dwarf_Attribute *location)
{
    unsigned form = dwarf_whatform(location);

    return form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4;
}

static void add_variable(struct walk *w, Dwarf_Die *die, int32_t scope, const char *prefix)
{
    struct source_mod *m = w->m;
    Dwarf_Attribute location, value;
    const char *name = name_of(w, die, prefix);
    struct source_var var = {.name = name,
                             .die = dwarf_dieoffset(die),
                             .scope = scope,
                             .next = SOURCE_NONE,
                             .unit = w->unit,
                             .inner = scope != SOURCE_NONE || w->abstract};

    if (!name)
        return;
    if (scope != SOURCE_NONE)
        m->scope[scope].symbols = true;
    bool placed = dwarf_attr(die, DW_AT_location, &location);
    bool constant = dwarf_attr_integrate(die, DW_AT_const_value, &value);
    bool fixed = placed && !is_list(&location) && fixed_address(&location, &var.addr, &var.tls);
    if (placed && is_list(&location) && scope != SOURCE_NONE)
        m->unit[w->unit].loclists = true;
    if (scope == SOURCE_NONE && !fixed && !constant)
        return; /* a declaration, or part of what is inlined elsewhere */
    if (fixed) {
        var.bytes = size_of(die);
        *SOURCE_PUSH(m->global, m->globals) = (int32_t)m->vars;
    }
    if (fixed || scope == SOURCE_NONE) {
        var.external = dwarf_hasattr_integrate(die, DW_AT_external);
        *SOURCE_PUSH(m->lasting, m->lastings) = (int32_t)m->vars;
    }
    if (scope != SOURCE_NONE) {
        var.next = m->scope[scope].variable;
        m->scope[scope].variable = (int32_t)m->vars;
    }
    *SOURCE_PUSH(m->var, m->vars) = var;
}

static void walk_function(struct walk *w, Dwarf_Die *die, int32_t scope, int tag,
                          const char *prefix)
{
    int32_t inner = add_scope(w, die, scope, tag, prefix);
    bool abstract = w->abstract;

    if (inner == SOURCE_NONE && tag != DW_TAG_subprogram)
        inner = scope; /* a block without code of its own */
    else if (inner != SOURCE_NONE)
        prefix = "";
    w->abstract = inner == SOURCE_NONE;
    walk_children(w, die, inner, inner == SOURCE_NONE ? prefix : "");
    w->abstract = abstract;
}

static void walk_class(struct walk *w, Dwarf_Die *die, int32_t scope, const char *prefix)
{
    const char *name = dwarf_diename(die);
    const char *inner = name ? joined(w, prefix, name) : prefix;

    if (!name && dwarf_tag(die) == DW_TAG_namespace)
        inner = joined(w, prefix, "(anonymous namespace)");
    walk_children(w, die, scope, inner);
}

static void walk_one(struct walk *w, Dwarf_Die *die, int32_t scope, const char *prefix)
{
    int tag = dwarf_tag(die);

    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        walk_function(w, die, scope, tag, prefix);
        break;
    case DW_TAG_variable:
    case DW_TAG_formal_parameter:
        add_variable(w, die, scope, prefix);
        break;
    case DW_TAG_namespace:
    case DW_TAG_module:
        walk_class(w, die, SOURCE_NONE, prefix);
        break;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        if (w->m->unit[w->unit].cxx)
            walk_class(w, die, SOURCE_NONE, prefix);
        /* fall through */
    case DW_TAG_enumeration_type:
    case DW_TAG_typedef:
    case DW_TAG_label:
        if (scope != SOURCE_NONE && dwarf_diename(die))
            w->m->scope[scope].symbols = true;
        break;
    default:
        break;
    }
}

static void walk_children(struct walk *w, Dwarf_Die *die, int32_t scope, const char *prefix)
{
    Dwarf_Die child;

    if (w->depth >= DEPTH_MAX || dwarf_child(die, &child))
        return;
    w->depth++;
    do {
        if (prefix[0]) /* in order, because the walk is */
            *SOURCE_PUSH(w->declared, w->count) =
                (struct declared){dwarf_dieoffset(&child), prefix};
        walk_one(w, &child, scope, prefix);
    } while (dwarf_siblingof(&child, &child) == 0);
    w->depth--;
}

static int by_low(const void *a, const void *b)
{
    const struct source_range *x = a, *y = b;

    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    /* Outer scopes have smaller numbers. */
    return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static void put_span(struct source_mod *m, uint64_t addr, int32_t scope)
{
    if (m->spans && m->span[m->spans - 1].addr == addr)
        m->span[m->spans - 1].scope = scope;
    else
        *SOURCE_PUSH(m->span, m->spans) = (struct source_span){addr, scope};
}

static void sweep(struct source_mod *m)
{
    const struct source_range **stack = NULL;
    size_t depth = 0;

    for (size_t i = 0; i <= m->ranges; i++) {
        uint64_t upto = i < m->ranges ? m->range[i].low : UINT64_MAX;
        while (depth && stack[depth - 1]->high <= upto) {
            uint64_t end = stack[--depth]->high;
            while (depth && stack[depth - 1]->high <= end)
                depth--;
            put_span(m, end, depth ? stack[depth - 1]->scope : SOURCE_NONE);
        }
        if (i < m->ranges) {
            *SOURCE_PUSH(stack, depth) = &m->range[i];
            put_span(m, m->range[i].low, m->range[i].scope);
        }
    }
    free(stack);
}

static int by_global(const void *a, const void *b, void *arg)
{
    const struct source_mod *m = arg;
    const struct source_var *x = &m->var[*(const int32_t *)a];
    const struct source_var *y = &m->var[*(const int32_t *)b];

    if (x->tls != y->tls)
        return x->tls ? 1 : -1;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : 1;
}

Dwarf_Die *source_scopes_die(const struct source_mod *m, uint32_t unit, Dwarf_Off offset,
                             Dwarf_Die *die)
{
    return dwarf_offdie(m->unit[unit].dwarf, offset, die);
}

void source_scopes_read(struct source *s, struct source_mod *m)
{
    struct walk w = {.s = s, .m = m};
    Dwarf_Die die;

    for (w.unit = 0; w.unit < m->units; w.unit++) {
        w.count = m->unit[w.unit].dwarf == m->dwarf ? w.count : 0; /* offsets begin anew */
        if (source_scopes_die(m, w.unit, m->unit[w.unit].entries, &die))
            walk_children(&w, &die, SOURCE_NONE, "");
    }
    free(w.declared);
    if (m->ranges)
        qsort(m->range, m->ranges, sizeof *m->range, by_low);
    sweep(m);
    if (m->globals)
        qsort_r(m->global, m->globals, sizeof *m->global, by_global, m);
}

int32_t source_scopes_at(const struct source_mod *m, uint64_t addr)
{
    size_t next = search_upto(m->span, m->spans, addr, addr);

    return next ? m->span[next - 1].scope : SOURCE_NONE;
}

int32_t source_scopes_function(const struct source_mod *m, int32_t scope)
{
    while (scope != SOURCE_NONE && m->scope[scope].kind != SOURCE_FUNCTION)
        scope = m->scope[scope].parent;
    return scope;
}

bool source_scopes_range(const struct source_mod *m, int32_t scope, uint64_t addr, uint64_t *low,
                         uint64_t *high)
{
    size_t i = search_upto(m->range, m->ranges, low, addr);

    while (i-- > 0) {
        const struct source_range *range = &m->range[i];
        if (range->scope == scope) {
            *low = range->low;
            *high = range->high;
            return addr < range->high;
        }
    }
    return false;
}
