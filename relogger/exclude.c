/* exclude.c - what is to be left out, in the user's words. SPDX-License-Identifier: MIT */
#include "relogger/exclude.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "study/study.h"

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

/* `FILE:FROM-TO` or `FILE:LINE`; false: it is a name. */
static bool is_lines(const char *word, size_t *file, uint32_t *from, uint32_t *to)
{
    const char *colon = strrchr(word, ':');
    char *end;
    if (!colon || colon == word || colon[-1] == ':' || !isdigit((unsigned char)colon[1]))
        return false;
    *file = (size_t)(colon - word);
    *from = *to = (uint32_t)strtoul(colon + 1, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *to = (uint32_t)strtoul(end + 1, &end, 10);
    return !*end;
}

/* The path that debug information has ends with what the user says, at a slash. */
static bool is_file(const char *path, const char *name, size_t bytes)
{
    const size_t n = strlen(path);
    return n >= bytes && !memcmp(path + n - bytes, name, bytes) &&
           (n == bytes || path[n - bytes - 1] == '/');
}

static bool has_line(const struct source_line *l, const char *word)
{
    size_t file;
    uint32_t from, to;
    return is_lines(word, &file, &from, &to) && l->file && l->line >= from && l->line <= to &&
           is_file(l->file, word, file);
}

bool exclude_thread(const struct exclude *e, uint32_t number)
{
    for (size_t i = 0; i < e->threads; i++)
        if (e->only[i] == number)
            return false;
    return e->threads > 0;
}

bool exclude_frame(struct exclude *e, struct study *s, const struct frame *frame)
{
    struct source_line l;
    bool out = false;
    if (!e->words)
        return false;
    source_line(s->source, frame->entry, &l);
    for (size_t i = 0; i < e->words; i++)
        if ((l.outer && !strcmp(l.outer, e->word[i])) ||
            (l.function && !strcmp(l.function, e->word[i])))
            out = e->met[i] = true;
    return out;
}

/* As its file is called, or as others ask for it: libstdc++.so.6 is in libstdc++.so.6.0.30. */
static bool is_module(const char *path, const char *word)
{
    const char *name = base_name(path);
    const size_t n = strlen(word);
    return !fnmatch(word, name, 0) || (!strncmp(word, name, n) && name[n] == '.');
}

bool exclude_pc(struct exclude *e, struct study *s, gaddr pc)
{
    struct source_line l;
    bool out = false;
    if (!e->words)
        return false;
    source_line(s->source, pc, &l);
    for (size_t i = 0; i < e->words; i++)
        if (has_line(&l, e->word[i]) || (l.module && is_module(l.module, e->word[i])))
            out = e->met[i] = true;
    return out;
}

int exclude_check(const struct exclude *e, const struct trace *trace, struct err *err)
{
    for (size_t i = 0; i < e->threads; i++)
        if (trace_thread(trace, trace_thread_find(trace, e->only[i])) != e->only[i])
            return err_set(err, "--only-thread %" PRIu32 ": there is no such thread", e->only[i]);
    for (size_t i = 0; i < e->words; i++)
        if (!e->met[i])
            return err_set(err, "%s: no function, module or line of that name was executed",
                           e->word[i]);
    return 0;
}
