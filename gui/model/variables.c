/* variables.c - variables that remember what they were. SPDX-License-Identifier: MIT */
#include "gui/model/variables.h"

#include <string.h>

#include "gui/model/text.h"

void variable_free(void *variable)
{
    struct variable *v = variable;
    g_free(v->name);
    g_free(v->value);
    g_free(v->type);
    g_free(v->expression);
    g_free(v);
}

void variables_init(struct variables *v)
{
    v->scope = NULL;
    v->list = g_ptr_array_new_with_free_func(variable_free);
}

void variables_deinit(struct variables *v)
{
    g_free(v->scope);
    g_ptr_array_unref(v->list);
}

bool variables_type_has_parts(const char *type)
{
    static const char *const words[] = {"struct ", "union ", "class ", "::", "<"};
    if (!type || !*type || strstr(type, "(*)("))
        return false; /* a pointer to a function has none */
    if (strpbrk(type, "*[{"))
        return strcmp(type, "void *") != 0;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strstr(type, words[i]))
            return true;
    return false;
}

/* The n-th of that name: inner blocks may hide outer ones. */
static const struct variable *find(const GPtrArray *list, const char *name, unsigned n)
{
    for (unsigned i = 0; i < list->len; i++) {
        const struct variable *v = g_ptr_array_index(list, i);
        if (strcmp(v->name, name) == 0 && n-- == 0)
            return v;
    }
    return NULL;
}

static unsigned count_before(const struct value *list, unsigned end, const char *name)
{
    unsigned count = 0;
    for (unsigned i = 0; i < end; i++)
        count += strcmp(value_say(value_at(list, i), "name"), name) == 0;
    return count;
}

static const char *type_of(const struct value *types, unsigned i, const char *name)
{
    const struct value *v = value_at(types, i); /* both lists have the same order */
    return v && strcmp(value_say(v, "name"), name) == 0 ? value_text(v, "type") : NULL;
}

/* By the compiler, for assert() and its kind. */
static bool is_made_up(const char *name)
{
    return strcmp(name, "__PRETTY_FUNCTION__") == 0 || strcmp(name, "__func__") == 0 ||
           strcmp(name, "__FUNCTION__") == 0;
}

void variables_take(struct variables *v, const char *scope, const struct value *values,
                    const struct value *types)
{
    const struct value *list = value_get(values, "variables");
    bool same = g_strcmp0(scope, v->scope) == 0;
    GPtrArray *old = v->list;
    v->list = g_ptr_array_new_with_free_func(variable_free);
    for (unsigned i = 0; i < value_count(list); i++) {
        const struct value *one = value_at(list, i);
        if (is_made_up(value_say(one, "name")))
            continue;
        struct variable *made = g_new0(struct variable, 1);
        made->name = text_line(value_text(one, "name"));
        made->expression = g_strdup(value_say(one, "name"));
        made->value = text_line(value_text(one, "value"));
        made->type = text_line(type_of(value_get(types, "variables"), i, made->expression));
        made->has_parts = *made->type ? variables_type_has_parts(made->type) : *made->value == '{';
        const struct variable *before =
            find(old, made->name, count_before(list, i, made->expression));
        made->changed = same && before && strcmp(before->value, made->value) != 0;
        g_ptr_array_add(v->list, made);
    }
    g_ptr_array_unref(old);
    if (!same) {
        g_free(v->scope);
        v->scope = g_strdup(scope);
    }
}

uint64_t variables_elements(const char *type)
{
    const char *open = type ? strchr(type, '[') : NULL;
    if (!open || !g_str_has_suffix(type, "]") || strchr(type, ')'))
        return 0;
    return g_ascii_strtoull(open + 1, NULL, 10);
}
