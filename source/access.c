/* access.c - names for memory, by the instruction that touches it. SPDX-License-Identifier: MIT */
#include "source/access.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "source/access_int.h"
#include "source/place.h"
#include "source/source_int.h"

/* Frames and threads are named as if they were here: only distances matter. */
#define SOME_CFA  0x7ff700000000ull
#define SOME_BASE 0x7ff600000000ull

/* ---- variables ---- */

static bool is_number(const struct source_type *t)
{
    enum source_class c = source_types_class(t);
    return c >= TYPE_SIGNED && c <= TYPE_ENUM && c != TYPE_FLOAT;
}

/* An array that is a variable, by an index. */
static bool name_element(struct access_walk *w, gaddr pc, const struct source_frame *frame,
                         gaddr addr, uint64_t bytes, const struct access_term *index, char *text,
                         struct source_type *type)
{
    const struct source_index by = {(uint64_t)index->times, index->text};
    struct source_mod *m;
    uint64_t offset;
    Dwarf_Die die, of;
    const struct source_var *var = source_place_variable(w->s, pc, frame, addr, &m, &offset);
    if (!var || index->times <= 0 || !is_number(&index->type) ||
        !source_scopes_die(m, var->unit, var->die, &die) || !source_type_of(&die, &of))
        return false;
    int n = snprintf(text, ACCESS_TEXT, "%s", var->name);
    return n > 0 && n < ACCESS_TEXT &&
           source_type_part(&of, offset, bytes, &by, text + n, ACCESS_TEXT - (size_t)n, type);
}

static bool name_variable(struct access_walk *w, gaddr pc, const struct access_sum *sum,
                          uint64_t bytes, char *text, struct source_type *type)
{
    const struct source_frame frame = {.cfa = SOME_CFA, .fs_base = SOME_BASE};
    gaddr addr = (gaddr)sum->constant + (sum->base == ACCESS_FRAME    ? SOME_CFA
                                         : sum->base == ACCESS_THREAD ? SOME_BASE
                                                                      : 0);
    if (sum->terms == 1 && sum->base != ACCESS_THREAD)
        return name_element(w, pc, &frame, addr, bytes, &sum->term[0], text, type);
    return !sum->terms &&
           source_variable_typed(w->s, pc, &frame, addr, (uint32_t)bytes, text, ACCESS_TEXT, type);
}

/* ---- by way of a pointer ---- */

/* Writes an index: `i`, `i + 2`, `2 * i + j`. */
static bool write_index(const struct access_sum *sum, const struct access_term *pointer,
                        uint64_t size, int64_t number, char *text)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < sum->terms; i++) {
        const struct access_term *x = &sum->term[i];
        int64_t times = x->times / (int64_t)size;
        if (x == pointer)
            continue;
        if (x->times <= 0 || x->times % (int64_t)size || !is_number(&x->type))
            return false;
        char factor[32] = "";
        if (times != 1)
            snprintf(factor, sizeof factor, "%" PRId64 " * ", times);
        used += (size_t)snprintf(text + used, ACCESS_TEXT - used, "%s%s%s", used ? " + " : "",
                                 factor, x->text);
        if (used >= ACCESS_TEXT)
            return false;
    }
    if (!used)
        used = (size_t)snprintf(text, ACCESS_TEXT, "%" PRId64, number);
    else if (number)
        used += (size_t)snprintf(text + used, ACCESS_TEXT - used, " %c %" PRId64,
                                 number < 0 ? '-' : '+', number < 0 ? -number : number);
    return used < ACCESS_TEXT;
}

/* Puts pointer, index and path together. */
static bool write_path(const struct access_term *p, const char *index, const char *path, char *text)
{
    bool plain = strchr("*&", p->text[0]) == NULL;
    bool refers = source_types_class(&p->type) == TYPE_REFERENCE;
    char name[ACCESS_TEXT + 2];
    int n;
    snprintf(name, sizeof name, plain ? "%s" : "(%s)", p->text);
    if (index)
        n = snprintf(text, ACCESS_TEXT, "%s[%s]%s", name, index, path);
    else if (refers)
        n = snprintf(text, ACCESS_TEXT, "%s%s", name, path);
    else if (path[0] == '.')
        n = snprintf(text, ACCESS_TEXT, "%s->%s", name, path + 1);
    else
        n = snprintf(text, ACCESS_TEXT, path[0] ? "(*%s)%s" : "*%s%s", name, path);
    return n > 0 && n < ACCESS_TEXT;
}

/* An array inside of what it points to, by the one other term. */
static bool name_inside(const struct access_sum *sum, const struct access_term *p, Dwarf_Die *of,
                        uint64_t bytes, char *text, struct source_type *type)
{
    const struct access_term *x = &sum->term[p == &sum->term[0]];
    const struct source_index by = {(uint64_t)x->times, x->text};
    char path[ACCESS_TEXT];
    return sum->terms == 2 && x->times > 0 && is_number(&x->type) && sum->constant >= 0 &&
           source_type_part(of, (uint64_t)sum->constant, bytes, &by, path, sizeof path, type) &&
           write_path(p, NULL, path, text);
}

static const struct access_term *pointer_of(const struct access_sum *sum)
{
    const struct access_term *found = NULL;
    for (unsigned i = 0; i < sum->terms; i++) {
        enum source_class c = source_types_class(&sum->term[i].type);
        if (c != TYPE_POINTER && c != TYPE_REFERENCE)
            continue;
        if (found || sum->term[i].times != 1)
            return NULL;
        found = &sum->term[i];
    }
    return found;
}

static bool name_by_pointer(const struct access_sum *sum, uint64_t bytes, char *text,
                            struct source_type *type)
{
    const struct access_term *p = pointer_of(sum);
    struct source_type target;
    char path[ACCESS_TEXT], index[ACCESS_TEXT];
    Dwarf_Die of;
    if (!p || !source_types_target(&p->type, &target) || !source_types_entry(&target, &of))
        return false;
    uint64_t size = source_types_bytes(&target, NULL);
    if (!size || size > INT32_MAX)
        return false;
    int64_t number = sum->constant / (int64_t)size, offset = sum->constant % (int64_t)size;
    if (offset < 0) {
        offset += (int64_t)size;
        number--;
    }
    if (!write_index(sum, p, size, number, index))
        return name_inside(sum, p, &of, bytes, text, type);
    bool element = sum->terms > 1 || number;
    if (element && source_types_class(&p->type) == TYPE_REFERENCE)
        return false;
    if ((uint64_t)offset + bytes > size)
        return false; /* more than one of them */
    return source_type_part(&of, (uint64_t)offset, bytes, NULL, path, sizeof path, type) &&
           write_path(p, element ? index : NULL, path, text);
}

bool access_name(struct access_walk *w, gaddr pc, const struct access_sum *sum, uint64_t bytes,
                 char text[ACCESS_TEXT], struct source_type *type)
{
    *type = (struct source_type){0};
    text[0] = 0;
    return sum->base ? name_variable(w, pc, sum, bytes, text, type)
                     : name_by_pointer(sum, bytes, text, type);
}

/* ---- all of it ---- */

/* The one operand that is memory and has an address of its own. */
static const ZydisDecodedOperand *memory_operand(const struct insn_operands *ops)
{
    const ZydisDecodedOperand *found = NULL;
    for (unsigned i = 0; i < ops->z.operand_count_visible; i++) {
        if (ops->op[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        if (found)
            return NULL;
        found = &ops->op[i];
    }
    return found && found->mem.type == ZYDIS_MEMOP_TYPE_MEM ? found : NULL;
}

/* Does it begin with a variable that a header's macro has made? It says nothing to a reader. */
static bool is_reserved(const char *text)
{
    return strncmp(text + strspn(text, "(*&"), "__", 2) == 0;
}

bool source_access(struct source *s, gaddr pc, uint64_t bytes, char *buf, size_t room,
                   struct source_type *type)
{
    struct access_walk w = {.s = s};
    struct insn in;
    struct insn_operands ops;
    struct access_sum sum;
    struct source_type of = {0};
    char text[ACCESS_TEXT] = "";
    bool found = false;
    if (access_code_read(s, pc, &w.code) && access_code_at(&w.code, pc, &in)) {
        insn_operands(&in, &ops);
        const ZydisDecodedOperand *op = memory_operand(&ops);
        found = op && op->size / 8u >= bytes && op->size && access_address(&w, &in, op, &sum) &&
                access_name(&w, pc, &sum, op->size / 8u, text, &of);
        found = found && strlen(text) < room && !is_reserved(text);
        if (found && op->size / 8u != bytes)
            of = (struct source_type){0};
    }
    access_code_free(&w.code);
    if (type)
        *type = found ? of : (struct source_type){0};
    if (room)
        snprintf(buf, room, "%s", found ? text : "");
    return found;
}
