/* mi.c - lines of GDB's machine interface. SPDX-License-Identifier: MIT */
#include "gui/link/mi.h"

#include <string.h>

enum { DEPTH_MOST = 64 }; /* of lists in lists; GDB's own answers have a handful */

/* Reads a line from left to right. A read that fails leaves `at` where it was of no matter: the
 * whole line is then MI_OTHER. */
struct reader {
    const char *at;
    int depth;
};

static bool take(struct reader *r, char c)
{
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static int octal(struct reader *r)
{
    int byte = 0;
    for (int i = 0; i < 3 && *r->at >= '0' && *r->at <= '7'; i++)
        byte = byte * 8 + (*r->at++ - '0');
    return byte & 0xff;
}

static int escaped(struct reader *r)
{
    static const char letters[] = "nrtabfve", meant[] = "\n\r\t\a\b\f\v\033";
    const char *letter;
    if (*r->at >= '0' && *r->at <= '7')
        return octal(r);
    if ((letter = *r->at ? strchr(letters, *r->at) : NULL)) {
        r->at++;
        return meant[letter - letters];
    }
    return *r->at ? (unsigned char)*r->at++ : -1;
}

/* A quoted text; NULL if it does not end. */
static char *take_string(struct reader *r)
{
    GString *out = g_string_new(NULL);
    if (!take(r, '"'))
        goto fail;
    while (*r->at && *r->at != '"') {
        int c = (unsigned char)*r->at++;
        if (c == '\\' && (c = escaped(r)) < 0)
            goto fail;
        if (c) /* a NUL cannot be shown, and would end the text */
            g_string_append_c(out, (char)c);
    }
    if (take(r, '"'))
        return g_string_free(out, FALSE);
fail:
    g_string_free(out, TRUE);
    return NULL;
}

/* A name in front of `=`; NULL if there is none. */
static char *take_name(struct reader *r)
{
    size_t n = strcspn(r->at, "=,\"{}[]");
    if (n == 0 || r->at[n] != '=')
        return NULL;
    char *name = g_strndup(r->at, n);
    char *valid = g_utf8_make_valid(name, -1);
    g_free(name);
    r->at += n + 1;
    return valid;
}

static struct value *take_value(struct reader *r, const char *name);

/* NAME=VALUE, or only the value where that is allowed. */
static struct value *take_item(struct reader *r)
{
    char *name = take_name(r);
    struct value *v = take_value(r, name);
    g_free(name);
    return v;
}

static struct value *take_items(struct reader *r, enum value_kind kind, const char *name, char end)
{
    struct value *all = value_new(kind, name), *item;
    if (take(r, end))
        return all;
    do {
        if (!(item = take_item(r)))
            goto fail;
        value_add(all, item);
    } while (take(r, ','));
    if (take(r, end))
        return all;
fail:
    value_free(all);
    return NULL;
}

static struct value *take_value(struct reader *r, const char *name)
{
    struct value *v = NULL;
    char *text;
    if (r->depth >= DEPTH_MOST)
        return NULL;
    r->depth++;
    if (take(r, '{')) {
        v = take_items(r, VALUE_TUPLE, name, '}');
    } else if (take(r, '[')) {
        v = take_items(r, VALUE_LIST, name, ']');
    } else if ((text = take_string(r))) {
        v = value_new_text(name, text);
        g_free(text);
    }
    r->depth--;
    return v;
}

/* What follows the sign of a result or a notice. */
static bool take_results(struct reader *r, struct mi_record *record)
{
    size_t n = strcspn(r->at, ",");
    char *name = g_strndup(r->at, n);
    record->name = g_utf8_make_valid(name, -1);
    g_free(name);
    r->at += n;
    record->results = value_new(VALUE_TUPLE, NULL);
    while (take(r, ',')) {
        struct value *item = take_item(r);
        if (!item)
            return false;
        value_add(record->results, item);
    }
    return *r->at == 0;
}

static bool take_record(struct reader *r, struct mi_record *record)
{
    char *text;
    while (*r->at >= '0' && *r->at <= '9')
        record->token = record->token * 10 + (uint64_t)(*r->at++ - '0');
    record->kind = (enum mi_kind) * r->at;
    if (!*r->at || !strchr("^*+=~@&(", *r->at))
        return false;
    if (*r->at == '(')
        return g_str_has_prefix(r->at, "(gdb)");
    r->at++;
    if (strchr("^*+=", record->kind))
        return take_results(r, record);
    if (!(text = take_string(r)))
        return false;
    record->text = g_utf8_make_valid(text, -1);
    g_free(text);
    return *r->at == 0;
}

static void clear(struct mi_record *record)
{
    g_free(record->name);
    g_free(record->text);
    value_free(record->results);
    *record = (struct mi_record){0};
}

struct mi_record *mi_parse(const char *line)
{
    struct mi_record *record = g_new0(struct mi_record, 1);
    struct reader r = {.at = line};
    if (take_record(&r, record))
        return record;
    clear(record);
    record->text = g_utf8_make_valid(line, -1);
    return record;
}

void mi_free(struct mi_record *record)
{
    if (!record)
        return;
    clear(record);
    g_free(record);
}

char *mi_quote(const char *word)
{
    GString *out = g_string_new("\"");
    for (; *word; word++) {
        if (*word == '"' || *word == '\\')
            g_string_append_c(out, '\\');
        /* A line is a command: nothing may end it early. */
        g_string_append_c(out, *word == '\n' || *word == '\r' ? ' ' : *word);
    }
    g_string_append_c(out, '"');
    return g_string_free(out, FALSE);
}
