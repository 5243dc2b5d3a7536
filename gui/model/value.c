/* value.c - what GDB and drdebug answer, as a tree. SPDX-License-Identifier: MIT */
#include "gui/model/value.h"

static void free_item(void *item)
{
    value_free(item);
}

struct value *value_new(enum value_kind kind, const char *name)
{
    struct value *v = g_new0(struct value, 1);
    v->kind = kind;
    v->name = g_strdup(name);
    if (kind == VALUE_LIST || kind == VALUE_TUPLE)
        v->items = g_ptr_array_new_with_free_func(free_item);
    return v;
}

struct value *value_new_text(const char *name, const char *text)
{
    struct value *v = value_new(VALUE_TEXT, name);
    v->text = g_utf8_make_valid(text, -1);
    return v;
}

void value_free(struct value *v)
{
    if (!v)
        return;
    g_free(v->name);
    g_free(v->text);
    if (v->items)
        g_ptr_array_unref(v->items);
    g_free(v);
}

void value_add(struct value *to, struct value *item)
{
    g_ptr_array_add(to->items, item);
}

const struct value *value_get(const struct value *v, const char *name)
{
    for (unsigned i = 0; i < value_count(v); i++) {
        const struct value *item = value_at(v, i);
        if (g_strcmp0(item->name, name) == 0)
            return item;
    }
    return NULL;
}

const char *value_text(const struct value *v, const char *name)
{
    const struct value *item = value_get(v, name);
    return item ? item->text : NULL;
}

const char *value_say(const struct value *v, const char *name)
{
    const char *text = value_text(v, name);
    return text ? text : "";
}

uint64_t value_number(const struct value *v, const char *name, uint64_t otherwise)
{
    const char *text = value_text(v, name);
    char *end;
    if (!text || !*text)
        return otherwise;
    uint64_t number = g_ascii_strtoull(text, &end, 0);
    return end == text ? otherwise : number;
}

bool value_is_true(const struct value *v, const char *name)
{
    return g_strcmp0(value_text(v, name), "true") == 0;
}

unsigned value_count(const struct value *v)
{
    return v && v->items ? v->items->len : 0;
}

const struct value *value_at(const struct value *v, unsigned i)
{
    return i < value_count(v) ? g_ptr_array_index(v->items, i) : NULL;
}
