/* location.c - memory that a question is about. SPDX-License-Identifier: MIT */
#include "ask/location.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/os/kinds.h"
#include "slicer/criterion/criterion.h"
#include "source/chain.h"
#include "source/expression.h"
#include "source/render.h"
#include "study/past.h"

enum { FRAME_MOST = 1 << 20 }; /* a frame that is larger is taken for memory that stays */

static int join_words(struct asking *q, char *out, size_t room, struct err *err)
{
    size_t used = 0;
    for (int i = 0; i < q->given->words; i++) {
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? " " : "", q->given->word[i]);
        if (used >= room)
            return err_set_code(err, ASK_USAGE, "more words than anybody means");
    }
    return 0;
}

/* ---- how long a frame is there ---- */

struct end {
    uint64_t at, behind;
    struct position position;
};

/* The return address is read by the return, and else only written, by another call. */
static int meets_end(void *arg, const struct touch *t, struct err *err)
{
    struct end *e = arg;
    (void)err;
    if (t->insn < e->at)
        return 0;
    e->behind = t->insn;
    e->position = t->at;
    return 1;
}

static int find_lifetime(struct asking *q, const struct place *p, struct location *out,
                         struct err *err)
{
    struct end end = {.at = p->at, .behind = trace_insns(q->study->trace)};
    struct touch_range slot = {p->cfa - 8, p->cfa};
    struct touch_visitor v = {
        .range = &slot, .ranges = 1, .first = p->at, .fn = meets_end, .arg = &end};
    if (touch_pass(q->study->trace, &v, err) < 0)
        return -1;
    out->first = p->entry == UINT64_MAX ? 0 : p->entry;
    out->behind = end.behind;
    out->end = end.position;
    return 0;
}

/* ---- what the words mean ---- */

static int add(struct location *out, gaddr addr, uint64_t bytes, struct err *err)
{
    if (out->ranges == LOCATION_RANGES)
        return err_set(err, "%s: it is in more than %d places", out->what, LOCATION_RANGES);
    out->range[out->ranges++] = (struct touch_range){addr, addr + (bytes ? bytes : 1)};
    return 0;
}

static int add_reads(struct location *out, const struct expression *e, struct err *err)
{
    bool registers = false;
    for (size_t i = 0; i < e->reads; i++) {
        const struct expression_read *r = &e->read[i];
        registers |= !r->memory && !r->address;
        if (r->memory && !r->address && add(out, r->addr, r->bytes, err))
            return -1;
    }
    if (!out->ranges)
        return err_set(err,
                       registers ? "%s: it is in a register there; `drdebug slice` says where "
                                   "its value is from"
                                 : "%s: it is nowhere in memory",
                       out->what);
    return 0;
}

static bool read_address(const char *what, uint64_t *addr, uint64_t *bytes)
{
    char *end;
    if (strncmp(what, "0x", 2) != 0)
        return false;
    *addr = strtoull(what, &end, 16);
    *bytes = *end == ' ' ? strtoull(end, &end, 0) : 0;
    return *bytes && !*end;
}

static int keep_lead(void *arg, enum render_want kind, uint64_t offset,
                     const struct source_type *type, const char *name)
{
    struct location *l = arg;
    (void)type;
    (void)name;
    if (kind == RENDER_STRING && l->leads < LOCATION_LEADS)
        l->lead[l->leads++] = offset;
    return l->leads == LOCATION_LEADS;
}

static void take_type(struct asking *q, const struct expression *e, struct location *out)
{
    const struct render render = {.source = q->study->source, .pc = out->pc};
    uint64_t bytes = out->range[0].end - out->range[0].start;
    out->computed = !e->placed;
    if (out->ranges != 1 || !e->placed)
        return;
    out->type = e->type;
    out->bit = e->bit;
    out->bits = e->bits;
    render_wants(&render, &out->type, bytes, keep_lead, out);
}

static int find_memory(struct asking *q, const struct place *p, struct location *out,
                       struct err *err)
{
    uint64_t addr, bytes;
    if (read_address(out->what, &addr, &bytes))
        return addr + bytes < addr
                   ? err_set_code(err, ASK_USAGE, "%s: beyond the end of memory", out->what)
                   : add(out, addr, bytes, err);
    struct expression *e = malloc(sizeof *e);
    if (!e)
        return err_set(err, "no memory");
    int bad = criterion_reads(q->study, p, out->what, e, err) || add_reads(out, e, err);
    if (!bad)
        take_type(q, e, out);
    free(e);
    return bad ? -1 : 0;
}

/* WHAT and WHERE, in the words; *p is to be deinitialized. */
static int find_place(struct asking *q, struct location *out, struct place *p, struct err *err)
{
    char text[LOCATION_TEXT], all[LOCATION_TEXT + 8];
    *out = (struct location){.behind = trace_insns(q->study->trace)};
    if (join_words(q, text, sizeof text, err))
        return -1;
    int without = criterion_place(q->study, text, out->what, p, err);
    if (without == 1) {
        snprintf(all, sizeof all, "%s at end", text);
        without = criterion_place(q->study, all, out->what, p, err);
    }
    if (without)
        return -1;
    out->pc = p->scope ? p->scope : p->position.pc;
    out->cfa = p->cfa;
    return 0;
}

static bool in_frame(const struct place *p, gaddr addr)
{
    return p->cfa && addr < p->cfa && p->cfa - addr < FRAME_MOST;
}

int location_find(struct asking *q, struct location *out, struct err *err)
{
    struct place p = {0};
    if (find_place(q, out, &p, err))
        return -1;
    int bad = find_memory(q, &p, out, err);
    out->local = !bad && in_frame(&p, out->range[0].start);
    if (out->local)
        bad = find_lifetime(q, &p, out, err);
    place_deinit(&p);
    return bad ? -1 : 0;
}

/* Thread-local variables need to know of which thread. */
static struct chain *make_chain(struct asking *q, const struct place *p, const char *what,
                                struct err *err)
{
    struct source_frame frame = {.cfa = p->cfa, .scope = p->scope, .inlined = p->inlined};
    struct program_registers registers;
    struct chain *c = chain_new(q->study->source, p->pc, &frame, what, err);
    if (c || err->code != CHAIN_THREAD)
        return c;
    struct past *past = study_past(q->study, p->at, &p->position, err);
    if (!past)
        return NULL;
    int bad = past_registers(past, trace_thread(q->study->trace, p->thread), &registers, err);
    past_free(past);
    frame.fs_base = bad ? 0 : registers.fs_base;
    return bad ? NULL : chain_new(q->study->source, p->pc, &frame, what, err);
}

struct chain *location_chain(struct asking *q, struct location *out, struct err *err)
{
    struct place p = {0};
    if (find_place(q, out, &p, err))
        return NULL;
    struct chain *c = make_chain(q, &p, out->what, err);
    for (size_t i = 0; c && i < chain_links(c); i++) {
        gaddr addr;
        uint64_t bytes;
        out->local |= chain_is_fixed(c, i) && chain_link(c, i, &addr, &bytes) && in_frame(&p, addr);
    }
    if (out->local && find_lifetime(q, &p, out, err)) {
        chain_free(c);
        c = NULL;
    }
    place_deinit(&p);
    return c;
}

/* ---- words for it ---- */

/* Is it what was asked for? */
static bool is_whole(const struct location *l, gaddr addr, uint64_t bytes)
{
    return l->ranges == 1 && addr == l->range[0].start && addr + bytes == l->range[0].end;
}

void location_name(struct asking *q, const struct location *l, gaddr addr, uint64_t bytes,
                   char *buf, size_t room)
{
    struct source_frame frame = {.cfa = l->cfa};
    if (is_whole(l, addr, bytes) && l->bits) { /* others are in the same bytes */
        snprintf(buf, room, "%s", l->what);
        return;
    }
    if (bytes <= UINT32_MAX &&
        source_variable(q->study->source, l->pc, &frame, addr, (uint32_t)bytes, buf, room))
        return;
    if (is_whole(l, addr, bytes) && source_types_class(&l->type) != TYPE_NONE)
        snprintf(buf, room, "%s", l->what);
    else
        snprintf(buf, room, "0x%" PRIx64, addr);
}

void location_value(struct asking *q, const struct location *l, gaddr addr, const void *value,
                    size_t bytes, char *buf, size_t room)
{
    struct source_frame frame = {.cfa = l->cfa};
    struct source_type type = {.class = TYPE_NONE};
    char unused[LOCATION_TEXT];
    if (is_whole(l, addr, bytes) && l->bits) {
        const struct render render = {.source = q->study->source, .pc = l->pc};
        render_write(
            &render,
            &(struct render_value){
                .type = l->type, .bytes = value, .n = bytes, .bit = l->bit, .bits = l->bits},
            buf, room);
        return;
    }
    if (is_whole(l, addr, bytes))
        type = l->type;
    if (source_types_class(&type) == TYPE_NONE)
        source_variable_typed(q->study->source, l->pc, &frame, addr, (uint32_t)bytes, unused,
                              sizeof unused, &type);
    source_value_write(&type, value, bytes, buf, room);
}

static void put_place(struct asking *q, unsigned column, gaddr pc, const struct source_line *line)
{
    rows_place(q->rows, column,
               &(struct rows_place){.file = line->file,
                                    .line = line->line,
                                    .function = line->function ? line->function : line->module,
                                    .pc = pc});
}

void location_place(struct asking *q, unsigned column, gaddr pc)
{
    struct source_line line = {.module = NULL};
    source_line(q->study->source, pc, &line);
    put_place(q, column, pc, &line);
}

void location_own(struct asking *q, unsigned column, gaddr pc)
{
    struct source_line line = {.module = NULL};
    if (!study_own(q->study, pc, &line))
        source_line(q->study->source, pc, &line);
    put_place(q, column, pc, &line);
}

void location_by(struct asking *q, unsigned column, const struct touch *t)
{
    if (t->by == TOUCH_CALL)
        rows_text(q->rows, column, kinds_name(t->call));
    else if (t->by == TOUCH_SIGNAL)
        rows_printf(q->rows, column, "signal %" PRId64, t->call);
}
