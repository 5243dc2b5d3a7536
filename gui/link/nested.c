/* nested.c - values in values. SPDX-License-Identifier: MIT */
#include "gui/link/nested.h"

#include <string.h>

enum { DEPTH_MOST = 64 }; /* GDB's and drdebug's own answers have a handful */

void nested_skip(struct nested *r)
{
    if (r->form->spaced)
        r->at += strspn(r->at, " \t\r\n");
}

bool nested_take(struct nested *r, char c)
{
    nested_skip(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

char *nested_text(struct nested *r)
{
    if (!nested_take(r, '"'))
        return NULL;
    GString *out = g_string_new(NULL);
    bool good = true;
    while (good && *r->at && *r->at != '"') {
        size_t n = strcspn(r->at, "\\\"");
        g_string_append_len(out, r->at, (gssize)n);
        r->at += n;
        good = *r->at != '\\' || (r->at++, r->form->escape(r, out));
    }
    good = good && *r->at++ == '"';
    return g_string_free(out, !good);
}

static struct value *take_items(struct nested *r, enum value_kind kind, const char *name, char end)
{
    struct value *all = value_new(kind, name), *item;
    if (nested_take(r, end))
        return all;
    do {
        if (!(item = r->form->item(r, kind)))
            goto fail;
        value_add(all, item);
    } while (nested_take(r, ','));
    if (nested_take(r, end))
        return all;
fail:
    value_free(all);
    return NULL;
}

struct value *nested_value(struct nested *r, const char *name)
{
    struct value *v = NULL;
    char *text;
    if (r->depth >= DEPTH_MOST)
        return NULL;
    r->depth++;
    if (nested_take(r, '{')) {
        v = take_items(r, VALUE_TUPLE, name, '}');
    } else if (nested_take(r, '[')) {
        v = take_items(r, VALUE_LIST, name, ']');
    } else if (*r->at == '"') {
        text = nested_text(r);
        v = text ? value_new_text(name, text) : NULL;
        g_free(text);
    } else if (r->form->word) {
        v = r->form->word(r, name);
    }
    r->depth--;
    return v;
}
