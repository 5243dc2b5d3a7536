/* place.c - where a variable is at a pc.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source/place.h"
#include "source/module.h"

#include <dwarf.h>
#include <string.h>

#include "debug/bytecode.h"

/* An executable's thread-local variables end where fs_base points. */
static uint64_t block_bytes(const struct source_mod *m)
{
    return (m->tls_bytes + m->tls_align - 1) / m->tls_align * m->tls_align;
}

gaddr source_place_tls(const struct source_mod *m, const struct source_mod *here,
                       const struct source_frame *frame)
{
    if (!frame)
        return 0;
    if (m->executable && frame->fs_base && m->tls_align)
        return frame->fs_base - block_bytes(m);
    return source_units_same(m, here) ? frame->tls_base : 0;
}

struct term source_place_tls_base(const struct source_view *view)
{
    const struct source_frame *frame = view->frame;
    gaddr base = source_place_tls(view->m, view->here, frame);

    if (!base)
        base = source_tls_base(view->s, view->m, frame);
    if (base || !frame || !frame->terms || !view->m->executable || !view->m->tls_align)
        return base ? term_number(base) : (struct term){0};
    return term_op(frame->terms, TERM_ADD, term_register(frame->terms, AGENT_FS_BASE),
                   term_number(0 - block_bytes(view->m)));
}

bool source_place_constant(struct source_place *out, const uint8_t *data, size_t length,
                           size_t bytes)
{
    length = bytes && bytes < length ? bytes : length;
    for (size_t at = 0, n; at < length; at += n) {
        struct source_piece piece = {.where = SOURCE_CONSTANT};
        n = length - at < sizeof piece.value ? length - at : sizeof piece.value;
        memcpy(&piece.value, data + at, n);
        piece.bytes = (uint32_t)n;
        if (out->pieces == SOURCE_PIECES)
            return false;
        out->piece[out->pieces++] = piece;
    }
    return true;
}

static bool constant_value(Dwarf_Die *die, struct source_place *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword number;
    Dwarf_Block block = {0};
    uint64_t value = 0;

    if (!dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
        return false;
    if (!dwarf_formsdata(&attribute, &number))
        value = (uint64_t)number;
    else if (!dwarf_formblock(&attribute, &block))
        memcpy(&value, block.data, block.length < sizeof value ? block.length : sizeof value);
    if (block.length > sizeof value && out->bytes <= sizeof value * SOURCE_PIECES)
        return source_place_constant(out, block.data, block.length, out->bytes);
    out->piece[0] = (struct source_piece){
        .where = SOURCE_CONSTANT, .value = value, .bytes = (uint32_t)out->bytes};
    out->pieces = 1;
    return true;
}

static const char *linker_name(Dwarf_Die *die, const struct source_var *var)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute)
                           ? dwarf_formstring(&attribute)
                           : NULL;

    return name ? name : var->name;
}

/* A library's global variable may be in another module: if a module before it has one of the same
 * name, the dynamic linker lets all use that one. A program that names a library's variable has
 * one, a copy. */
static void find_interposed(const struct source_view *view, Dwarf_Die *die,
                            const struct source_var *var, struct source_place *out)
{
    const char *name = linker_name(die, var);

    if (!var->external || var->tls || view->m->executable || out->pieces != 1 ||
        out->piece[0].where != SOURCE_MEMORY || !source_symbols_data(view->m, name, false))
        return;
    for (size_t i = 0; i < view->s->modules && view->s->module[i] != view->m; i++) {
        struct source_mod *m = view->s->module[i];
        source_symbols_all(view->s, m);
        const struct source_symbol *symbol = source_symbols_data(m, name, false);
        if (symbol) {
            out->piece[0].address = symbol->addr + m->bias;
            return;
        }
    }
}

int source_place_find(const struct source_view *view, const struct source_var *var,
                      struct source_place *out, struct err *err)
{
    Dwarf_Die die;
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;
    uint64_t addr = source_units_same(view->m, view->here) ? view->addr : 0;

    memset(out, 0, sizeof *out);
    out->local = var->scope != SOURCE_NONE;
    if (!source_scopes_die(view->m, var->unit, var->die, &die))
        return err_set_code(err, SOURCE_OPTIMIZED, "its debug information cannot be read");
    out->bytes = source_type_bytes(&die);
    out->type = source_types_of_variable(&die);
    if (!dwarf_attr(&die, DW_AT_location, &attribute)) {
        if (constant_value(&die, out))
            return 0;
        return err_set_code(err, SOURCE_OPTIMIZED, "it was optimized out");
    }
    if (dwarf_getlocation_addr(&attribute, addr, &op, &count, 1) != 1 || !count)
        return err_set_code(err, SOURCE_OPTIMIZED, "it has no place here: optimized out");
    if (!source_expr_run(view, &attribute, op, count, out))
        return view->frame && view->frame->terms && !var->tls
                   ? err_set_code(err, SOURCE_OPTIMIZED, "its value is not known here")
                   : err_set_code(err, SOURCE_UNKNOWN_PLACE,
                                  "its place depends on registers or memory that are not known");
    find_interposed(view, &die, var, out);
    for (uint32_t i = 0; i < out->pieces; i++)
        if (out->piece[i].where != SOURCE_NOWHERE)
            return 0;
    return err_set_code(err, SOURCE_OPTIMIZED, "it was optimized out");
}

bool source_place_is_register(const struct source_view *view, const struct source_var *var,
                              unsigned reg)
{
    Dwarf_Die die;
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;

    if (!source_scopes_die(view->m, var->unit, var->die, &die) ||
        !dwarf_attr(&die, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, view->addr, &op, &count, 1) != 1)
        return false;
    for (size_t i = 0; i < count; i++)
        if ((op[i].atom >= DW_OP_reg0 && op[i].atom <= DW_OP_reg31 &&
             (unsigned)(op[i].atom - DW_OP_reg0) == reg) ||
            (op[i].atom == DW_OP_regx && op[i].number == reg))
            return true;
    return false;
}
