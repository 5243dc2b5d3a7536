/* profile_formats.c - a profile as other programs read it. SPDX-License-Identifier: MIT */
#include "ask/profile_formats.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain.h"

/* ---- callgrind: valgrind's manual, "Callgrind Format Specification" ---- */

static const char *file_of(const char *file)
{
    return file ? file : "???";
}

static void put_name(FILE *out, const char *key, const char *name)
{
    fprintf(out, "%s=", key);
    plain_put(out, PLAIN_TEXT, name);
    fputc('\n', out);
}

/* The lines that follow are of this file; a function may have some of several. */
static void turn_to(FILE *out, const char **now, const char *file)
{
    if (strcmp(*now, file_of(file)) == 0)
        return;
    *now = file_of(file);
    put_name(out, "fi", *now);
}

static void put_function(FILE *out, const struct profile *p, uint32_t number, size_t *line,
                         size_t *call)
{
    const struct profile_function *f = &p->function[number];
    const char *now = file_of(f->file);
    put_name(out, "ob", f->module);
    put_name(out, "fl", now);
    put_name(out, "fn", f->name);
    for (; *line < p->lines && p->line[*line].function == number; ++*line) {
        const struct profile_line *l = &p->line[*line];
        turn_to(out, &now, l->file);
        fprintf(out, "%" PRIu32 " %" PRIu64 "\n", l->line, l->self);
    }
    for (; *call < p->calls && p->call[*call].from == number; ++*call) {
        const struct profile_call *c = &p->call[*call];
        const struct profile_function *to = &p->function[c->to];
        turn_to(out, &now, c->file);
        put_name(out, "cob", to->module);
        put_name(out, "cfi", file_of(to->file));
        put_name(out, "cfn", to->name);
        fprintf(out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n", c->calls, to->line,
                c->line, c->inclusive);
    }
    fputc('\n', out);
}

void profile_write_callgrind(FILE *out, const struct profile *p)
{
    size_t line = 0, call = 0;
    fprintf(out,
            "# callgrind format\nversion: 1\ncreator: drdebug\npositions: line\nevents: Ir\n"
            "summary: %" PRIu64 "\n\n",
            p->insns);
    for (uint32_t i = 0; i < p->functions; i++)
        put_function(out, p, i, &line, &call);
    fprintf(out, "totals: %" PRIu64 "\n", p->insns);
}

/* ---- folded stacks ---- */

/* A semicolon would be another function. */
static void put_frame(FILE *out, const char *name)
{
    char one[PLAIN_ONE];
    for (size_t left = strlen(name), took; left; name += took, left -= took) {
        took = plain_one(PLAIN_TEXT, name, left, one);
        fputs(one[0] == ';' ? ":" : one, out);
    }
}

enum { DEEPEST = 1024 }; /* more than profile.c has */

void profile_write_folded(FILE *out, const struct profile *p)
{
    for (size_t i = 0; i < p->stacks; i++) {
        uint32_t above[DEEPEST], n = 0;
        if (!p->stack[i].self)
            continue;
        for (uint32_t k = (uint32_t)i; k != PROFILE_BOTTOM && n < DEEPEST; k = p->stack[k].under)
            above[n++] = p->stack[k].function;
        while (n--) {
            put_frame(out, p->function[above[n]].name);
            fputc(n ? ';' : ' ', out);
        }
        fprintf(out, "%" PRIu64 "\n", p->stack[i].self);
    }
}
