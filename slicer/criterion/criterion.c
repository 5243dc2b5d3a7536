/* criterion.c - what a slice is of, in the user's words. SPDX-License-Identifier: MIT */
#include "slicer/criterion/criterion.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/expression.h"

static const char usage[] = "a criterion is `EXPRESSION at FILE:LINE`, `%REGISTER at ...`, "
                            "`0xADDRESS BYTES at ...`, `uses of FILE:LINE` or `last write of ...`";

void criterion_deinit(struct criterion *c)
{
    free(c->want);
    *c = (struct criterion){0};
}

/* Debug information may give a variable any size; what is wanted takes a bit for each byte. */
enum { WANT_MOST = 1 << 30 };

int criterion_want(struct criterion *c, struct slice_want want, struct err *err)
{
    if (want.kind == SLICE_MEMORY && want.bytes > WANT_MOST)
        return err_set_code(err, CRITERION_USAGE,
                            "%llu bytes are too many for one slice; say a part of it",
                            (unsigned long long)want.bytes);
    return array_append(&c->want, &c->wants, want) ? err_set(err, "no memory") : 0;
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

/* ---- the words ---- */

enum { WORDS = 64 };

struct words {
    char text[CRITERION_TEXT];
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
    return (text[0] == 'T' || text[0] == 'P') && !position_parse(text, &p, &err);
}

/* The words behind `at`. */
struct where {
    const char *place, *last; /* NULL: none; `*START` may have `*END` in `last` */
    struct place_view view;
    uint64_t instance;
    int threads, frames, instances; /* how often each is said */
};

/* `thread N`, `frame N` or `instance N`, as the last two words. */
static bool take_view(const struct words *w, int *n, struct where *out)
{
    uint64_t value;
    if (*n < 5 || !number(w->word[*n - 1], &value))
        return false;
    if (strcmp(w->word[*n - 2], "instance") == 0) {
        out->instance = value;
        out->instances++;
        *n -= 2;
        return true;
    }
    if (value > UINT32_MAX)
        return false;
    if (strcmp(w->word[*n - 2], "thread") == 0) {
        out->view.thread = (uint32_t)value;
        out->threads++;
    } else if (strcmp(w->word[*n - 2], "frame") == 0) {
        out->view.frame = (uint32_t)value;
        out->frames++;
    } else {
        return false;
    }
    *n -= 2;
    return true;
}

static int check_view(const struct where *where, struct err *err)
{
    if (where->threads > 1 || where->frames > 1 || where->instances > 1)
        return err_set_code(err, CRITERION_USAGE, "`%s` is said twice",
                            where->threads > 1  ? "thread"
                            : where->frames > 1 ? "frame"
                                                : "instance");
    if (where->instances && !where->instance)
        return err_set_code(err, CRITERION_USAGE, "instance 0: they have numbers from 1 on");
    if (where->threads && !where->view.thread)
        return err_set_code(err, CRITERION_USAGE, "thread 0: threads have numbers from 1 on");
    return 0;
}

/* Returns how many words are before `at`; all of them, if there is none. */
static int take_where(const struct words *w, struct where *out)
{
    int n = w->count;
    *out = (struct where){.place = NULL};
    while (take_view(w, &n, out))
        ;
    if (n > 2 && strcmp(w->word[n - 2], "at") == 0) {
        out->place = w->word[n - 1];
        return n - 2;
    }
    if (n > 3 && !strcmp(w->word[n - 3], "at") && w->word[n - 2][0] == '*' &&
        w->word[n - 1][0] == '*') {
        out->place = w->word[n - 2];
        out->last = w->word[n - 1];
        return n - 3;
    }
    *out = (struct where){.place = NULL};
    return w->count;
}

static int find_moment(struct study *s, const struct criterion_options *o,
                       const struct where *where, struct place *out, struct err *err)
{
    struct position at;
    const char *place = where->place;
    const uint32_t thread = where->view.thread ? where->view.thread : o->thread;
    if (place && strcmp(place, "end") != 0) {
        if (is_position(place))
            return position_parse(place, &at, err) ? -1 : place_position(s, &at, out, err);
        struct place_options po = {.instance = where->instance ? where->instance : o->instance,
                                   .thread = thread};
        if (where->last && !number(where->last + 1, &po.last))
            return err_set_code(err, CRITERION_USAGE, "%s: not an address", where->last);
        return place_line(s, place, &po, out, err);
    }
    struct place_end end;
    if (place_end(s, thread, &end, err))
        return -1;
    *out = end.place;
    end.place = (struct place){0};
    place_end_deinit(&end);
    return 0;
}

static int find_place(struct study *s, const struct criterion_options *o, const struct where *where,
                      struct place *out, struct err *err)
{
    if (check_view(where, err) || find_moment(s, o, where, out, err))
        return -1;
    if (!place_frame(s, out, &where->view, err))
        return 0;
    place_deinit(out);
    return -1;
}

static void join(char *const *word, int n, char *out, size_t room)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < n && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? " " : "", word[i]);
}

/* Do two words follow each other that are names or numbers, as nowhere in C but in types? */
static bool are_no_operands(char *const *word, int n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    int depth = 0;
    for (int i = 0; i + 1 < n; i++) {
        for (const char *c = word[i]; *c; c++)
            depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        const char *end = word[i] + strlen(word[i]) - 1;
        if (!depth && strchr(letters, *end) && strchr(letters, word[i + 1][0]) &&
            strcmp(word[i], "sizeof") != 0)
            return true;
    }
    return false;
}

/* WHAT is word[0 .. n). */
static int want_what(struct study *s, const struct criterion_options *o, struct criterion *out,
                     const struct place *p, char *const *word, int n, struct err *err)
{
    uint64_t addr, bytes;
    char text[sizeof((struct words *)0)->text];
    if (word[0][0] == '%' && n == 1) {
        unsigned first, count;
        if (!registers_find(word[0] + 1, &first, &count))
            return err_set_code(err, CRITERION_USAGE, "%s: no such register", word[0]);
        return criterion_register(out, p, first, count, err);
    }
    if (n <= 2 && number(word[0], &addr)) {
        if (n != 2 || !number(word[1], &bytes) || !bytes || bytes > WANT_MOST)
            return err_set_code(err, CRITERION_USAGE, "%s: how many bytes? Say `%s 8`", word[0],
                                word[0]);
        if (addr + bytes - 1 < addr)
            return err_set_code(err, CRITERION_USAGE, "%s %s: goes beyond the end of memory",
                                word[0], word[1]);
        return want_memory(out, p, addr, bytes, err);
    }
    if (are_no_operands(word, n))
        return err_set_code(err, CRITERION_USAGE, "%s %s: %s", word[0], word[1], usage);
    join(word, n, text, sizeof text);
    int bad = criterion_expression(s, o, out, p, text, err);
    if (bad && err->code == EXPRESSION_BAD)
        err->code = CRITERION_USAGE;
    return bad;
}

/* WHAT, WHAT, ...: all of them. The commas go. Constants do not count, if there is more. */
static int want_list(struct study *s, const struct criterion_options *o, struct criterion *out,
                     const struct place *p, char *const *word, int n, struct err *err)
{
    bool constant = false;
    for (int from = 0, i = 0; i < n; i++) {
        size_t length = strlen(word[i]);
        bool comma = word[i][length - 1] == ',';
        if (comma && (length == 1 || i == n - 1))
            return err_set_code(err, CRITERION_USAGE, "a comma is between two criteria: `a, b`");
        if (comma)
            word[i][length - 1] = 0;
        if (!comma && i < n - 1)
            continue;
        if (want_what(s, o, out, p, word + from, i + 1 - from, err)) {
            if (err->code != EXPRESSION_CONSTANT)
                return -1;
            constant = true;
        }
        from = i + 1;
    }
    return constant && !out->wants ? -1 : 0;
}

static int want_uses(struct criterion *out, const struct place *p, struct err *err)
{
    if (!p->insns)
        return err_set(err,
                       "%s: the compiler left no instruction of this line where it is reached; "
                       "`VARIABLE at` it works",
                       out->what);
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
    struct slice *slice = slice_backward(s->index, out->want, out->wants, &so, err);
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
    out->scope = 0;
    out->inlined = 0;
    return criterion_want(
        out, (struct slice_want){.kind = SLICE_USES, .at = last, .thread = in.thread}, err);
}

static int find(struct study *s, const struct criterion_options *o, struct words *w,
                struct criterion *out, struct err *err)
{
    struct place p = {0};
    struct where where;
    int n = w->count, from = 0;
    bool uses = n == 3 && !strcmp(w->word[0], "uses") && !strcmp(w->word[1], "of");
    bool last = n > 3 && !strcmp(w->word[0], "last") && !strcmp(w->word[1], "write") &&
                !strcmp(w->word[2], "of");
    n = take_where(w, &where);
    if (uses)
        where.place = w->word[2];
    if (last)
        from = 3;
    if (n == from || (uses && is_position(where.place)))
        return err_set_code(err, CRITERION_USAGE, "%s: %s", o->text, usage);
    if (find_place(s, o, &where, &p, err))
        return -1;
    out->thread = p.thread;
    out->position = p.position;
    out->pc = p.line_pc;
    out->scope = p.scope;
    out->inlined = p.inlined;
    join(w->word + from, n - from, out->what, sizeof out->what);
    int bad =
        uses ? want_uses(out, &p, err) : want_list(s, o, out, &p, w->word + from, n - from, err);
    place_deinit(&p);
    return bad || (last && take_last_write(s, o, out, err)) ? -1 : 0;
}

int criterion_place(struct study *s, const char *text, char *what, struct place *out,
                    struct err *err)
{
    const struct criterion_options o = {.text = text};
    struct words w;
    struct where where;
    if (cut(&w, text, err))
        return -1;
    int n = take_where(&w, &where);
    join(w.word, n, what, CRITERION_TEXT);
    return where.place ? find_place(s, &o, &where, out, err) : 1;
}

int criterion_find(struct study *s, const struct criterion_options *o, struct criterion *out,
                   struct err *err)
{
    struct words w;
    *out = (struct criterion){0};
    int bad = o->text     ? cut(&w, o->text, err) || find(s, o, &w, out, err)
              : o->output ? criterion_output(s, o->output, out, err)
                          : criterion_failure(s, o, out, err);
    if (bad)
        criterion_deinit(out);
    return bad ? -1 : 0;
}
