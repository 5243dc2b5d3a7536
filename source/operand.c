/* operand.c - places and values of the parts of an expression. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "debug/bytecode.h"
#include "source/operand.h"
#include "source/place.h"

enum { NUMBER_BYTES = 16 /* of long double */, ST0 = 33 /* DWARF's */, STS = 8, ST_BYTES = 10 };

static struct source_scene types_scene(const struct operand_reader *r)
{
    return (struct source_scene){r->scene->source, r->scene->pc, &r->scene->frame};
}

static bool is_known(const struct operand_reader *r)
{
    return r->scene->registers != NULL;
}

static int not_known(struct operand_reader *r)
{
    return err_set_code(r->err, SOURCE_UNKNOWN_PLACE, "it depends on values that are not known");
}

uint64_t operand_bytes(const struct operand_reader *r, const struct operand *o)
{
    struct source_scene scene = types_scene(r);
    if (o->bits)
        return (o->bit + o->bits + 7) / 8;
    uint64_t bytes = source_types_bytes(&o->type, &scene);
    return !bytes && source_types_class(&o->type) == TYPE_NONE && o->placed ? o->place.bytes
                                                                            : bytes;
}

/* ---- what is read ---- */

static int add_read(struct operand_reader *r, struct expression_read read)
{
    struct expression *out = r->out;
    for (size_t i = 0; i < out->reads; i++) {
        struct expression_read *have = &out->read[i];
        if (have->memory == read.memory && have->addr == read.addr && have->bytes == read.bytes &&
            have->at_entry == read.at_entry && have->at.kind == read.at.kind &&
            have->at.node == read.at.node) {
            have->address = have->address && read.address;
            return 0;
        }
    }
    if (out->reads == EXPRESSION_READS)
        return err_set_code(r->err, EXPRESSION_BAD, "it reads too much");
    out->read[out->reads++] = read;
    return 0;
}

/* What a computed value is made from. */
static int note_computed(struct operand_reader *r, const struct source_place *p, bool address)
{
    for (uint32_t i = 0; i < p->reads; i++) {
        const struct source_read *read = &p->read[i];
        unsigned first, most;
        struct expression_read e = {.memory = read->memory,
                                    .address = address,
                                    .at_entry = read->at_entry,
                                    .addr = read->address,
                                    .bytes = read->bytes};
        if (read->memory && !read->known && r->all)
            return err_set_code(r->err, SOURCE_UNKNOWN_PLACE, "its value is computed from memory");
        if (read->memory && !read->known)
            continue;
        if (!read->memory) {
            if (!registers_dwarf(read->reg, &first, &most))
                continue;
            e.addr = first;
            e.bytes = e.bytes && e.bytes < most ? e.bytes : most;
        }
        if (add_read(r, e))
            return -1;
    }
    return 0;
}

static struct term piece_address(struct operand_reader *r, const struct source_piece *piece,
                                 uint64_t from)
{
    struct term t = piece->term.kind == TERM_FORMULA ? piece->term : term_number(piece->address);
    return term_op(r->scene->frame.terms, TERM_ADD, t, term_number(from));
}

/* The part of a piece, `from` to `to` in it. */
static int note_piece(struct operand_reader *r, const struct operand *o,
                      const struct source_piece *piece, uint64_t from, uint64_t to, bool address)
{
    unsigned first, most;
    struct expression_read e = {
        .address = address, .bytes = to - from, .text = o->text, .length = o->length};
    switch (piece->where) {
    case SOURCE_MEMORY:
        e.memory = true;
        e.addr = piece->address + from;
        e.at = piece_address(r, piece, from);
        return add_read(r, e);
    case SOURCE_REGISTER:
        if (!registers_dwarf(piece->reg, &first, &most) || from >= most)
            return 0;
        e.addr = first + from;
        e.bytes = to < most ? to - from : most - from;
        return add_read(r, e);
    case SOURCE_COMPUTED:
        return note_computed(r, &o->place, address);
    case SOURCE_CONSTANT:
        return 0;
    default:
        return err_set_code(r->err, SOURCE_OPTIMIZED, "it has no place here: optimized out");
    }
}

/* Its only piece is the beginning of a variable. */
static bool is_partial(const struct operand *o)
{
    return o->place.piece[0].bytes < o->place.bytes;
}

int operand_pieces(struct operand_reader *r, const struct operand *o, operand_piece_fn *each,
                   void *arg)
{
    static const struct source_piece nowhere = {.where = SOURCE_NOWHERE};
    uint64_t bytes = operand_bytes(r, o), before = 0;
    if (!bytes && source_types_class(&o->type) == TYPE_ARRAY)
        return is_known(r) ? err_set_code(r->err, SOURCE_OPTIMIZED, "its size is not known here")
                           : not_known(r);
    if (!bytes)
        bytes = 1;
    for (uint32_t i = 0; i < o->place.pieces; i++) {
        const struct source_piece *piece = &o->place.piece[i];
        uint64_t size = o->place.pieces > 1 || is_partial(o) ? piece->bytes : 0;
        if (!size) /* all of it, and what casts make of it */
            size = o->offset + bytes - before;
        uint64_t from = o->offset > before ? o->offset - before : 0;
        uint64_t to = o->offset + bytes - before;
        if (o->offset + bytes <= before)
            break;
        to = to < size ? to : size;
        if (from < to && each(r, o, piece, from, to, before + from - o->offset, arg))
            return -1;
        before += size;
    }
    if (!o->place.pieces || before >= o->offset + bytes)
        return 0;
    uint64_t from = o->offset > before ? o->offset - before : 0;
    return each(r, o, &nowhere, from, o->offset + bytes - before, before + from - o->offset, arg);
}

static int note_one(struct operand_reader *r, const struct operand *o,
                    const struct source_piece *piece, uint64_t from, uint64_t to, uint64_t at,
                    void *arg)
{
    (void)at;
    return note_piece(r, o, piece, from, to, *(bool *)arg);
}

int operand_note(struct operand_reader *r, const struct operand *o, enum operand_role role)
{
    bool address = role != OPERAND_VALUE;
    if (!o->placed || !r->out || r->muted || (role == OPERAND_MUTED && !r->all) ||
        source_types_class(&o->type) == TYPE_FUNCTION)
        return 0;
    if (o->in_register)
        return add_read(r, (struct expression_read){
                               .address = address, .addr = o->first, .bytes = operand_bytes(r, o)});
    return operand_pieces(r, o, note_one, &address);
}

/* ---- values ---- */

static int copy_one(struct operand_reader *r, const struct operand *o,
                    const struct source_piece *piece, uint64_t from, uint64_t to, uint64_t at,
                    void *arg)
{
    uint8_t *out = (uint8_t *)arg + at;
    const struct source_frame *f = &r->scene->frame;
    unsigned first, most;
    bool ok = false;
    (void)o;
    switch (piece->where) {
    case SOURCE_MEMORY:
        if (f->memory(f->arg, piece->address + from, out, to - from) != to - from)
            return err_set(r->err, "there is no memory at 0x%llx",
                           (unsigned long long)(piece->address + from));
        return 0;
    case SOURCE_REGISTER:
        ok = registers_dwarf(piece->reg, &first, &most) && to <= most &&
             registers_value(r->scene->registers, first + from, to - from, out);
        break;
    case SOURCE_COMPUTED:
    case SOURCE_CONSTANT:
        ok = to <= sizeof piece->value && (piece->known || piece->where == SOURCE_CONSTANT);
        if (ok)
            memcpy(out, (const uint8_t *)&piece->value + from, to - from);
        break;
    default:
        break;
    }
    return ok ? 0 : err_set_code(r->err, SOURCE_OPTIMIZED, "its value is not known here");
}

/* The bytes of what is placed: at most NUMBER_BYTES. */
static int copy_value(struct operand_reader *r, const struct operand *o, uint8_t *out)
{
    memset(out, 0, NUMBER_BYTES);
    if (!is_known(r))
        return not_known(r);
    if (!o->in_register)
        return operand_pieces(r, o, copy_one, out);
    if (!registers_value(r->scene->registers, o->first, operand_bytes(r, o), out))
        return err_set_code(r->err, EXPRESSION_BAD, "the register's value is not known");
    return 0;
}

static int make_number(struct operand_reader *r, struct operand *o, const uint8_t *value)
{
    uint64_t bytes = operand_bytes(r, o), v = 0;
    long double l;
    if (o->n.floating) {
        if (!source_value_float(&o->type, value, bytes, &l))
            return err_set_code(r->err, EXPRESSION_BAD, "it is no number");
        o->n.t = term_number(term_of_double((double)l));
        return 0;
    }
    memcpy(&v, value, bytes > 8 ? 8 : bytes);
    v >>= o->bit;
    if (o->bits && bytes > 8)
        v |= (uint64_t)value[8] << (64 - o->bit);
    o->n.t = term_extend(NULL, term_number(v), o->bits ? o->bits : 8 * (unsigned)bytes,
                         source_types_is_signed(&o->type));
    return 0;
}

/* ---- formulas ---- */

struct term operand_register_term(struct operand_reader *r, unsigned reg, uint64_t from,
                                  uint64_t to)
{
    struct source_view view = {.s = r->scene->source, .frame = &r->scene->frame};
    struct terms *terms = r->scene->frame.terms;
    unsigned first, most;
    if (reg >= ST0 && reg < ST0 + STS && to <= ST_BYTES && to - from <= sizeof(uint64_t))
        return term_vector(terms, AGENT_ST0 + reg - ST0, (unsigned)from, (unsigned)(to - from));
    if (!registers_dwarf(reg, &first, &most) || to > most || to - from > sizeof(uint64_t))
        return (struct term){0};
    if (first >= LOC_VEC) { /* the upper halves of vector registers are not to be had */
        unsigned number = (first - LOC_VEC) / LOC_VEC_BYTES;
        return number < 16 && to <= 16
                   ? term_vector(terms, AGENT_XMM0 + number, (unsigned)from, (unsigned)(to - from))
                   : (struct term){0};
    }
    struct term all = source_expr_register(&view, reg);
    if (from)
        all = term_op(terms, TERM_RSH_UNSIGNED, all, term_number(8 * from));
    return term_extend(terms, all, (unsigned)(8 * (to - from)), false);
}

struct term operand_piece_term(struct operand_reader *r, const struct source_piece *piece,
                               uint64_t from, uint64_t to)
{
    struct terms *terms = r->scene->frame.terms;
    bool formula = piece->term.kind == TERM_FORMULA;
    struct term t = formula ? piece->term : term_number(piece->value);
    switch (piece->where) {
    case SOURCE_MEMORY:
        return term_ref(terms, piece_address(r, piece, from), (unsigned)(to - from));
    case SOURCE_REGISTER:
        return operand_register_term(r, piece->reg, from, to);
    case SOURCE_COMPUTED:
    case SOURCE_CONSTANT:
        if (to > sizeof t.v || (piece->where == SOURCE_COMPUTED && !formula && !piece->known))
            return (struct term){0};
        if (from)
            t = term_op(terms, TERM_RSH_UNSIGNED, t, term_number(8 * from));
        return term_extend(terms, t, (unsigned)(8 * (to - from)), false);
    default:
        return (struct term){0};
    }
}

/* The words of a number: NUMBER_BYTES. */
struct words {
    struct term word[2];
};

static int join_one(struct operand_reader *r, const struct operand *o,
                    const struct source_piece *piece, uint64_t from, uint64_t to, uint64_t at,
                    void *arg)
{
    struct words *w = arg;
    struct terms *terms = r->scene->frame.terms;
    (void)o;
    for (uint64_t n; from < to; from += n, at += n) {
        n = 8 - at % 8 < to - from ? 8 - at % 8 : to - from;
        struct term t = operand_piece_term(r, piece, from, from + n);
        t = at % 8 ? term_op(terms, TERM_LSH, t, term_number(8 * (at % 8))) : t;
        w->word[at / 8] = at % 8 ? term_op(terms, TERM_BIT_OR, w->word[at / 8], t) : t;
        if (w->word[at / 8].kind == TERM_UNKNOWN)
            return err_set_code(r->err, SOURCE_OPTIMIZED, "its value is not known here");
    }
    return 0;
}

/* The number that floating point bits are. */
static int join_float(struct operand_reader *r, struct operand *o, const struct words *w,
                      uint64_t bytes)
{
    struct terms *terms = r->scene->frame.terms;
    if (bytes != sizeof(float) && bytes != sizeof(double) && bytes != sizeof(long double))
        return err_set_code(r->err, EXPRESSION_BAD, "it is no number that is calculated with");
    o->n.t = bytes == sizeof(float)    ? term_op(terms, TERM_F_OF_SINGLE, w->word[0], w->word[0])
             : bytes == sizeof(double) ? w->word[0]
                                       : term_op(terms, TERM_F_OF_X87, w->word[0], w->word[1]);
    return 0;
}

/* What is placed becomes a number that is a formula. */
static int join_number(struct operand_reader *r, struct operand *o)
{
    struct words w = {0};
    struct terms *terms = r->scene->frame.terms;
    uint64_t bytes = operand_bytes(r, o);
    if (o->in_register) {
        uint64_t begin =
            o->first < LOC_VEC ? o->first % LOC_GPR_BYTES : (o->first - LOC_VEC) % LOC_VEC_BYTES;
        struct source_piece piece = {.where = SOURCE_REGISTER,
                                     .reg = (uint16_t)registers_number(o->first)};
        if (join_one(r, o, &piece, begin, begin + bytes, 0, &w))
            return -1;
    } else if (operand_pieces(r, o, join_one, &w)) {
        return -1;
    }
    if (o->n.floating)
        return join_float(r, o, &w, bytes);
    struct term t = w.word[0];
    if (o->bit)
        t = term_op(terms, TERM_RSH_UNSIGNED, t, term_number(o->bit));
    if (o->bits && bytes > 8)
        t = term_op(terms, TERM_BIT_OR, t,
                    term_op(terms, TERM_LSH, w.word[1], term_number(64 - o->bit)));
    o->n.t = term_extend(terms, t, o->bits ? o->bits : 8 * (unsigned)bytes,
                         source_types_is_signed(&o->type));
    return 0;
}

/* An array is a pointer to its first element. */
static int decay(struct operand_reader *r, struct operand *o)
{
    struct source_type element;
    if (!source_types_element(&o->type, &element))
        return err_set_code(r->err, EXPRESSION_BAD, "its elements are not known");
    if (operand_address(r, o))
        return -1;
    element.pointers++;
    o->type = element;
    return 0;
}

int operand_fetch(struct operand_reader *r, struct operand *o, enum operand_role role)
{
    uint8_t value[NUMBER_BYTES];
    enum source_class class = source_types_class(&o->type);
    if (!o->placed)
        return 0;
    if (class == TYPE_ARRAY)
        return decay(r, o);
    if (class == TYPE_RECORD || class == TYPE_VOID || class == TYPE_COMPLEX)
        return err_set_code(r->err, EXPRESSION_BAD, "it is no number");
    if (operand_note(r, o, role))
        return -1;
    o->n = (struct operand_number){.floating = class == TYPE_FLOAT, .t = term_number(0)};
    if (!r->muted) { /* else its value is not wanted */
        uint64_t bytes = operand_bytes(r, o);
        if (bytes > (o->n.floating ? NUMBER_BYTES : 8u + (o->bits != 0)))
            return err_set_code(r->err, EXPRESSION_BAD, "it is no number");
        bool formula = !is_known(r) && r->scene->frame.terms;
        if (formula ? join_number(r, o) : copy_value(r, o, value) || make_number(r, o, value))
            return -1;
    }
    o->placed = o->in_register = o->referred = false;
    o->bit = o->bits = 0;
    return 0;
}

/* ---- places ---- */

static void place_at(struct operand *o, struct term addr, const struct source_type *type)
{
    *o = (struct operand){.type = *type, .placed = true};
    o->place.pieces = 1;
    o->place.type = *type;
    o->place.piece[0] =
        (struct source_piece){.where = SOURCE_MEMORY, .address = addr.v, .term = addr};
}

/* A reference is what it refers to; its own place is not read. */
static int follow_reference(struct operand_reader *r, struct operand *o)
{
    struct source_type target, reference = o->type;
    o->referred = false;
    if (source_types_class(&o->type) != TYPE_REFERENCE)
        return 0;
    if (!source_types_target(&o->type, &target))
        return err_set_code(r->err, EXPRESSION_BAD, "what it refers to is not known");
    if (operand_fetch(r, o, OPERAND_MUTED))
        return -1;
    place_at(o, o->n.t, &target);
    o->referred = true;
    o->reference = reference;
    return 0;
}

/* A member of the object that the method at the scene belongs to. 1: there is none. */
static int member_of_this(struct operand_reader *r, const char *name, struct operand *out)
{
    struct source_place place;
    struct source_type target;
    struct source_member member;
    struct err unused;
    if (source_variable_this(r->scene->source, r->scene->pc, &r->scene->frame, &place, r->err))
        return r->err->code == SOURCE_UNKNOWN_PLACE ? -1 : 1;
    if (!source_types_target(&place.type, &target) ||
        source_types_member(r->scene->source, &target, name, &member, &unused))
        return 1;
    if (member.global[0])
        return operand_variable(r, member.global, out);
    *out = (struct operand){.type = place.type, .placed = true, .place = place};
    return operand_deref(r, out) || operand_member(r, out, name) ? -1 : 0;
}

int operand_variable(struct operand_reader *r, const char *name, struct operand *out)
{
    struct err why;
    *out = (struct operand){.placed = true};
    int bad = source_variable_at(r->scene->source, r->scene->pc, &r->scene->frame, name,
                                 &out->place, r->err);
    if ((!bad && !out->place.local) || (bad && r->err->code == SOURCE_NO_VARIABLE)) {
        struct source_place found = out->place;
        why = *r->err;
        int none = strcmp(name, "this") == 0 ? 1 : member_of_this(r, name, out);
        if (none <= 0)
            return none;
        *r->err = why;
        *out = (struct operand){.placed = true, .place = found};
    }
    bool gone = bad && r->err->code != SOURCE_NO_VARIABLE;
    if (bad && !(gone && r->muted)) /* its type is known nevertheless */
        return -1;
    out->type = out->place.type;
    return follow_reference(r, out);
}

int operand_at(struct operand_reader *r, const struct source_place *place, struct operand *out)
{
    *out = (struct operand){.type = place->type, .placed = true, .place = *place};
    return follow_reference(r, out);
}

int operand_register(struct operand_reader *r, const char *name, struct operand *out)
{
    unsigned first, count;
    if (!registers_find(name, &first, &count))
        return err_set_code(r->err, EXPRESSION_BAD, "%%%s: no such register", name);
    *out = (struct operand){.type =
                                source_types_plain(count == 8 ? TYPE_SIGNED : TYPE_UNSIGNED, count),
                            .placed = true,
                            .in_register = true,
                            .first = first};
    return 0;
}

int operand_member(struct operand_reader *r, struct operand *o, const char *name)
{
    struct source_member member;
    if (source_types_member(r->scene->source, &o->type, name, &member, r->err))
        return -1;
    if (member.global[0])
        return operand_variable(r, member.global, o);
    if (!o->placed)
        return err_set_code(r->err, EXPRESSION_BAD, "%s: of what is no variable", name);
    o->type = member.type;
    o->offset += member.offset;
    o->bit = member.bit;
    o->bits = member.bits;
    return follow_reference(r, o);
}

bool operand_is_split(const struct operand *o)
{
    return o->placed && !o->in_register && source_types_class(&o->type) == TYPE_ARRAY &&
           (o->place.pieces != 1 || o->place.piece[0].where != SOURCE_MEMORY);
}

int operand_element(struct operand_reader *r, struct operand *o, const struct operand *index)
{
    struct operand element = *o;
    if (!source_types_element(&o->type, &element.type))
        return err_set_code(r->err, EXPRESSION_BAD, "its elements are not known");
    uint64_t each = operand_bytes(r, &element), all = operand_bytes(r, o);
    if (index->n.floating || !each)
        return err_set_code(r->err, EXPRESSION_BAD, "an index is a whole number");
    if (!r->muted && !term_is_number(index->n.t))
        return err_set_code(r->err, EXPRESSION_BAD,
                            "it is not in memory, so an index of it has to be a number");
    if (!r->muted && index->n.t.v >= all / each)
        return err_set_code(r->err, EXPRESSION_BAD, "it has %llu elements and is not in memory",
                            (unsigned long long)(all / each));
    o->type = element.type;
    o->offset += r->muted ? 0 : each * index->n.t.v;
    o->referred = false;
    return 0;
}

int operand_deref(struct operand_reader *r, struct operand *o)
{
    struct source_type target;
    char name[100];
    source_types_name(&o->type, name, sizeof name);
    if (source_types_class(&o->type) == TYPE_RECORD)
        return err_set_code(r->err, EXPRESSION_BAD, "%s is no pointer", name);
    if (operand_fetch(r, o, OPERAND_ADDRESS))
        return -1;
    if (!source_types_target(&o->type, &target))
        return err_set_code(r->err, EXPRESSION_BAD,
                            "%s is no pointer; a number becomes one by a cast: *(int *) 0x1234",
                            name);
    if (source_types_class(&target) == TYPE_VOID)
        return err_set_code(r->err, EXPRESSION_BAD,
                            "a void pointer says not what it leads to; cast it: *(int *) p");
    place_at(o, o->n.t, &target);
    return 0;
}

int operand_address(struct operand_reader *r, struct operand *o)
{
    if (!o->placed || o->in_register || o->place.pieces != 1 ||
        o->place.piece[0].where != SOURCE_MEMORY || o->bits)
        return err_set_code(r->err, EXPRESSION_BAD,
                            o->bits ? "a bit-field has no address"
                                    : "it is not in memory here, so it has no address");
    const struct source_piece *piece = &o->place.piece[0];
    struct term at = piece->term.kind == TERM_FORMULA ? piece->term : term_number(piece->address);
    o->n = (struct operand_number){
        .t = term_op(r->scene->frame.terms, TERM_ADD, at, term_number(o->offset))};
    o->type.pointers++;
    o->placed = o->referred = false;
    return 0;
}
