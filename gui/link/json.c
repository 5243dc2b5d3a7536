/* json.c - JSON that drdebug prints, read. SPDX-License-Identifier: MIT */
#include "gui/link/json.h"

#include <string.h>

#include "gui/link/nested.h"

/* Four digits; -1: there are none. */
static int32_t take_unit(struct nested *r)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = g_ascii_xdigit_value(*r->at);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
        r->at++;
    }
    return unit;
}

/* Behind \u. What stands for no character is U+FFFD. */
static bool take_unicode(struct nested *r, GString *out)
{
    int32_t unit = take_unit(r), low;
    if (unit < 0)
        return false;
    gunichar c = (gunichar)unit;
    if (unit >= 0xd800 && unit < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        if ((low = take_unit(r)) < 0)
            return false;
        c = low >= 0xdc00 && low < 0xe000
                ? 0x10000 + (((gunichar)unit - 0xd800) << 10) + ((gunichar)low - 0xdc00)
                : 0xfffd;
    }
    if (c >= 0xd800 && c < 0xe000)
        c = 0xfffd;
    if (c) /* as in mi.c */
        g_string_append_unichar(out, c);
    return true;
}

static bool take_escape(struct nested *r, GString *out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *letter = *r->at ? strchr(letters, *r->at) : NULL;
    if (*r->at == 'u') {
        r->at++;
        return take_unicode(r, out);
    }
    if (!letter)
        return false;
    r->at++;
    g_string_append_c(out, meant[letter - letters]);
    return true;
}

/* A number, true, false, null. */
static struct value *take_word(struct nested *r, const char *name)
{
    size_t n = strspn(r->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
    if (n == 0)
        return NULL;
    char *text = g_strndup(r->at, n);
    bool null = strcmp(text, "null") == 0;
    struct value *v = null ? value_new(VALUE_NULL, name) : value_new_text(name, text);
    g_free(text);
    r->at += n;
    return v;
}

static struct value *take_item(struct nested *r, enum value_kind in)
{
    char *key = in == VALUE_TUPLE ? nested_text(r) : NULL;
    struct value *v =
        in == VALUE_LIST || (key && nested_take(r, ':')) ? nested_value(r, key) : NULL;
    g_free(key);
    return v;
}

struct value *json_parse(const char *text)
{
    static const struct nested_form form = {
        .spaced = true, .escape = take_escape, .item = take_item, .word = take_word};
    struct nested r = {.at = text, .form = &form};
    struct value *v = nested_value(&r, NULL);
    nested_skip(&r);
    if (v && *r.at) {
        value_free(v);
        return NULL;
    }
    return v;
}
