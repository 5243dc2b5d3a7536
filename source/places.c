/* places.c - all places that a variable has.
 *
 * SPDX-License-Identifier: MIT
 *
 * A location goes by the frame if it moves with the CFA: it is evaluated for two of them. Where it
 * is relative to rbp or rsp, what the CFA is at that pc tells; in a prologue that is not known yet,
 * so several pcs of a range are tried.
 */
#include "source/places.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "source/place.h"

#define CFA      0x7f0000000000ull
#define CFA_STEP 0x10000000ull
enum { TRIES = 16 };

struct search {
    struct source_view view;
    source_home_fn *fn;
    void *arg;
    int result;
    bool any;
};

static void tell(struct search *x, const struct source_home *home)
{
    x->any = true;
    if (!x->result && home->bytes)
        x->result = x->fn(x->arg, home);
}

/* One expression at a pc of the file, with a CFA. */
static bool place_at(const struct search *x, Dwarf_Attribute *attribute, Dwarf_Op *op, size_t count,
                     uint64_t addr, gaddr cfa, struct source_place *out)
{
    struct source_frame frame = {.cfa = cfa};
    struct source_view view = x->view;
    view.here = view.m;
    view.addr = addr;
    view.frame = &frame;
    uint64_t bytes = out->bytes;
    memset(out, 0, sizeof *out);
    out->bytes = bytes;
    return source_expr_run(&view, attribute, op, count, out);
}

static void tell_pieces(struct search *x, const struct source_place *a,
                        const struct source_place *b, uint64_t low, uint64_t high)
{
    for (uint32_t i = 0; i < a->pieces && i < b->pieces; i++) {
        const struct source_piece *p = &a->piece[i];
        uint64_t moved = b->piece[i].address - p->address;
        struct source_home home = {.from = low + x->view.m->bias,
                                   .to = high + x->view.m->bias,
                                   .memory = p->where == SOURCE_MEMORY,
                                   .frame = moved == CFA_STEP,
                                   .address = p->address - (moved ? CFA : 0),
                                   .bytes = p->bytes   ? p->bytes
                                            : a->bytes ? a->bytes
                                                       : 1,
                                   .reg = p->reg};
        if (p->where == SOURCE_REGISTER || (home.memory && (!moved || home.frame)))
            tell(x, &home);
    }
}

static void tell_range(struct search *x, Dwarf_Attribute *attribute, Dwarf_Op *op, size_t count,
                       uint64_t bytes, uint64_t low, uint64_t high)
{
    struct source_place a, b;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t addr = low + (high - low) * i / TRIES;
        a.bytes = b.bytes = bytes;
        if (!place_at(x, attribute, op, count, addr, CFA, &a) ||
            !place_at(x, attribute, op, count, addr, CFA + CFA_STEP, &b))
            continue;
        tell_pieces(x, &a, &b, low, high);
        return;
    }
}

static void tell_local(struct search *x, const struct source_var *var)
{
    const struct source_mod *m = x->view.m;
    Dwarf_Die die;
    Dwarf_Attribute attribute;
    Dwarf_Addr base, low, high;
    Dwarf_Op *op;
    size_t count;
    ptrdiff_t next = 0;
    if (!source_scopes_die(m, var->unit, var->die, &die) ||
        !dwarf_attr(&die, DW_AT_location, &attribute))
        return;
    uint64_t bytes = source_type_bytes(&die);
    while ((next = dwarf_getlocations(&attribute, next, &base, &low, &high, &op, &count)) > 0) {
        if (!count || low >= high)
            continue;
        if (low || high != (Dwarf_Addr)-1) {
            tell_range(x, &attribute, op, count, bytes, low, high);
            continue;
        }
        for (size_t i = 0; i < m->ranges; i++) /* the same in all of its scope */
            if (m->range[i].scope == var->scope)
                tell_range(x, &attribute, op, count, bytes, m->range[i].low, m->range[i].high);
    }
}

/* Is it at a fixed address, or one of the thread's? */
static bool is_fixed(const struct source_mod *m, const struct source_var *var)
{
    for (size_t i = 0; i < m->globals; i++)
        if (&m->var[m->global[i]] == var)
            return true;
    return false;
}

static void tell_variable(struct search *x, const struct source_var *var)
{
    struct source_place place;
    if (!is_fixed(x->view.m, var)) {
        tell_local(x, var);
        return;
    }
    if (source_place_find(&x->view, var, &place, NULL))
        return;
    for (uint32_t i = 0; i < place.pieces; i++)
        if (place.piece[i].where == SOURCE_MEMORY)
            tell(x, &(struct source_home){.memory = true,
                                          .address = place.piece[i].address,
                                          .bytes = place.bytes ? place.bytes : 1});
}

/* ---- by function ---- */

static bool is_named(const char *name, const char *wanted, size_t length)
{
    size_t have = name ? strlen(name) : 0;
    return have >= length && memcmp(name + have - length, wanted, length) == 0 &&
           (have == length || (have - length >= 2 && name[have - length - 1] == ':'));
}

static void tell_in_function(struct search *x, struct source_mod *m, const char *function,
                             size_t length, const char *name)
{
    x->view.m = x->view.here = m;
    source_module_read(x->view.s, m);
    for (size_t i = 0; i < m->vars; i++) {
        int32_t scope = m->var[i].scope;
        if (scope == SOURCE_NONE || strcmp(m->var[i].name, name) != 0)
            continue;
        while (m->scope[scope].kind == SOURCE_BLOCK && m->scope[scope].parent != SOURCE_NONE)
            scope = m->scope[scope].parent;
        if (is_named(m->scope[scope].name, function, length))
            tell_variable(x, &m->var[i]);
    }
}

/* The last `::`, or NULL. */
static const char *last_colons(const char *name)
{
    const char *found = NULL;
    for (const char *p = strstr(name, "::"); p; p = strstr(p + 2, "::"))
        found = p;
    return found;
}

int source_places(struct source *s, gaddr pc, const struct source_frame *frame, const char *name,
                  source_home_fn *fn, void *arg, struct err *err)
{
    struct search x = {.view = {.s = s, .frame = frame}, .fn = fn, .arg = arg};
    const char *colons = last_colons(name);
    for (size_t i = 0; colons && !x.any && i < s->modules; i++)
        tell_in_function(&x, s->module[i], name, (size_t)(colons - name), colons + 2);
    if (x.any)
        return x.result;
    x.view = source_visible_view(s, pc, frame);
    const struct source_var *var = source_visible(&x.view, name);
    if (var) {
        tell_variable(&x, var);
        return x.any ? x.result
                     : err_set_code(err, SOURCE_UNKNOWN_PLACE, "%s: it has no place of its own",
                                    name);
    }
    struct source_place place;
    if (source_variable_at(s, pc, frame, name, &place, err)) /* a symbol, perhaps */
        return -1;
    tell(&x, &(struct source_home){
                 .memory = true, .address = place.piece[0].address, .bytes = place.bytes});
    return x.result;
}
