/* sets.c - a slice, less or more of it by others. SPDX-License-Identifier: MIT */
#include "slicer/correct/sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slicer/correct/correct.h"
#include "slicer/slice_private.h"

const char *sets_option(enum sets_how how)
{
    static const char *const name[] = {"--minus", "--common", "--plus", "--correct",
                                       "--correct-strictly"};
    return name[how];
}

bool sets_any(const struct sets *sets)
{
    for (size_t i = 0; i < sets->terms; i++)
        if (sets->term[i].how != SETS_PLUS)
            return true;
    return false;
}

/* `POSITION:WHAT` is another form of `WHAT at POSITION`. */
static void rephrase(const char *text, char *out, size_t room)
{
    struct position at;
    struct err err;
    char token[POSITION_TEXT];
    const char *end = text;
    for (int colons = 0; *end && (*end != ':' || ++colons < 3); end++)
        ;
    size_t n = (size_t)(end - text);
    snprintf(out, room, "%s", text);
    if (*end != ':' || n >= sizeof token)
        return;
    memcpy(token, text, n);
    token[n] = 0;
    if (!position_parse(token, &at, &err))
        snprintf(out, room, "%s at %s", end + 1, token);
}

static int find(struct study *s, const char *text, const struct criterion_options *options,
                struct criterion *out, struct err *err)
{
    struct criterion_options o = *options;
    char words[CRITERION_TEXT];
    rephrase(text, words, sizeof words);
    o.text = strcmp(text, "failure") == 0 ? NULL : words;
    o.output = NULL;
    o.instance = 0;
    o.thread = 0;
    if (!criterion_find(s, &o, out, err))
        return 0;
    return err_set_code(err, err->code, "%s: %s", text, err->msg);
}

int sets_widen(struct study *s, const struct sets *sets, const struct criterion_options *o,
               struct criterion *of, struct err *err)
{
    for (size_t i = 0; i < sets->terms; i++) {
        struct criterion more;
        if (sets->term[i].how != SETS_PLUS)
            continue;
        if (find(s, sets->term[i].text, o, &more, err))
            return -1;
        int bad = 0;
        for (size_t k = 0; !bad && k < more.wants; k++)
            bad = criterion_want(of, more.want[k], err);
        size_t used = strlen(of->what);
        snprintf(of->what + used, sizeof of->what - used, " + %s", more.what);
        criterion_deinit(&more);
        if (bad)
            return -1;
    }
    return 0;
}

static struct slice *apply(struct study *s, enum sets_how how, const struct slice_options *o,
                           const struct correct_slice *of, const struct criterion *other,
                           const struct slice *left, struct err *err)
{
    struct slice *out = NULL, *with = slice_backward(s->index, other->want, other->wants, o, err);
    if (!with)
        return NULL;
    if (how == SETS_CORRECT || how == SETS_STRICT) {
        struct correct_slice right = {with, other->want, other->wants};
        struct slice *kept = correct_prune(s->index, of, &right, o, how == SETS_STRICT, err);
        if (kept && !(out = slice_chop(left, kept, s->trace)))
            err_set(err, "no memory");
        slice_free(kept);
    } else {
        out = how == SETS_MINUS ? slice_minus(left, with, s->trace)
                                : slice_chop(left, with, s->trace);
        if (!out)
            err_set(err, "no memory");
    }
    slice_free(with);
    return out;
}

struct slice *sets_narrow(struct study *s, const struct sets *sets,
                          const struct criterion_options *o, const struct criterion *of,
                          const struct slice *slice, struct err *err)
{
    struct slice *left = NULL;
    struct correct_slice whole = {slice, of->want, of->wants};
    for (size_t i = 0; i < sets->terms; i++) {
        struct criterion other;
        if (sets->term[i].how == SETS_PLUS)
            continue;
        if (find(s, sets->term[i].text, o, &other, err)) {
            slice_free(left);
            return NULL;
        }
        struct slice *next =
            apply(s, sets->term[i].how, &o->slice, &whole, &other, left ? left : slice, err);
        criterion_deinit(&other);
        slice_free(left);
        if (!(left = next))
            return NULL;
    }
    return left;
}
