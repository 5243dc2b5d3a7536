/* breakpoints.c - the breakpoints that GDB has. SPDX-License-Identifier: MIT */
#include "gui/model/breakpoints.h"

#include <string.h>

#include "gui/model/text.h"

static void breakpoint_free(void *arg)
{
    struct breakpoint *b = arg;
    g_free(b->number);
    g_free(b->type);
    g_free(b->where);
    g_free(b->file);
    g_free(b->condition);
    g_free(b);
}

/* Without its parameters, which are longer than all else in C++. To be freed. */
static char *short_name(const char *function)
{
    bool whole = strstr(function, "operator") || strstr(function, "(anonymous");
    return g_strndup(function, whole ? strlen(function) : strcspn(function, "("));
}

/* `what` is of watchpoints and catchpoints; a breakpoint has a place. */
static char *where_of(const struct value *v)
{
    const char *file = value_text(v, "file"), *what = value_text(v, "what");
    if (what)
        return text_line(what);
    if (file) {
        char *name = short_name(value_say(v, "func"));
        char *words =
            g_strdup_printf("%s () at %s:%s", name, text_base(file), value_say(v, "line"));
        char *safe = text_line(words);
        g_free(words);
        g_free(name);
        return safe;
    }
    if (value_text(v, "original-location"))
        return text_line(value_text(v, "original-location"));
    return text_line(value_text(v, "addr"));
}

static struct breakpoint *breakpoint_new(const struct value *v)
{
    struct breakpoint *b = g_new0(struct breakpoint, 1);
    b->number = g_strdup(value_say(v, "number"));
    b->type = text_line(value_text(v, "type"));
    b->where = where_of(v);
    b->file = g_strdup(value_text(v, "fullname"));
    b->condition = value_text(v, "cond") ? text_line(value_text(v, "cond")) : NULL;
    b->line = (unsigned)value_number(v, "line", 0);
    b->address = value_number(v, "addr", 0);
    b->thread = (unsigned)value_number(v, "thread", 0);
    b->hits = value_number(v, "times", 0);
    b->ignore = value_number(v, "ignore", 0);
    b->enabled = strcmp(value_say(v, "enabled"), "y") == 0;
    b->temporary = strcmp(value_say(v, "disp"), "del") == 0;
    return b;
}

GPtrArray *breakpoints_new(const struct value *answer)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(breakpoint_free);
    const struct value *body = value_get(value_get(answer, "BreakpointTable"), "body");
    for (unsigned i = 0; i < value_count(body); i++) {
        const struct value *v = value_at(body, i);
        if (v->kind == VALUE_TUPLE && value_text(v, "number"))
            g_ptr_array_add(all, breakpoint_new(v));
    }
    return all;
}

const struct breakpoint *breakpoints_at(const GPtrArray *all, const char *file, unsigned line)
{
    for (unsigned i = 0; all && i < all->len; i++) {
        const struct breakpoint *b = g_ptr_array_index(all, i);
        if (b->line == line && g_strcmp0(b->file, file) == 0)
            return b;
    }
    return NULL;
}

char *breakpoint_command(const struct breakpoint *b)
{
    char *escaped, *condition;
    if (strcmp(b->type, "breakpoint") != 0 || !b->file || b->temporary)
        return NULL;
    escaped = g_strescape(b->file, NULL);
    condition = b->condition ? g_strescape(b->condition, NULL) : NULL;
    GString *command = g_string_new("-break-insert ");
    if (!b->enabled)
        g_string_append(command, "-d ");
    if (condition)
        g_string_append_printf(command, "-c \"%s\" ", condition);
    if (b->ignore)
        g_string_append_printf(command, "-i %" G_GUINT64_FORMAT " ", b->ignore);
    if (b->thread)
        g_string_append_printf(command, "-p %u ", b->thread);
    g_string_append_printf(command, "--source \"%s\" --line %u", escaped, b->line);
    g_free(escaped);
    g_free(condition);
    return g_string_free(command, FALSE);
}
