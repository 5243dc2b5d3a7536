/* place.h - locations of variables and the parts of types, for source/variable.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SOURCE_PLACE_H
#define SOURCE_PLACE_H

#include "source/source_int.h"
#include "source/variable.h"

/* Where a variable's location is asked for. */
struct source_view {
    struct source *s;
    struct source_mod *m;             /* of the variable */
    struct source_mod *here;          /* of the pc, or of the scope; NULL: none */
    uint64_t addr;                    /* of the pc, in the file of `here` */
    const struct source_frame *frame; /* may be NULL */
    uint64_t scope;                   /* as addr: where names are looked up */
    struct source_var inherited;      /* a name's answer that no table has */
};

/* Fills in where the variable is. -1 with SOURCE_OPTIMIZED or SOURCE_UNKNOWN_PLACE, and a message
 * without the variable's name. */
int source_place_find(const struct source_view *view, const struct source_var *var,
                      struct source_place *out, struct err *err);

/* Adds a constant of any size, in words; `bytes` is what it is part of, 0: not known. False: there
 * is no room for it. */
bool source_place_constant(struct source_place *out, const uint8_t *data, size_t length,
                           size_t bytes);

/* The variable's one location is this register. */
bool source_place_is_register(const struct source_view *view, const struct source_var *var,
                              unsigned reg);

/* Where a module's thread-local variables begin; 0 unknown. */
gaddr source_place_tls(const struct source_mod *m, const struct source_mod *here,
                       const struct source_frame *frame);

/* The same as a term, of a library, too, where memory can be read. */
struct term source_place_tls_base(const struct source_view *view);

/* source/symbols.c: the variable of this name that all units may name, or that only one may; NULL:
 * there is none. */
const struct source_symbol *source_symbols_data(const struct source_mod *m, const char *name,
                                                bool local);

/* source/visible.c: a view for names; and the variable that a name means there, or NULL. It is in a
 * table or in the view. Sets view->m, too. */
struct source_view source_visible_view(struct source *s, gaddr pc,
                                       const struct source_frame *frame);
const struct source_var *source_visible(struct source_view *view, const char *name);
const struct source_var *source_visible_local(struct source_view *view, const char *name);

/* source/tls.c: the same of a library, where memory can be read; 0 unknown. */
gaddr source_tls_base(struct source *s, const struct source_mod *m,
                      const struct source_frame *frame);

/* source/dwarf_expr.c: adds the pieces that a location expression describes. False if the place
 * cannot be known. */
bool source_expr_run(const struct source_view *view, Dwarf_Attribute *attribute, Dwarf_Op *op,
                     size_t count, struct source_place *out);

/* A register's value: as given, by the CFA, or a formula; and the CFA likewise. */
struct term source_expr_register(const struct source_view *view, unsigned reg);
struct term source_expr_cfa(const struct source_view *view);

/* source/entry.c: the value that a register had when the function was entered, as a formula; or
 * that of a parameter which the compiler has removed, unless that is NULL. */
struct term source_entry_value(const struct source_view *view, unsigned reg, Dwarf_Die *parameter);

/* source/type.c: writes the path (`[3].next`) to the smallest part of the variable `die` that has
 * the bytes. Returns whether something atomic is on it. *type is that of the part, if the bytes are
 * all of it; NULL: not wanted. */
bool source_type_path(Dwarf_Die *die, uint64_t offset, uint64_t bytes, char *buf, size_t room,
                      struct source_type *type);
/* The same from a type on. `index`, unless NULL: the offset is that of element 0 of some array with
 * this distance between elements, and the path has the text for its index. False: there is no such
 * array, or no room. */
struct source_index {
    uint64_t stride;
    const char *text;
};
bool source_type_part(Dwarf_Die *of, uint64_t offset, uint64_t bytes,
                      const struct source_index *index, char *buf, size_t room,
                      struct source_type *type);
uint64_t source_type_bytes(Dwarf_Die *die); /* 0 unknown */
/* What an entry has: its type; an attribute that is a number. */
bool source_type_of(Dwarf_Die *die, Dwarf_Die *type);
bool source_type_number(Dwarf_Die *die, unsigned name, uint64_t *value);
/* Tells of the atomic parts of the variable `die`: where in it, and how many bytes. */
typedef void source_type_fn(void *arg, uint64_t offset, uint64_t bytes);
void source_type_atomics(Dwarf_Die *die, source_type_fn *fn, void *arg);

/* source/variable.c: the variable that debug information has at addr, as source_variable() looks
 * for it but not thread-local; NULL: none. *m is its module, *offset where in it addr is. */
const struct source_var *source_place_variable(struct source *s, gaddr pc,
                                               const struct source_frame *frame, gaddr addr,
                                               struct source_mod **m, uint64_t *offset);

/* source/types.c: the type that an entry is; and that of a variable, {0} if it says none. */
struct source_type source_types_of(const Dwarf_Die *type);
bool source_types_entry(const struct source_type *t, Dwarf_Die *die); /* false: it has none */
struct source_type source_types_of_variable(Dwarf_Die *variable);

#endif
