/* exit.c - the criterion of a program that noticed itself that something is wrong.
 *
 * SPDX-License-Identifier: MIT
 *
 * A checker or a language's runtime reports and ends the program; or the program writes a message
 * and ends with a status.
 */
#include <stdio.h>
#include <string.h>

#include "slicer/criterion/failure.h"
#include "slicer/criterion/fault.h"
#include "slicer/criterion/written.h"

#define BIT(reg) (1u << (reg))

struct reporter {
    const char *names;
    unsigned registers;
    const char *words;
};

static const struct reporter reporters[] = {
#define REPORTER(names, registers, words) {names, registers, words},
#include "slicer/criterion/reporters.def"
#undef REPORTER
};

/* Functions of a checker's library that stand for those of the C library: memcpy, free. */
static const struct reporter stand_in = {
    "", BIT(RDI) | BIT(RSI) | BIT(RDX), "what was given to the function that the sanitizer checks"};
static const struct reporter release = {"", BIT(RDI), "the pointer that the sanitizer reports"};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Is the module the library of a sanitizer: libasan.so.8? */
static bool is_checker(const char *module)
{
    static const char *const list[] = {"libasan.", "libubsan.",  "libtsan.",
                                       "liblsan.", "libhwasan.", "libclang_rt."};
    const char *slash = module ? strrchr(module, '/') : NULL;
    const char *name = slash ? slash + 1 : module;
    for (size_t i = 0; name && i < sizeof list / sizeof *list; i++)
        if (begins(name, list[i]))
            return true;
    return false;
}

/* What the function at this address is; NULL: none of them. */
static const struct reporter *reporter_of(struct study *s, gaddr entry)
{
    struct source_line l;
    bool pointer = false;
    source_line(s->source, entry, &l);
    const char *name = l.outer ? l.outer : l.function;
    const char *colons = name ? strrchr(name, ':') : NULL; /* debug information has namespaces */
    const char *base = colons ? colons + 1 : name;
    for (size_t i = 0; name && i < sizeof reporters / sizeof *reporters; i++)
        if (begins(name, reporters[i].names) || begins(base, reporters[i].names))
            return &reporters[i];
    if (!is_checker(l.module) &&
        !(base && (begins(base, "__interceptor_") || begins(base, "___interceptor_"))))
        return NULL;
    return failure_is_allocator(s, entry, &pointer) && pointer ? &release : &stand_in;
}

/* The call that is nearest to the user's own code: its callers are no reporters. */
static size_t find_report(struct study *s, const struct place_end *e, const struct reporter **out)
{
    size_t found = e->calls;
    for (size_t i = 0; i < e->calls; i++) {
        const struct reporter *r =
            e->call[i].maker == FRAME_NO_MAKER ? NULL : reporter_of(s, e->call[i].entry);
        if (!r)
            continue;
        found = i;
        *out = r;
    }
    return found;
}

static int want_arguments(const struct place_end *e, const struct reporter *r, size_t call,
                          struct criterion *out, struct err *err)
{
    struct place p = e->place;
    p.at = e->call[call].maker + 1;
    for (unsigned reg = 0; reg < 16; reg++)
        if (r->registers & BIT(reg) &&
            criterion_want_span(out, &p, loc_gpr(reg), LOC_GPR_BYTES, err))
            return -1;
    return 0;
}

static int set_line(struct study *s, uint64_t maker, struct criterion *out, struct err *err)
{
    struct study_insn in;
    if (study_insn(s, maker, &in, err))
        return -1;
    out->pc = in.block->insn[in.index].in.pc;
    return 0;
}

int failure_reported(struct study *s, const struct place_end *e, struct criterion *out,
                     struct err *err)
{
    const struct reporter *r = NULL;
    size_t call = find_report(s, e, &r);
    if (!r)
        return 0;
    uint64_t maker = e->call[call].maker;
    snprintf(out->what, sizeof out->what, "%s", r->words);
    if (set_line(s, maker, out, err))
        return -1;
    return r->registers ? want_arguments(e, r, call, out, err)
                        : failure_branch(s, e->place.thread, maker, out, err);
}

/* ---- a status ---- */

/* The user's call of exit() and its kin: the innermost that its own code made, if that is not the
 * one of main(), which the C library's start makes. */
static bool calls_exit(struct study *s, const struct place_end *e)
{
    static const char *const list[] = {"exit", "_exit", "_Exit", "quick_exit", "err",
                                       "errx", "verr",  "verrx", "error",      "error_at_line"};
    struct source_line l;
    if (e->own == e->calls)
        return false;
    source_line(s->source, e->call[e->own].entry, &l);
    const char *name = l.outer ? l.outer : "";
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(name, list[i] + strspn(list[i], "_")) == 0 || begins(name, "GI_exit"))
            return true;
    return false;
}

static int after_message(struct study *s, const struct output_line *line, struct criterion *out,
                         struct err *err)
{
    const struct output_piece *last = &line->piece[line->pieces - 1];
    struct written by;
    if (written_find(s, &last->at, NULL, NULL, &by, err))
        return -1;
    out->thread = by.thread;
    out->position = last->at;
    out->pc = by.line_pc;
    snprintf(out->what, sizeof out->what, "the branch that led to the message `%s`", line->text);
    return failure_branch(s, by.thread, by.maker == FRAME_NO_MAKER ? by.insn : by.maker, out, err);
}

int failure_exit(struct study *s, const struct place_end *e, const struct output_line *message,
                 struct criterion *out, struct err *err)
{
    if (calls_exit(s, e)) {
        uint64_t maker = e->call[e->own].maker;
        snprintf(out->what, sizeof out->what, "the branch that led here");
        return set_line(s, maker, out, err) || failure_branch(s, e->place.thread, maker, out, err)
                   ? -1
                   : 0;
    }
    if (message && message->pieces)
        return after_message(s, message, out, err);
    struct place p = e->place;
    p.at = e->executed == UINT64_MAX ? p.at : e->executed;
    snprintf(out->what, sizeof out->what, "the status");
    return criterion_want_span(out, &p, loc_gpr(RDI), 4, err);
}
