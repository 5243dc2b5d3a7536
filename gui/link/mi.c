/* mi.c - lines of GDB's machine interface. SPDX-License-Identifier: MIT */
#include "gui/link/mi.h"

#include <string.h>

#include "gui/link/nested.h"

static int octal(struct nested *r)
{
    int byte = 0;
    for (int i = 0; i < 3 && *r->at >= '0' && *r->at <= '7'; i++)
        byte = byte * 8 + (*r->at++ - '0');
    return byte & 0xff;
}

static bool take_escape(struct nested *r, GString *out)
{
    static const char letters[] = "nrtabfve", meant[] = "\n\r\t\a\b\f\v\033";
    const char *letter = *r->at ? strchr(letters, *r->at) : NULL;
    int c = (unsigned char)*r->at;
    if (!c)
        return false;
    if (c >= '0' && c <= '7') {
        c = octal(r);
    } else {
        c = letter ? meant[letter - letters] : c;
        r->at++;
    }
    if (c) /* a NUL cannot be shown, and would end the text */
        g_string_append_c(out, (char)c);
    return true;
}

/* A name in front of `=`; NULL if there is none. */
static char *take_name(struct nested *r)
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

/* NAME=VALUE, or only the value where that is allowed. */
static struct value *take_item(struct nested *r, enum value_kind in)
{
    char *name = take_name(r);
    struct value *v = nested_value(r, name);
    (void)in;
    g_free(name);
    return v;
}

/* What follows the sign of a result or a notice. */
static bool take_results(struct nested *r, struct mi_record *record)
{
    size_t n = strcspn(r->at, ",");
    char *name = g_strndup(r->at, n);
    record->name = g_utf8_make_valid(name, -1);
    g_free(name);
    r->at += n;
    record->results = value_new(VALUE_TUPLE, NULL);
    while (nested_take(r, ',')) {
        struct value *item = take_item(r, VALUE_TUPLE);
        if (!item)
            return false;
        value_add(record->results, item);
    }
    return *r->at == 0;
}

static bool take_record(struct nested *r, struct mi_record *record)
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
    if (!(text = nested_text(r)))
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
    static const struct nested_form form = {.escape = take_escape, .item = take_item};
    struct nested r = {.at = line, .form = &form};
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
