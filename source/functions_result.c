/* functions_result.c - where a function's result is when it returns: the x86-64 System V ABI.
 *
 * SPDX-License-Identifier: MIT
 *
 * A value of up to 16 bytes is cut into eightbytes. One that has an integer in it comes back in rax
 * or rdx, one of floating point numbers in xmm0 or xmm1, whichever is free. All else is in memory,
 * and rax says where.
 */
#include <dwarf.h>
#include <string.h>

#include "source/functions_int.h"
#include "source/place.h"

enum {
    WORD = 8,
    WORDS = 2,
    REG_RAX = 0, /* DWARF's numbers */
    REG_RDX = 1,
    REG_XMM0 = 17,
    REG_ST0 = 33,
    ST_BYTES = 10,
    LONG_DOUBLE = 16
};

/* What an eightbyte has; a larger one wins. */
enum word { WORD_NONE, WORD_FLOATS, WORD_INTEGER };

struct shape {
    struct source *source;
    enum word word[WORDS];
    uint64_t at; /* of the part that is looked at */
    bool memory; /* something in it cannot be in registers */
    bool x87;    /* there is a long double, or two that are a complex number */
    bool vector; /* something whose eightbytes belong together */
};

static void look(struct shape *s, const struct source_type *t);

static void mark(struct shape *s, uint64_t from, uint64_t to, enum word word)
{
    for (uint64_t i = from / WORD; i < WORDS && i * WORD < to; i++)
        if (s->word[i] < word)
            s->word[i] = word;
}

static int look_at_field(void *arg, const struct source_field *f)
{
    struct shape *s = arg;
    const struct source_member *m = &f->member;
    const uint64_t before = s->at;
    if (m->global[0] || f->constant)
        return 0;
    s->memory |= f->displaced;
    s->at += m->offset;
    if (m->bits)
        mark(s, s->at, s->at + (m->bit + m->bits + 7) / 8, WORD_INTEGER);
    else
        look(s, &m->type);
    s->at = before;
    return s->memory;
}

static void look_at_elements(struct shape *s, const struct source_type *t)
{
    struct source_type element;
    const uint64_t before = s->at, bytes = source_types_bytes(t, NULL);
    Dwarf_Die die;
    uint64_t step = 0;
    if (source_types_element(t, &element))
        step = source_types_bytes(&element, NULL);
    s->vector |= source_types_entry(t, &die) && !dwarf_peel_type(&die, &die) &&
                 dwarf_hasattr_integrate(&die, DW_AT_GNU_vector);
    s->memory |= bytes > WORD * WORDS || (bytes && !step);
    for (uint64_t i = 0; !s->memory && i < bytes; i += step) {
        s->at = before + i;
        look(s, &element);
    }
    s->at = before;
}

static bool has(Dwarf_Die *die, unsigned name)
{
    uint64_t value;
    return source_type_number(die, name, &value) && value;
}

/* The first parameter that the source has is a reference to the class. */
static bool takes_own(Dwarf_Die *function, Dwarf_Die *class)
{
    Dwarf_Die child, type;
    if (dwarf_child(function, &child))
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter || dwarf_hasattr(&child, DW_AT_artificial))
            continue;
        if (!source_type_of(&child, &type) || (dwarf_tag(&type) != DW_TAG_reference_type &&
                                               dwarf_tag(&type) != DW_TAG_rvalue_reference_type))
            return false;
        return source_type_of(&type, &type) && !dwarf_peel_type(&type, &type) &&
               dwarf_dieoffset(&type) == dwarf_dieoffset(class);
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* A member function that decides that objects of the class cannot be moved by copying their bytes:
 * a virtual one, a destructor or a copy constructor that somebody wrote. */
static bool is_special(Dwarf_Die *class, Dwarf_Die *function)
{
    const char *name = dwarf_diename(function), *own = dwarf_diename(class);
    if (has(function, DW_AT_virtuality))
        return true;
    if (!name || dwarf_hasattr(function, DW_AT_artificial) || has(function, DW_AT_defaulted))
        return false;
    if (name[0] == '~')
        return true;
    size_t n = own ? strcspn(own, "<") : 0;
    return n && !strncmp(name, own, n) && !name[n] && takes_own(function, class);
}

/* Clang says it (DW_AT_calling_convention), GCC leaves it to the reader. */
static bool is_copied(const struct source_type *t)
{
    enum { BY_REFERENCE = 4, BY_VALUE = 5 }; /* DW_CC_pass_by_... */
    Dwarf_Die die, child;
    uint64_t how = 0;
    if (!source_types_entry(t, &die) || dwarf_peel_type(&die, &die))
        return true;
    if (source_type_number(&die, DW_AT_calling_convention, &how) && how >= BY_REFERENCE)
        return how == BY_VALUE;
    if (dwarf_child(&die, &child))
        return true;
    do
        if (dwarf_tag(&child) == DW_TAG_subprogram && is_special(&die, &child))
            return false;
    while (dwarf_siblingof(&child, &child) == 0);
    return true;
}

static void look(struct shape *s, const struct source_type *t)
{
    char name[64];
    const uint64_t bytes = source_types_bytes(t, NULL);
    switch (source_types_class(t)) {
    case TYPE_RECORD:
        s->memory |= bytes > WORD * WORDS || !is_copied(t);
        if (!s->memory)
            source_types_fields(s->source, t, look_at_field, s);
        return;
    case TYPE_ARRAY:
        look_at_elements(s, t);
        return;
    case TYPE_COMPLEX:
        if (bytes <= WORD * WORDS)
            mark(s, s->at, s->at + bytes, WORD_FLOATS);
        else
            s->x87 = true;
        break;
    case TYPE_FLOAT:
        source_types_name(t, name, sizeof name);
        if (bytes <= WORD)
            mark(s, s->at, s->at + bytes, WORD_FLOATS);
        else if (strstr(name, "128"))
            s->vector = true;
        else
            s->x87 = true;
        break;
    default:
        mark(s, s->at, s->at + bytes, WORD_INTEGER);
        break;
    }
    uint64_t align = bytes > WORD ? WORD : bytes;
    s->memory |= align && s->at % align; /* packed */
}

static void add(struct source_place *p, struct source_piece piece)
{
    p->piece[p->pieces++] = piece;
}

static void add_register(struct source_place *p, uint16_t reg, uint64_t bytes)
{
    add(p, (struct source_piece){.where = SOURCE_REGISTER, .reg = reg, .bytes = (uint32_t)bytes});
}

/* Padding has no value of its own. */
static void add_padding(struct source_place *p, uint64_t bytes)
{
    add(p, (struct source_piece){.where = SOURCE_CONSTANT, .bytes = (uint32_t)bytes});
}

static void add_words(struct source_place *p, const struct shape *s)
{
    uint16_t integer = REG_RAX, floats = REG_XMM0;
    for (unsigned i = 0; i < WORDS && i * WORD < p->bytes; i++) {
        uint64_t left = p->bytes - (uint64_t)i * WORD, bytes = left < WORD ? left : WORD;
        if (s->word[i] == WORD_NONE) {
            add_padding(p, bytes);
        } else if (s->word[i] == WORD_FLOATS) {
            add_register(p, floats++, bytes);
        } else {
            add_register(p, integer, bytes);
            integer = REG_RDX;
        }
    }
}

/* Is what has another size than its parts. */
static bool is_record(const struct source_type *t)
{
    return source_types_class(t) == TYPE_RECORD;
}

static bool place_value(struct shape *s, struct source_place *p)
{
    const bool alone = s->word[0] == WORD_NONE && s->word[1] == WORD_NONE;
    if (s->x87 && !s->memory && alone &&
        (p->bytes == LONG_DOUBLE || source_types_class(&p->type) == TYPE_COMPLEX)) {
        for (uint16_t i = 0; i < p->bytes / LONG_DOUBLE; i++) {
            add_register(p, REG_ST0 + i, ST_BYTES);
            add_padding(p, LONG_DOUBLE - ST_BYTES);
        }
        return true;
    }
    s->memory |= s->x87;
    if (s->memory)
        return is_record(&p->type);
    if (!s->vector) {
        add_words(p, s);
        return true;
    }
    if (is_record(&p->type) || p->bytes > WORD * WORDS)
        return false;
    add_register(p, REG_XMM0, p->bytes);
    return true;
}

/* GCC makes copies of functions that leave out what no caller looks at; that may be the result, and
 * only the copy's name tells. */
static bool may_drop_result(struct source *s, gaddr entry)
{
    uint64_t addr;
    const struct source_mod *m = source_module_at(s, entry, &addr);
    const struct source_symbol *symbol = m ? source_symbols_at(m, addr) : NULL;

    return symbol && strstr(symbol->name, ".isra.");
}

bool functions_result(struct source *s, const struct functions_one *f,
                      struct functions_returned *out)
{
    Dwarf_Die die, type;
    struct shape shape = {.source = s};

    *out = (struct functions_returned){.led = false};
    if (!functions_entry(s, f, &die) || !source_type_of(&die, &type) ||
        may_drop_result(s, f->entry))
        return false;
    struct source_type t = source_types_of(&type);
    out->place.type = t;
    switch (source_types_class(&t)) {
    case TYPE_NONE:
    case TYPE_VOID:
    case TYPE_FUNCTION:
        return false;
    case TYPE_REFERENCE:
        out->place.bytes = sizeof(gaddr);
        break;
    default:
        out->place.bytes = source_types_bytes(&t, NULL);
        break;
    }
    if (!out->place.bytes)
        return false;
    look(&shape, &t);
    if (!place_value(&shape, &out->place))
        return false;
    if (!out->place.pieces) { /* in memory */
        out->led = true;
        out->place.type.pointers++;
        out->place.bytes = sizeof(gaddr);
        add_register(&out->place, REG_RAX, sizeof(gaddr));
    }
    return true;
}
