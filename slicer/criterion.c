/* criterion.c - what a slice is of, in the user's words. SPDX-License-Identifier: MIT */
#include "slicer/criterion.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char usage[] = "a criterion is `VARIABLE at FILE:LINE`, `%REGISTER at ...`, "
                            "`0xADDRESS BYTES at ...`, `uses of FILE:LINE` or `last write of ...`";

void criterion_deinit(struct criterion *c)
{
    free(c->want);
    *c = (struct criterion){0};
}

int criterion_want(struct criterion *c, struct slice_want want, struct err *err)
{
    if ((c->wants & (c->wants - 1)) == 0) { /* a power of two, or none: full */
        struct slice_want *list = realloc(c->want, sizeof *list * (c->wants ? 2 * c->wants : 1));
        if (!list)
            return err_set(err, "no memory");
        c->want = list;
    }
    c->want[c->wants++] = want;
    return 0;
}

/* ---- registers ---- */

static bool is_named(unsigned first, unsigned count, const char *name)
{
    char text[32];
    loc_name((struct loc_span){.first = first & 0xfff, .count = count & 0xfff}, text, sizeof text);
    return strcasecmp(text, name) == 0;
}

bool criterion_register(const char *name, unsigned *first, unsigned *count)
{
    static const uint8_t part[][2] = {{0, 8}, {0, 4}, {0, 2}, {0, 1}, {1, 1}};
    for (unsigned r = 0; r < GPR_COUNT; r++)
        for (size_t i = 0; i < sizeof part / sizeof *part; i++)
            if (is_named(loc_gpr(r) + part[i][0], part[i][1], name)) {
                *first = loc_gpr(r) + part[i][0];
                *count = part[i][1];
                return true;
            }
    for (unsigned r = 0; r < LOC_VECS; r++)
        for (*count = 16; *count <= LOC_VEC_BYTES; *count *= 2)
            if (is_named(*first = loc_vec(r), *count, name))
                return true;
    for (unsigned r = 0; r < 8; r++)
        if (is_named(*first = loc_mask(r), *count = LOC_MASK_BYTES, name))
            return true;
    for (*first = LOC_CF, *count = 1; *first <= LOC_DF; ++*first)
        if (is_named(*first, 1, name))
            return true;
    return false;
}

/* General registers in an order of their own, then vector registers. */
bool criterion_dwarf_register(unsigned reg, unsigned *first, unsigned *most)
{
    static const uint8_t gpr[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP};
    if (reg < 16) {
        *first = loc_gpr(reg < 8 ? gpr[reg] : reg);
        *most = LOC_GPR_BYTES;
        return true;
    }
    if (reg < 17 || reg > 32)
        return false;
    *first = loc_vec(reg - 17);
    *most = 16;
    return true;
}

static int want_register(struct criterion *out, const struct place *p, uint64_t at, unsigned reg,
                         uint64_t bytes, struct err *err)
{
    unsigned first, most;
    if (!criterion_dwarf_register(reg, &first, &most))
        return 0;
    if (!bytes || bytes > most)
        bytes = most;
    return criterion_want(
        out,
        (struct slice_want){
            .kind = SLICE_REGISTER, .at = at, .thread = p->thread, .addr = first, .bytes = bytes},
        err);
}

static int want_memory(struct criterion *out, const struct place *p, gaddr addr, uint64_t bytes,
                       struct err *err)
{
    return criterion_want(out,
                          (struct slice_want){.kind = SLICE_MEMORY,
                                              .at = p->at,
                                              .thread = p->thread,
                                              .addr = addr,
                                              .bytes = bytes ? bytes : 1},
                          err);
}

/* ---- variables ---- */

static int want_reads(struct criterion *out, const struct place *p, const struct source_place *sp,
                      struct err *err)
{
    for (uint32_t i = 0; i < sp->reads; i++) {
        const struct source_read *r = &sp->read[i];
        int bad = 0;
        if (r->memory)
            bad = r->known ? want_memory(out, p, r->address, r->bytes, err) : 0;
        else if (!r->at_entry || p->entry != UINT64_MAX)
            bad = want_register(out, p, r->at_entry ? p->entry : p->at, r->reg, r->bytes, err);
        if (bad)
            return -1;
    }
    return 0;
}

static int want_pieces(struct criterion *out, const struct place *p, const struct source_place *sp,
                       const char *name, struct err *err)
{
    bool constant = false, computed = false;
    for (uint32_t i = 0; i < sp->pieces; i++) {
        const struct source_piece *piece = &sp->piece[i];
        uint64_t bytes = piece->bytes ? piece->bytes : sp->bytes;
        int bad = 0;
        if (piece->where == SOURCE_MEMORY)
            bad = want_memory(out, p, piece->address, bytes, err);
        else if (piece->where == SOURCE_REGISTER)
            bad = want_register(out, p, p->at, piece->reg, bytes, err);
        else if (piece->where == SOURCE_CONSTANT)
            constant = true;
        else if (piece->where == SOURCE_COMPUTED)
            computed = true;
        if (bad)
            return -1;
    }
    if (computed && want_reads(out, p, sp, err))
        return -1;
    if (out->wants)
        return 0;
    if (constant)
        return err_set(err, "%s is a constant here: the compiler knew its value", name);
    return err_set_code(err, SOURCE_OPTIMIZED, "%s: it has no place here: optimized out", name);
}

/* Registers in DWARF's order, for variables whose place depends on them. */
static int look_with_registers(struct study *s, const struct place *p, const char *name,
                               struct source_place *sp, struct err *err)
{
    struct replay_registers *r = malloc(sizeof *r);
    uint64_t reg[17] = {0};
    if (!r)
        return err_set(err, "no memory");
    int bad = study_registers(s, &p->position, r, err);
    for (unsigned i = 0; !bad && i < 16; i++) {
        unsigned first, most;
        criterion_dwarf_register(i, &first, &most);
        reg[i] = r->gpr[first / LOC_GPR_BYTES];
    }
    struct source_frame frame = {.cfa = p->cfa, .fs_base = bad ? 0 : r->fs_base, .reg = reg};
    free(r);
    return bad ? -1 : source_variable_at(s->source, p->position.pc, &frame, name, sp, err);
}

static int look(struct study *s, const struct place *p, const char *name, struct source_place *sp,
                struct err *err)
{
    struct source_frame frame = {.cfa = p->cfa};
    int bad = source_variable_at(s->source, p->position.pc, &frame, name, sp, err);
    if (bad && err->code == SOURCE_UNKNOWN_PLACE)
        bad = look_with_registers(s, p, name, sp, err);
    return bad;
}

/* A variable that is gone when the line is done may have a place where the line begins. */
static int want_variable(struct study *s, struct criterion *out, const struct place *p,
                         const char *name, struct err *err)
{
    struct source_place sp = {0};
    int bad = look(s, p, name, &sp, err) || want_pieces(out, p, &sp, name, err);
    if (!bad || !p->insns || (err->code != SOURCE_OPTIMIZED && err->code != SOURCE_NO_VARIABLE))
        return bad ? -1 : 0;
    struct err before;
    struct place begin = *p;
    begin.at = p->insn[0];
    begin.position = p->first;
    out->wants = 0;
    if (look(s, &begin, name, &sp, &before) || want_pieces(out, &begin, &sp, name, &before))
        return -1;
    out->position = begin.position;
    snprintf(out->note, sizeof out->note, "before the line: it has no place behind it");
    return 0;
}

/* ---- the words ---- */

enum { WORDS = 64 };

struct words {
    char text[1024];
    char *word[WORDS];
    int count;
};

static int cut(struct words *w, const char *text, struct err *err)
{
    char *save = NULL;
    if (strlen(text) >= sizeof w->text)
        return err_set_code(err, CRITERION_USAGE, "a criterion of so many letters is none");
    snprintf(w->text, sizeof w->text, "%s", text);
    w->count = 0;
    for (char *p = strtok_r(w->text, " \t", &save); p; p = strtok_r(NULL, " \t", &save)) {
        if (w->count == WORDS)
            return err_set_code(err, CRITERION_USAGE, "%s: %s", text, usage);
        w->word[w->count++] = p;
    }
    return w->count ? 0 : err_set_code(err, CRITERION_USAGE, "%s", usage);
}

static bool number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return !errno && end != text && !*end && text[0] != '-';
}

static bool is_position(const char *text)
{
    struct position p;
    struct err err;
    return text[0] == 'T' && !position_parse(text, &p, &err);
}

/* `where` may be `*START`, with `*END` in `last`. */
static int find_place(struct study *s, const struct criterion_options *o, const char *where,
                      const char *last, struct place *out, struct err *err)
{
    struct position at;
    if (where && strcmp(where, "end") != 0) {
        if (is_position(where))
            return position_parse(where, &at, err) ? -1 : place_position(s, &at, out, err);
        struct place_options po = {.instance = o->instance, .thread = o->thread};
        if (last && !number(last + 1, &po.last))
            return err_set_code(err, CRITERION_USAGE, "%s: not an address", last);
        return place_line(s, where, &po, out, err);
    }
    struct place_end end;
    if (place_end(s, o->thread, &end, err))
        return -1;
    *out = end.place;
    end.place = (struct place){0};
    place_end_deinit(&end);
    return 0;
}

/* WHAT is word[0 .. n). */
static int want_what(struct study *s, struct criterion *out, const struct place *p,
                     char *const *word, int n, struct err *err)
{
    uint64_t addr, bytes;
    if (word[0][0] == '%' && n == 1) {
        unsigned first, count;
        if (!criterion_register(word[0] + 1, &first, &count))
            return err_set_code(err, CRITERION_USAGE, "%s: no such register", word[0]);
        return criterion_want(out,
                              (struct slice_want){.kind = SLICE_REGISTER,
                                                  .at = p->at,
                                                  .thread = p->thread,
                                                  .addr = first,
                                                  .bytes = count},
                              err);
    }
    if (number(word[0], &addr)) {
        if (n != 2 || !number(word[1], &bytes) || !bytes || bytes > 1 << 30)
            return err_set_code(err, CRITERION_USAGE, "%s: how many bytes? Say `%s 8`", word[0],
                                word[0]);
        return want_memory(out, p, addr, bytes, err);
    }
    if (n != 1)
        return err_set_code(err, CRITERION_USAGE, "%s %s: %s", word[0], word[1], usage);
    return want_variable(s, out, p, word[0], err);
}

/* WHAT, WHAT, ...: all of them. The commas go. */
static int want_list(struct study *s, struct criterion *out, const struct place *p,
                     char *const *word, int n, struct err *err)
{
    for (int from = 0, i = 0; i < n; i++) {
        size_t length = strlen(word[i]);
        bool comma = word[i][length - 1] == ',';
        if (comma && (length == 1 || i == n - 1))
            return err_set_code(err, CRITERION_USAGE, "a comma is between two criteria: `a, b`");
        if (comma)
            word[i][length - 1] = 0;
        if (!comma && i < n - 1)
            continue;
        if (want_what(s, out, p, word + from, i + 1 - from, err))
            return -1;
        from = i + 1;
    }
    return 0;
}

static int want_uses(struct criterion *out, const struct place *p, struct err *err)
{
    for (size_t i = 0; i < p->insns; i++)
        if (criterion_want(
                out, (struct slice_want){.kind = SLICE_USES, .at = p->insn[i], .thread = p->thread},
                err))
            return -1;
    return 0;
}

/* What was wanted becomes what the last instruction that wrote it used. */
static int take_last_write(struct study *s, const struct criterion_options *o,
                           struct criterion *out, struct err *err)
{
    struct slice_options so = o->slice;
    struct study_insn in;
    so.edges = SLICE_VALUE;
    struct slice *slice = slice_backward(s->slicer, out->want, out->wants, &so, err);
    if (!slice)
        return -1;
    uint64_t last = slice_previous(slice, UINT64_MAX);
    slice_free(slice);
    if (last == UINT64_MAX)
        return err_set(err, "%s was never written in the trace", out->what);
    if (study_insn(s, last, &in, err))
        return -1;
    out->wants = 0;
    out->thread = in.thread;
    out->pc = in.block->insn[in.index].in.pc;
    return criterion_want(
        out, (struct slice_want){.kind = SLICE_USES, .at = last, .thread = in.thread}, err);
}

static void join(char *const *word, int n, char *out, size_t room)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < n && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? " " : "", word[i]);
}

static int find(struct study *s, const struct criterion_options *o, struct words *w,
                struct criterion *out, struct err *err)
{
    struct place p = {0};
    int n = w->count, from = 0;
    const char *where = NULL, *until = NULL;
    bool uses = n == 3 && !strcmp(w->word[0], "uses") && !strcmp(w->word[1], "of");
    bool last = n > 3 && !strcmp(w->word[0], "last") && !strcmp(w->word[1], "write") &&
                !strcmp(w->word[2], "of");
    if (n > 2 && strcmp(w->word[n - 2], "at") == 0) {
        where = w->word[n - 1];
        n -= 2;
    } else if (n > 3 && !strcmp(w->word[n - 3], "at") && w->word[n - 2][0] == '*' &&
               w->word[n - 1][0] == '*') {
        where = w->word[n - 2];
        until = w->word[n - 1];
        n -= 3;
    }
    if (uses)
        where = w->word[2];
    if (last)
        from = 3;
    if (n == from || (uses && is_position(where)))
        return err_set_code(err, CRITERION_USAGE, "%s: %s", o->text, usage);
    if (find_place(s, o, where, until, &p, err))
        return -1;
    out->thread = p.thread;
    out->position = p.position;
    out->pc = p.line_pc;
    join(w->word + from, n - from, out->what, sizeof out->what);
    int bad = uses ? want_uses(out, &p, err) : want_list(s, out, &p, w->word + from, n - from, err);
    place_deinit(&p);
    return bad || (last && take_last_write(s, o, out, err)) ? -1 : 0;
}

int criterion_find(struct study *s, const struct criterion_options *o, struct criterion *out,
                   struct err *err)
{
    struct words w;
    *out = (struct criterion){0};
    int bad = o->text ? cut(&w, o->text, err) || find(s, o, &w, out, err)
                      : criterion_failure(s, o, out, err);
    if (bad)
        criterion_deinit(out);
    return bad ? -1 : 0;
}
