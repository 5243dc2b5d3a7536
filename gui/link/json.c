/* json.c - JSON that drdebug prints, read. SPDX-License-Identifier: MIT */
#include "gui/link/json.h"

#include <string.h>

enum { DEPTH_MOST = 64 };

struct reader {
    const char *at;
    int depth;
};

static void skip_space(struct reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

/* Four digits; -1: there are none. */
static int32_t take_unit(struct reader *r)
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
static bool take_unicode(struct reader *r, GString *out)
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

static bool take_escape(struct reader *r, GString *out)
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

static char *take_string(struct reader *r)
{
    GString *out;
    if (!take(r, '"'))
        return NULL;
    out = g_string_new(NULL);
    while (*r->at && *r->at != '"') {
        size_t n = strcspn(r->at, "\\\"");
        g_string_append_len(out, r->at, (gssize)n);
        r->at += n;
        if (*r->at == '\\' && (r->at++, !take_escape(r, out)))
            goto fail;
    }
    if (*r->at == '"') {
        r->at++;
        return g_string_free(out, FALSE);
    }
fail:
    g_string_free(out, TRUE);
    return NULL;
}

static struct value *take_value(struct reader *r, const char *name);

static struct value *take_items(struct reader *r, enum value_kind kind, const char *name, char end)
{
    struct value *all = value_new(kind, name), *item;
    if (take(r, end))
        return all;
    do {
        char *key = kind == VALUE_TUPLE ? take_string(r) : NULL;
        item = kind == VALUE_LIST || (key && take(r, ':')) ? take_value(r, key) : NULL;
        g_free(key);
        if (!item)
            goto fail;
        value_add(all, item);
    } while (take(r, ','));
    if (take(r, end))
        return all;
fail:
    value_free(all);
    return NULL;
}

/* A number, true, false, null. */
static struct value *take_word(struct reader *r, const char *name)
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

static struct value *take_value(struct reader *r, const char *name)
{
    struct value *v = NULL;
    char *text;
    if (r->depth >= DEPTH_MOST)
        return NULL;
    r->depth++;
    skip_space(r);
    if (*r->at == '{' || *r->at == '[') {
        bool tuple = *r->at++ == '{';
        v = take_items(r, tuple ? VALUE_TUPLE : VALUE_LIST, name, tuple ? '}' : ']');
    } else if (*r->at == '"') {
        text = take_string(r);
        if (text)
            v = value_new_text(name, text);
        g_free(text);
    } else {
        v = take_word(r, name);
    }
    r->depth--;
    return v;
}

struct value *json_parse(const char *text)
{
    struct reader r = {.at = text};
    struct value *v = take_value(&r, NULL);
    skip_space(&r);
    if (v && *r.at) {
        value_free(v);
        return NULL;
    }
    return v;
}
