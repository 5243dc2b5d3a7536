/* render.c - values as text, as GDB's `print` has them. SPDX-License-Identifier: MIT */
#include "source/render.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "source/variable.h"

enum {
    REPEATED = 10, /* as many of the same are counted */
    DEPTH = 24,
    TEXT = 512,
    STATIC_MOST = 4096,
    POINTER_BYTES = 8,
};

/* The text, and the value that it is about: a part of it may be another one's. */
struct out {
    const struct render *r;
    bool cxx;
    char *buf;
    size_t room, used;
    int depth;
};

/* A part of a value. */
struct part {
    struct source_type type;
    const uint8_t *bytes;
    const bool *missing;
    size_t n;
    uint32_t bit, bits;
    gaddr address;
};

static void write_part(struct out *o, const struct part *p);

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *fmt, ...)
{
    va_list args;
    if (o->used >= o->room)
        return;
    va_start(args, fmt);
    int n = vsnprintf(o->buf + o->used, o->room - o->used, fmt, args);
    va_end(args);
    o->used += n > 0 ? (size_t)n : 0;
}

static bool is_text(const struct source_type *t)
{
    enum source_class class = source_types_class(t);
    return class == TYPE_CHARACTER || class == TYPE_UCHARACTER;
}

static uint64_t size_of(const struct source_type *t)
{
    return source_types_bytes(t, NULL);
}

/* ---- strings ---- */

struct run {
    struct out *o;
    bool any, open; /* something was written; quotes are open */
};

static void put_char(struct run *run, unsigned char c, char quote)
{
    char text[VALUE_ESCAPED];
    source_value_escape(c, quote, text);
    put(run->o, "%s", text);
}

/* `count` times the same: in quotes with others, or on its own. */
static void put_times(struct run *run, unsigned char c, size_t count)
{
    if (count > REPEATED) {
        put(run->o, "%s%s'", run->open ? "\"" : "", run->any ? ", " : "");
        put_char(run, c, '\'');
        put(run->o, "' <repeats %zu times>", count);
        run->open = false;
    } else {
        if (!run->open)
            put(run->o, "%s\"", run->any ? ", " : "");
        run->open = true;
        while (count--)
            put_char(run, c, '"');
    }
    run->any = true;
}

/* Characters in quotes; at most RENDER_ELEMENTS of these and of repetitions. */
static void put_string(struct out *o, const uint8_t *text, size_t n, bool more)
{
    struct run run = {.o = o};
    size_t shown = 0, i = 0;

    while (i < n && shown < RENDER_ELEMENTS) {
        size_t count = 1;
        while (i + count < n && text[i + count] == text[i])
            count++;
        bool repeated = count > REPEATED;
        if (!repeated && count > RENDER_ELEMENTS - shown)
            count = RENDER_ELEMENTS - shown;
        put_times(&run, text[i], count);
        shown += repeated ? REPEATED : count;
        i += count;
    }
    if (!run.any)
        put(o, "\"\"");
    put(o, "%s%s", run.open ? "\"" : "", more || i < n ? "..." : "");
}

/* The string at an address: what there was of it. */
static void put_string_at(struct out *o, gaddr addr)
{
    uint8_t text[RENDER_ELEMENTS];
    size_t have = o->r->memory ? o->r->memory(o->r->arg, addr, text, sizeof text) : RENDER_UNREAD;

    if (have == RENDER_UNREAD) {
        put(o, "<not taken>");
        return;
    }
    const uint8_t *zero = memchr(text, 0, have);
    if (have)
        put_string(o, text, zero ? (size_t)(zero - text) : have, !zero && have == sizeof text);
    if (!zero && have < sizeof text)
        put(o, "<error: Cannot access memory at address 0x%" PRIx64 ">", addr + have);
}

/* ---- pointers ---- */

static void put_address(struct out *o, gaddr addr)
{
    char symbol[TEXT];
    put(o, "0x%" PRIx64, addr);
    if (render_symbol(o->r->source, addr, symbol, sizeof symbol))
        put(o, " <%s>", symbol);
}

static uint64_t word_of(const struct part *p)
{
    uint64_t v = 0;
    memcpy(&v, p->bytes, p->n < sizeof v ? p->n : sizeof v);
    return v;
}

static void write_pointer(struct out *o, const struct part *p)
{
    struct source_type target;
    uint64_t addr = word_of(p);

    put_address(o, addr);
    if (addr && source_types_target(&p->type, &target) && is_text(&target)) {
        put(o, " ");
        put_string_at(o, addr);
    }
}

/* What is at an address, if it was read. */
static bool write_there(struct out *o, gaddr addr, const struct source_type *type)
{
    uint8_t bytes[STATIC_MOST];
    uint64_t size = size_of(type);

    if (!size || size > sizeof bytes || !o->r->memory ||
        o->r->memory(o->r->arg, addr, bytes, size) != size)
        return false;
    write_part(o, &(struct part){.type = *type, .bytes = bytes, .n = size, .address = addr});
    return true;
}

/* ---- arrays ---- */

static struct part element_of(const struct part *p, const struct source_type *type, size_t size,
                              size_t i)
{
    return (struct part){.type = *type,
                         .bytes = p->bytes + i * size,
                         .missing = p->missing ? p->missing + i * size : NULL,
                         .n = size,
                         .address = p->address ? p->address + i * size : 0};
}

static bool is_same(const struct part *a, const struct part *b)
{
    return memcmp(a->bytes, b->bytes, a->n) == 0 &&
           (!a->missing || memcmp(a->missing, b->missing, a->n * sizeof *a->missing) == 0);
}

static void write_elements(struct out *o, const struct part *p, const struct source_type *type,
                           size_t size, size_t count)
{
    size_t have = p->n / size < count ? p->n / size : count, shown = 0, i = 0, n;

    put(o, "{");
    for (; i < have && shown < RENDER_ELEMENTS; i += n) {
        struct part e = element_of(p, type, size, i);
        for (n = 1; i + n < have; n++) {
            struct part other = element_of(p, type, size, i + n);
            if (!is_same(&e, &other))
                break;
        }
        put(o, "%s", i ? ", " : "");
        if (n < REPEATED)
            n = 1;
        write_part(o, &e);
        if (n > 1)
            put(o, " <repeats %zu times>", n);
        shown += n > 1 ? REPEATED : 1;
    }
    put(o, "%s}", i < count ? "..." : "");
}

static bool any_missing(const struct part *p)
{
    return p->missing && memchr(p->missing, true, p->n);
}

static void write_array(struct out *o, const struct part *p)
{
    struct source_type type;
    size_t size = source_types_element(&p->type, &type) ? size_of(&type) : 0;
    size_t count = size ? size_of(&p->type) / size : 0;

    if (!size) {
        put(o, "<its elements are not known>");
    } else if (!count) { /* [] is where it begins */
        put_address(o, p->address);
        if (is_text(&type)) {
            put(o, " ");
            put_string_at(o, p->address);
        }
    } else if (is_text(&type) && !any_missing(p)) {
        bool whole = p->n >= count, zero = whole && !p->bytes[count - 1];
        put_string(o, p->bytes, whole ? count - zero : p->n, !whole);
    } else {
        write_elements(o, p, &type, size, count);
    }
}

/* ---- records ---- */

struct record {
    struct out *o;
    const struct part *p;
    bool any, bases;
};

static void write_static(struct out *o, const struct source_field *f)
{
    struct source_place place;
    struct err unused;
    bool found =
        !source_variable_at(o->r->source, o->r->pc, NULL, f->member.global, &place, &unused) &&
        place.pieces == 1;
    const struct source_piece *piece = &place.piece[0];

    const uint64_t *constant = f->constant                                ? &f->value
                               : found && piece->where == SOURCE_CONSTANT ? &piece->value
                                                                          : NULL;

    if (constant)
        write_part(o, &(struct part){.type = f->member.type,
                                     .bytes = (const uint8_t *)constant,
                                     .n = size_of(&f->member.type)});
    else if (!found || piece->where != SOURCE_MEMORY ||
             !write_there(o, piece->address, &f->member.type))
        put(o, "<optimized out>");
}

static int write_field(void *arg, const struct source_field *f)
{
    struct record *record = arg;
    struct out *o = record->o;
    const struct part *p = record->p;
    const struct source_member *m = &f->member;
    char name[TEXT];
    uint64_t size = m->bits ? (m->bit + m->bits + 7) / 8 : size_of(&m->type);

    put(o, "%s", record->any || record->bases ? ", " : "");
    *(f->base ? &record->bases : &record->any) = true;
    if (f->base) {
        source_types_declare(&m->type, true, name, sizeof name);
        put(o, "<%s> = ", name);
    }
    if (f->name && !f->base)
        put(o, "%s%s = ", m->global[0] ? "static " : "", f->name);
    if (m->global[0]) {
        write_static(o, f);
    } else if (f->displaced) {
        put(o, "<a virtual base, which is not looked up>");
    } else if (m->offset + size > p->n) {
        put(o, "...");
    } else {
        struct part part = {.type = m->type,
                            .bytes = p->bytes + m->offset,
                            .missing = p->missing ? p->missing + m->offset : NULL,
                            .n = size,
                            .bit = m->bit,
                            .bits = m->bits,
                            .address = p->address ? p->address + m->offset : 0};
        write_part(o, &part);
    }
    return o->used >= o->room;
}

static void write_record(struct out *o, const struct part *p)
{
    struct record record = {.o = o, .p = p};

    put(o, "{");
    source_types_fields(o->r->source, &p->type, write_field, &record);
    put(o, "%s%s}", record.bases && !record.any ? ", " : "", record.any ? "" : "<No data fields>");
}

/* ---- all of it ---- */

/* A bit-field's number, as many bytes as its type has. */
static uint64_t bits_of(const struct part *p)
{
    uint64_t v = word_of(p) >> p->bit;
    if (p->n > sizeof v)
        v |= (uint64_t)p->bytes[sizeof v] << (64 - p->bit);
    if (p->bits < 64) {
        v &= (1ull << p->bits) - 1;
        if (source_types_is_signed(&p->type) && v >> (p->bits - 1))
            v |= UINT64_MAX << p->bits;
    }
    return v;
}

static void write_scalar(struct out *o, const struct part *p)
{
    char text[TEXT];
    uint64_t v;

    if (p->bits) {
        v = bits_of(p);
        source_value_write(&p->type, &v, size_of(&p->type), text, sizeof text);
    } else {
        source_value_write(&p->type, p->bytes, p->n, text, sizeof text);
    }
    put(o, "%s", text);
}

static bool is_gone(const struct part *p, bool aggregate)
{
    if (!p->missing)
        return false;
    return aggregate ? p->n && !memchr(p->missing, false, p->n) : any_missing(p);
}

static void write_part(struct out *o, const struct part *p)
{
    enum source_class class = source_types_class(&p->type);
    bool aggregate = class == TYPE_RECORD || class == TYPE_ARRAY;

    if (is_gone(p, aggregate)) {
        put(o, "<optimized out>");
        return;
    }
    if (++o->depth > DEPTH)
        put(o, "...");
    else if (class == TYPE_RECORD)
        write_record(o, p);
    else if (class == TYPE_ARRAY)
        write_array(o, p);
    else if (class == TYPE_POINTER && p->n == POINTER_BYTES)
        write_pointer(o, p);
    else if (class == TYPE_REFERENCE && p->n == POINTER_BYTES)
        put(o, "@0x%" PRIx64, word_of(p)); /* inside of something, no more than that */
    else
        write_scalar(o, p);
    o->depth--;
}

/* Outermost, a pointer says what it leads to; not `char *`. */
static void write_type(struct out *o, const struct source_type *type)
{
    struct source_type target;
    char text[TEXT];

    if (source_types_class(type) != TYPE_POINTER)
        return;
    source_types_declare(type, o->cxx, text, sizeof text);
    if (source_types_target(type, &target) && is_text(&target) &&
        (strcmp(text, "char *") == 0 || strcmp(text, "const char *") == 0 ||
         strcmp(text, "volatile char *") == 0))
        return;
    put(o, "(%s) ", text);
}

void render_write(const struct render *r, const struct render_value *v, char *buf, size_t room)
{
    struct out o = {
        .r = r, .cxx = source_types_are_cxx(r->source, r->pc), .buf = buf, .room = room};
    struct part part = {.type = v->type,
                        .bytes = v->bytes,
                        .missing = v->missing,
                        .n = v->n,
                        .bit = v->bit,
                        .bits = v->bits,
                        .address = v->address};
    char text[TEXT];

    if (room)
        buf[0] = 0;
    if (v->reference) {
        source_types_declare(v->reference, o.cxx, text, sizeof text);
        put(&o, "(%s) @0x%" PRIx64 ": ", text, v->address);
    } else if (!is_gone(&part, false)) {
        write_type(&o, &v->type);
    }
    write_part(&o, &part);
}

/* ---- what is wanted besides ---- */

struct wants {
    const struct render *r;
    render_want_fn *fn;
    void *arg;
    uint64_t bytes; /* of the value that are there */
    int depth;
};

struct wanted_field {
    struct wants *w;
    uint64_t offset;
};

static int want_type(struct wants *w, const struct source_type *type, uint64_t offset);

static int want_field(void *arg, const struct source_field *f)
{
    struct wanted_field *at = arg;

    if (f->member.global[0])
        return at->w->fn(at->w->arg, RENDER_STATIC, 0, &f->member.type, f->member.global);
    return f->displaced || f->member.bits
               ? 0
               : want_type(at->w, &f->member.type, at->offset + f->member.offset);
}

static int want_elements(struct wants *w, const struct source_type *type, uint64_t offset)
{
    struct source_type element;
    uint64_t size = source_types_element(type, &element) ? size_of(&element) : 0;
    uint64_t count = size ? size_of(type) / size : 0;

    if (size && !count && is_text(&element))
        return w->fn(w->arg, RENDER_TEXT, offset, &element, NULL);
    enum source_class class = source_types_class(&element);
    if (!size || (class != TYPE_POINTER && class != TYPE_RECORD && class != TYPE_ARRAY))
        return 0;
    for (uint64_t i = 0; i < count && i < RENDER_ELEMENTS; i++) {
        int result = want_type(w, &element, offset + i * size);
        if (result)
            return result;
    }
    return 0;
}

static int want_type(struct wants *w, const struct source_type *type, uint64_t offset)
{
    struct source_type target;
    struct wanted_field at = {w, offset};
    int result = 0;

    if (offset > w->bytes || w->depth == DEPTH)
        return 0;
    w->depth++;
    switch (source_types_class(type)) {
    case TYPE_POINTER:
        if (source_types_target(type, &target) && is_text(&target))
            result = w->fn(w->arg, RENDER_STRING, offset, &target, NULL);
        break;
    case TYPE_RECORD:
        result = source_types_fields(w->r->source, type, want_field, &at);
        break;
    case TYPE_ARRAY:
        result = want_elements(w, type, offset);
        break;
    default:
        break;
    }
    w->depth--;
    return result;
}

int render_wants(const struct render *r, const struct source_type *type, uint64_t bytes,
                 render_want_fn *fn, void *arg)
{
    struct wants w = {.r = r, .fn = fn, .arg = arg, .bytes = bytes};
    return want_type(&w, type, 0);
}
