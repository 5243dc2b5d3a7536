/* pruning.c - what a slice is pruned by, in the user's words. SPDX-License-Identifier: MIT */
#include "slicer/criterion/pruning.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/expression.h"
#include "source/places.h"
#include "source/registers.h"

static const char usage[] = "say VARIABLE, FUNCTION::VARIABLE, %REGISTER, `0xADDRESS BYTES` or "
                            "0xFROM..0xTO";

void pruning_deinit(struct pruning *p)
{
    for (size_t i = 0; i < p->words; i++)
        free(p->word[i]);
    free(p->item);
    *p = (struct pruning){0};
}

int pruning_add_word(struct pruning *p, const char *text, struct err *err)
{
    if (p->words == PRUNING_MOST)
        return err_set_code(err, CRITERION_USAGE, "%s: no more than %d can be pruned", text,
                            PRUNING_MOST);
    if (!(p->word[p->words] = strdup(text)))
        return err_set(err, "no memory");
    p->words++;
    return 0;
}

int pruning_add_item(struct pruning *p, const struct slice_prune *item, struct err *err)
{
    return array_append(&p->item, &p->items, *item) ? err_set(err, "no memory") : 0;
}

/* ---- registers and memory ---- */

/* All of the register that has these locations: a part of it is defined with the rest, mostly. */
static struct slice_prune whole_register(unsigned first, unsigned count)
{
    if (first < LOC_VEC) {
        first = loc_gpr((first - LOC_GPR) / LOC_GPR_BYTES);
        count = LOC_GPR_BYTES;
    } else if (first < LOC_MASK) {
        first = loc_vec((first - LOC_VEC) / LOC_VEC_BYTES);
        count = LOC_VEC_BYTES;
    }
    return (struct slice_prune){.kind = SLICE_PRUNE_REGISTER, .addr = first, .bytes = count};
}

static int add_register(struct pruning *p, const char *text, struct err *err)
{
    unsigned first, count;
    if (!registers_find(text + 1, &first, &count))
        return err_set_code(err, CRITERION_USAGE, "%s: no such register", text);
    struct slice_prune item = whole_register(first, count);
    return pruning_add_item(p, &item, err);
}

static int add_memory(struct pruning *p, const char *text, struct err *err)
{
    struct slice_prune item = {.kind = SLICE_PRUNE_MEMORY};
    char *end;
    errno = 0;
    item.addr = strtoull(text, &end, 0);
    bool range = strncmp(end, "..", 2) == 0;
    const char *second = range ? end + 2 : end + strspn(end, " \t");
    if (!range && second == end)
        return err_set_code(err, CRITERION_USAGE, "%s: how many bytes? Say `%s 8`", text, text);
    uint64_t n = isdigit((unsigned char)*second) ? strtoull(second, &end, 0) : 0;
    item.bytes = range ? n - item.addr : n;
    if (errno || *end || !n || (range && n <= item.addr))
        return err_set_code(err, CRITERION_USAGE, "%s: no range of memory; %s", text, usage);
    return pruning_add_item(p, &item, err);
}

/* ---- variables ---- */

struct homes {
    struct pruning *p;
    struct err *err;
};

static int add_home(void *arg, const struct source_home *home)
{
    struct homes *h = arg;
    unsigned first, most;
    struct slice_prune item = {.kind = home->frame ? SLICE_PRUNE_FRAME : SLICE_PRUNE_MEMORY,
                               .addr = home->address,
                               .bytes = home->bytes};
    if (!home->memory) {
        if (!registers_dwarf(home->reg, &first, &most))
            return 0;
        item = whole_register(first, 1);
    }
    item.from = home->from;
    item.to = home->to;
    return pruning_add_item(h->p, &item, h->err);
}

/* A thread-local variable's place follows from the thread pointer. */
static int add_of_thread(struct homes *h, struct study *s, const struct criterion *of,
                         const char *name, struct err *err)
{
    struct program_registers *r = malloc(sizeof *r);
    if (!r)
        return err_set(err, "no memory");
    int bad = study_registers(s, &of->position, r, err);
    struct source_frame frame = {
        .fs_base = bad ? 0 : r->fs_base, .scope = of->scope, .inlined = of->inlined};
    free(r);
    return bad ? -1 : source_places(s->source, of->pc, &frame, name, add_home, h, err);
}

/* Its code tells if the variable is not known there. */
static int find_variable(struct pruning *p, struct study *s, const struct criterion *of,
                         const char *name, struct err *err)
{
    struct homes h = {p, err};
    size_t before = p->items;
    const struct source_frame frame = {.scope = of->scope, .inlined = of->inlined};
    int bad = source_places(s->source, of->pc, &frame, name, add_home, &h, err);
    if (bad && err->code == SOURCE_NO_VARIABLE && of->position.pc != of->pc)
        bad = source_places(s->source, of->position.pc, NULL, name, add_home, &h, err);
    if (bad && err->code == SOURCE_UNKNOWN_PLACE)
        bad = add_of_thread(&h, s, of, name, err);
    if (!bad && p->items == before)
        bad = err_set_code(err, SOURCE_UNKNOWN_PLACE, "%s: it has no place of its own", name);
    return bad;
}

/* `where` is in words. */
static int no_variable(const char *name, const char *where, struct err *err)
{
    return err_set(err, "%s: no such variable %s; one of another function is FUNCTION::%s", name,
                   where, name);
}

static int add_variable(struct pruning *p, struct study *s, const struct criterion *of,
                        const char *name, struct err *err)
{
    int bad = find_variable(p, s, of, name, err);
    return bad && err->code == SOURCE_NO_VARIABLE ? no_variable(name, "where the criterion is", err)
                                                  : bad;
}

static int add_word(struct pruning *p, struct study *s, const struct criterion *of,
                    const char *text, struct err *err)
{
    if (text[0] == '%')
        return add_register(p, text, err);
    if (isdigit((unsigned char)text[0]))
        return add_memory(p, text, err);
    if (isalpha((unsigned char)text[0]) || text[0] == '_')
        return add_variable(p, s, of, text, err);
    return err_set_code(err, CRITERION_USAGE, "%s: cannot be pruned; %s", text, usage);
}

/* ---- at a place ---- */

/* What an expression stands for: pointers that lead there do not count. */
static int add_expression(struct pruning *p, struct study *s, const struct place *at,
                          const char *text, struct err *err)
{
    struct expression *e = malloc(sizeof *e);
    if (!e)
        return err_set(err, "no memory");
    int bad = criterion_reads(s, at, text, e, err);
    for (size_t i = 0; !bad && i < e->reads; i++) {
        const struct expression_read *r = &e->read[i];
        struct slice_prune item = {.kind = SLICE_PRUNE_MEMORY, .addr = r->addr, .bytes = r->bytes};
        if (!r->memory)
            item = whole_register((unsigned)r->addr, (unsigned)r->bytes);
        if (!r->address)
            bad = pruning_add_item(p, &item, err);
    }
    free(e);
    return bad ? -1 : 0;
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return !isdigit((unsigned char)text[0]) && text[strspn(text, letters)] == 0;
}

/* A variable's name means the variable in all calls: one that is visible there, a member of *this,
 * or one that is visible where the criterion is. */
static int add_at(struct pruning *p, struct study *s, const struct criterion *of,
                  const struct place *at, const char *text, struct err *err)
{
    const struct criterion there = {
        .pc = at->line_pc, .scope = at->scope, .inlined = at->inlined, .position = at->position};
    struct err other;
    if (text[0] == '%' || isdigit((unsigned char)text[0]))
        return add_word(p, s, &there, text, err);
    if (!is_name(text))
        return add_expression(p, s, at, text, err);
    if (!find_variable(p, s, &there, text, err) || !add_expression(p, s, at, text, &other) ||
        !find_variable(p, s, of, text, &other))
        return 0;
    if (err->code == SOURCE_NO_VARIABLE && other.code == SOURCE_NO_VARIABLE)
        return no_variable(text, "at that place, nor where the criterion is", err);
    if (err->code == SOURCE_NO_VARIABLE)
        *err = other;
    return -1;
}

int pruning_add(struct pruning *p, struct study *s, const struct criterion *of, const char *text,
                struct err *err)
{
    char what[CRITERION_TEXT];
    struct place at;
    int none = criterion_place(s, text, what, &at, err);
    int bad = none < 0 ? -1
              : none   ? add_word(p, s, of, text, err)
                       : add_at(p, s, of, &at, what, err);
    if (!none)
        place_deinit(&at);
    return bad || pruning_add_word(p, text, err) ? -1 : 0;
}
