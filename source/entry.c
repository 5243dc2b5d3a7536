/* entry.c - the value that a register had when a function was entered.
 *
 * SPDX-License-Identifier: MIT
 *
 * The register itself does not have it any more. But the compiler often says what the caller passed
 * (DW_TAG_call_site_parameter), in terms of what the caller still has after the call. Which call it
 * was the return address tells, so the formula compares that with all calls that lead here; one
 * that is not known fails. Where the function may have been entered by a jump from itself, or from
 * what it jumps to, no caller knows, and the value is unknown.
 */
#include <dwarf.h>
#include <string.h>

#include "source/frame_int.h"
#include "source/module.h"
#include "source/place.h"

enum {
    SITES_MOST = 64,  /* that one formula looks at */
    CALLERS_MOST = 2, /* out: a value that the caller has from its own entry */
    JUMPS_MOST = 16,  /* functions that are followed by jumps */
    DEPTH_MOST = 100, /* of entries in entries */
    CALL = 0xe8,      /* call and jmp to an address, 5 bytes */
    JUMP = 0xe9,
    JUMP_BYTES = 5,
    REGISTERS = 16,
    RSP_NUMBER = 7,
};

/* ---- calls ---- */

/* A call in the code, of which debug information says what its parameters are. */
struct source_site {
    uint64_t after;  /* where it returns to */
    uint64_t target; /* the entry of what is called; 0 unknown */
    uint64_t caller; /* the entry of the function that it is in */
    Dwarf_Off die;
    uint32_t unit;
    bool tail; /* a jump: it does not return here */
};

static bool flag_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool flag;

    return dwarf_attr(die, name, &attribute) && !dwarf_formflag(&attribute, &flag) && flag;
}

static void add_site(struct source_mod *m, Dwarf_Die *die, const struct source_scope *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr after;
    uint8_t code[JUMP_BYTES];
    int32_t distance;

    if ((!dwarf_attr(die, DW_AT_call_return_pc, &attribute) &&
         !dwarf_attr(die, DW_AT_low_pc, &attribute)) ||
        dwarf_formaddr(&attribute, &after) || after < sizeof code)
        return;
    struct source_site site = {.after = after,
                               .caller = function->entry,
                               .die = dwarf_dieoffset(die),
                               .unit = function->unit,
                               .tail = flag_of(die, DW_AT_call_tail_call) ||
                                       flag_of(die, DW_AT_GNU_tail_call)};
    if (source_elf_bytes(m, after - sizeof code, code, sizeof code) == sizeof code &&
        code[0] == (site.tail ? JUMP : CALL)) {
        memcpy(&distance, code + 1, sizeof distance);
        site.target = after + (uint64_t)(int64_t)distance;
    }
    *SOURCE_PUSH(m->site, m->sites) = site;
}

static void find_sites(struct source_mod *m, Dwarf_Die *parent, const struct source_scope *function,
                       int depth)
{
    Dwarf_Die child;

    if (depth > DEPTH_MOST || dwarf_child(parent, &child))
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site)
            add_site(m, &child, function);
        else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
            find_sites(m, &child, function, depth + 1);
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void read_sites(struct source_mod *m)
{
    Dwarf_Die die;

    if (m->sites_read)
        return;
    m->sites_read = true;
    for (size_t i = 0; i < m->scopes; i++)
        if (m->scope[i].kind == SOURCE_FUNCTION &&
            source_scopes_die(m, m->scope[i].unit, m->scope[i].die, &die))
            find_sites(m, &die, &m->scope[i], 0);
}

/* Can the function come to its own entry by jumps alone? Where that is not known: yes. */
static bool may_reenter(const struct source_mod *m, uint64_t entry)
{
    uint64_t reached[JUMPS_MOST] = {entry};
    size_t count = 1;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < m->sites; k++) {
            const struct source_site *site = &m->site[k];
            bool known = false;
            if (!site->tail || site->caller != reached[i])
                continue;
            if (!site->target || site->target == entry)
                return true;
            for (size_t n = 0; n < count; n++)
                known = known || reached[n] == site->target;
            if (!known && count == JUMPS_MOST)
                return true;
            if (!known)
                reached[count++] = site->target;
        }
    return false;
}

/* ---- values ---- */

/* What the caller has in its registers, right after the call. What is not saved is the same: where
 * the compiler names a register that calls may change, it knows that this one does not. */
static void unwind(const struct source_view *view, struct term cfa, struct term out[REGISTERS])
{
    struct terms *terms = view->frame->terms;
    int64_t offset;

    for (int reg = 0; reg < REGISTERS; reg++)
        out[reg] =
            source_frame_saved(view->here, view->addr, reg, &offset)
                ? term_ref(terms, term_op(terms, TERM_ADD, cfa, term_number((uint64_t)offset)),
                           sizeof offset)
                : source_expr_register(view, (unsigned)reg);
    out[RSP_NUMBER] = cfa;
}

/* Is that the call's parameter which goes to the callee in the register, or is the one of `die`? */
static bool is_parameter(Dwarf_Die *child, unsigned reg, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die referred;
    Dwarf_Op *op;
    size_t count;

    if (!die)
        return dwarf_attr(child, DW_AT_location, &attribute) &&
               !dwarf_getlocation(&attribute, &op, &count) && count == 1 &&
               op->atom == DW_OP_reg0 + reg;
    return (dwarf_attr(child, DW_AT_call_parameter, &attribute) ||
            dwarf_attr(child, DW_AT_abstract_origin, &attribute)) &&
           dwarf_formref_die(&attribute, &referred) && referred.addr == die->addr;
}

static bool parameter_value(Dwarf_Die *site, unsigned reg, Dwarf_Die *die, Dwarf_Attribute *value)
{
    Dwarf_Die child;

    if (dwarf_child(site, &child))
        return false;
    do {
        if (is_parameter(&child, reg, die))
            return dwarf_attr(&child, DW_AT_call_value, value) ||
                   dwarf_attr(&child, DW_AT_GNU_call_site_value, value);
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static struct term value_at(const struct source_view *caller, const struct source_site *site,
                            unsigned reg, Dwarf_Die *parameter)
{
    struct source_place place = {.bytes = 0};
    Dwarf_Die die;
    Dwarf_Attribute value;
    Dwarf_Op *op;
    size_t count;

    if (!source_scopes_die(caller->here, site->unit, site->die, &die) ||
        !parameter_value(&die, reg, parameter, &value) || dwarf_getlocation(&value, &op, &count) ||
        !count || !source_expr_run(caller, &value, op, count, &place) || place.pieces != 1)
        return (struct term){0};
    return place.piece[0].where == SOURCE_NOWHERE ? (struct term){0} : place.piece[0].term;
}

/* Calls come from all units of the module. */
static struct source_view with_all_units(const struct source_view *view)
{
    struct source_view whole = *view;
    uint64_t addr;

    if (view->here)
        whole.here = source_module_at(view->s, view->addr + view->here->bias, &addr);
    return whole;
}

struct term source_entry_value(const struct source_view *part, unsigned reg, Dwarf_Die *parameter)
{
    const struct source_view whole = with_all_units(part), *view = &whole;
    const struct source_frame *frame = view->frame;
    struct source_mod *m = view->here;
    struct term none = {0}, registers[REGISTERS];

    if (!frame || !frame->terms || !m || reg >= REGISTERS || frame->callers == CALLERS_MOST)
        return none;
    int32_t function = source_scopes_function(m, source_scopes_at(m, view->addr));
    if (function == SOURCE_NONE)
        return none;
    uint64_t entry = m->scope[function].entry;
    if (view->addr == entry && !parameter)
        return source_expr_register(view, reg);
    struct term cfa = source_expr_cfa(view);
    read_sites(m);
    if (cfa.kind == TERM_UNKNOWN || may_reenter(m, entry))
        return none;
    unwind(view, cfa, registers);
    struct source_frame outer = {
        .terms = frame->terms, .unwound = registers, .callers = frame->callers + 1};
    struct term result = term_fail(frame->terms);
    struct term back = term_ref(
        frame->terms, term_op(frame->terms, TERM_ADD, cfa, term_number(0 - sizeof(uint64_t))),
        sizeof(uint64_t));
    bool any = false;
    for (size_t i = 0, tried = 0; i < m->sites && tried < SITES_MOST; i++) {
        const struct source_site *site = &m->site[i];
        if (site->target != entry || site->tail)
            continue;
        tried++;
        struct source_view caller = {.s = view->s,
                                     .here = m,
                                     .m = m,
                                     .addr = site->after - 1,
                                     .scope = site->after - 1,
                                     .frame = &outer};
        struct term value = value_at(&caller, site, reg, parameter);
        if (value.kind == TERM_UNKNOWN)
            continue;
        struct term here =
            term_op(frame->terms, TERM_EQUAL, back, term_number(site->after + m->bias));
        result = term_choice(frame->terms, here, value, result);
        any = true;
    }
    return any ? result : none;
}
