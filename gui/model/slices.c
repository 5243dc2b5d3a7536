/* slices.c - a slice as the window shows it. SPDX-License-Identifier: MIT */
#include "gui/model/slices.h"

#include <string.h>

#include "gui/model/text.h"

static void dependence_free(void *arg)
{
    struct slice_dependence *d = arg;
    g_free(d->position);
    g_free(d->file);
    g_free(d->text);
    g_free(d->kind);
    g_free(d->what);
    g_free(d->race);
    g_free(d);
}

static void row_free(void *arg)
{
    struct slice_row *r = arg;
    g_free(r->position);
    g_free(r->file);
    g_free(r->text);
    g_free(r->kind);
    g_free(r->what);
    g_ptr_array_unref(r->dependences);
    g_free(r);
}

static struct slice_dependence *dependence_new(const struct value *v)
{
    struct slice_dependence *d = g_new0(struct slice_dependence, 1);
    d->position = g_strdup(value_text(v, "position"));
    d->file = g_strdup(value_text(v, "file"));
    d->text = text_line(value_text(v, "text"));
    d->kind = g_strdup(value_say(v, "kind"));
    d->what = text_line(value_text(v, "what"));
    d->race = g_strdup(value_text(v, "race"));
    d->line = (unsigned)value_number(v, "line", 0);
    d->thread = (unsigned)value_number(v, "thread", 0);
    d->times = value_number(v, "count", 1);
    return d;
}

static struct slice_row *row_new(const struct value *v)
{
    struct slice_row *r = g_new0(struct slice_row, 1);
    r->position = g_strdup(value_text(v, "position"));
    r->file = g_strdup(value_text(v, "file"));
    r->text = text_line(value_text(v, "text"));
    r->kind = g_strdup(value_say(v, "kind"));
    r->what = text_line(value_text(v, "what"));
    r->line = (unsigned)value_number(v, "line", 0);
    r->thread = (unsigned)value_number(v, "thread", 0);
    r->rank = (unsigned)value_number(v, "rank", 0);
    r->dependences = g_ptr_array_new_with_free_func(dependence_free);
    return r;
}

/* They come in one list, each with the number of its line. */
static void add_dependences(struct slice *s, const struct value *list)
{
    for (unsigned i = 0; i < value_count(list); i++) {
        const struct value *v = value_at(list, i);
        uint64_t of = value_number(v, "of", UINT64_MAX);
        if (of >= s->rows->len)
            continue;
        struct slice_row *row = g_ptr_array_index(s->rows, of);
        g_ptr_array_add(row->dependences, dependence_new(v));
    }
}

static GPtrArray *rows_new(const struct value *list)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(row_free);
    for (unsigned i = 0; i < value_count(list); i++)
        g_ptr_array_add(rows, row_new(value_at(list, i)));
    return rows;
}

static char *findings_words(const struct value *list)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < value_count(list); i++)
        g_string_append_printf(out, "%s%s: %s", i ? "\n" : "", value_say(value_at(list, i), "kind"),
                               value_say(value_at(list, i), "text"));
    char *safe = text_lines(out->str);
    g_string_free(out, TRUE);
    return safe;
}

/* "1 thread", "10,003 lines"; to be freed. */
static char *counted(const struct value *answer, const char *name, const char *thing)
{
    uint64_t n = value_number(answer, name, 0);
    char *number = text_number(n);
    char *words = g_strdup_printf("%s %s%s", number, thing, n == 1 ? "" : "s");
    g_free(number);
    return words;
}

static GHashTable *index_rows(const GPtrArray *rows)
{
    GHashTable *by_line =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    for (unsigned i = 0; i < rows->len; i++) {
        struct slice_row *r = g_ptr_array_index(rows, i);
        GPtrArray *here = g_hash_table_lookup(by_line, GUINT_TO_POINTER(r->line));
        if (!here) {
            here = g_ptr_array_new();
            g_hash_table_insert(by_line, GUINT_TO_POINTER(r->line), here);
        }
        g_ptr_array_add(here, r);
    }
    return by_line;
}

struct slice *slice_new(const struct value *answer)
{
    const struct value *lines = value_get(answer, "lines"), *of = value_get(answer, "criterion");
    if (!lines || !of)
        return NULL;
    struct slice *s = g_new0(struct slice, 1);
    char *instructions = text_number(value_number(answer, "instructions", 0));
    char *total = text_number(value_number(answer, "total", 0));
    char *what = text_line(value_text(of, "what"));
    s->number = (unsigned)value_number(answer, "number", 0);
    s->kind = g_strdup(value_say(answer, "kind"));
    s->title = g_strdup_printf("%s at %s:%s", *what ? what : "failure",
                               text_base(value_text(of, "file")), value_say(of, "line"));
    char *lines_words = counted(answer, "executed_lines", "line"),
         *threads_words = counted(answer, "threads", "thread");
    s->size = g_strdup_printf("%s of %s instructions, %s, %s", instructions, total, lines_words,
                              threads_words);
    g_free(threads_words);
    g_free(lines_words);
    s->findings = findings_words(value_get(answer, "findings"));
    s->story = rows_new(value_get(answer, "story"));
    for (unsigned i = 0; i < s->story->len; i++)
        ((struct slice_row *)g_ptr_array_index(s->story, i))->rank = i + 1;
    s->rows = rows_new(lines);
    s->by_line = index_rows(s->rows);
    add_dependences(s, value_get(answer, "dependences"));
    g_free(instructions);
    g_free(total);
    g_free(what);
    return s;
}

void slice_free(struct slice *s)
{
    if (!s)
        return;
    g_free(s->kind);
    g_free(s->title);
    g_free(s->size);
    g_free(s->findings);
    g_ptr_array_unref(s->story);
    g_hash_table_unref(s->by_line);
    g_ptr_array_unref(s->rows);
    g_free(s);
}

/* GDB and drdebug may name a file by different paths; the shorter one must be the other's end. */
static bool is_same_file(const char *a, const char *b)
{
    if (!a || !b)
        return false;
    size_t m = strlen(a), n = strlen(b);
    const char *longer = m > n ? a : b, *shorter = m > n ? b : a;
    size_t rest = (m > n ? m : n) - (m > n ? n : m);
    return strcmp(longer + rest, shorter) == 0 && (rest == 0 || longer[rest - 1] == '/');
}

GPtrArray *slice_at(const struct slice *s, const char *file, unsigned line)
{
    GPtrArray *found = g_ptr_array_new();
    const GPtrArray *rows = s ? g_hash_table_lookup(s->by_line, GUINT_TO_POINTER(line)) : NULL;
    for (unsigned i = 0; rows && i < rows->len; i++) {
        struct slice_row *r = g_ptr_array_index(rows, i);
        if (is_same_file(r->file, file))
            g_ptr_array_add(found, r);
    }
    return found;
}

char *slice_dependence_words(const struct slice_dependence *d)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "T%u ", d->thread);
    if (d->file)
        g_string_append_printf(out, "%s:%u", text_base(d->file), d->line);
    else
        g_string_append(out, d->text);
    if (*d->what)
        g_string_append_printf(out, ", %s", d->what);
    g_string_append_printf(out, ": %s", d->kind);
    if (d->race)
        g_string_append_printf(out, ", %s", d->race);
    if (d->times > 1) {
        char *times = text_number(d->times);
        g_string_append_printf(out, ", %s times", times);
        g_free(times);
    }
    char *line = text_line(out->str);
    g_string_free(out, TRUE);
    return line;
}
