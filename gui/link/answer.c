/* answer.c - what `drdebug ask --json` prints, as one value. SPDX-License-Identifier: MIT */
#include "gui/link/answer.h"

#include <string.h>

#include "gui/link/json.h"
#include "gui/model/text.h"

struct answer {
    struct value *all, *rows;
    answer_row *fn;
    void *arg;
    bool whole; /* its last line was there */
};

/* Moves a member of one tuple to another one. */
static bool move(struct value *from, const char *name, struct value *to)
{
    for (unsigned i = 0; i < value_count(from); i++)
        if (g_strcmp0(value_at(from, i)->name, name) == 0) {
            value_add(to, g_ptr_array_steal_index(from->items, i));
            return true;
        }
    return false;
}

struct answer *answer_new(answer_row *fn, void *arg)
{
    struct answer *a = g_new0(struct answer, 1);
    a->all = value_new(VALUE_TUPLE, NULL);
    a->rows = value_new(VALUE_LIST, "rows");
    a->fn = fn;
    a->arg = arg;
    return a;
}

void answer_take_line(struct answer *a, const char *line)
{
    struct value *v = *line ? json_parse(line) : NULL;
    if (!v)
        return;
    if (value_get(v, "columns")) {
        move(v, "columns", a->all);
    } else if (value_get(v, "row") && a->fn) {
        a->fn(a->arg, v);
    } else if (value_get(v, "row")) {
        value_add(a->rows, v);
        return;
    } else if (move(v, "complete", a->all)) {
        move(v, "notes", a->all);
        a->whole = true;
    }
    value_free(v);
}

struct value *answer_end(struct answer *a)
{
    struct value *all = a->all;
    bool good = a->whole && value_get(all, "columns");
    value_add(all, a->rows);
    g_free(a);
    if (good)
        return all;
    value_free(all);
    return NULL;
}

char *answer_cell(const struct value *row, const char *column)
{
    const struct value *v = value_get(row, column);
    const char *text = !v                       ? ""
                       : v->kind == VALUE_TUPLE ? value_say(v, "text")
                       : v->text                ? v->text
                                                : "";
    if (strcmp(text, "false") == 0)
        return g_strdup("");
    return text_line(strcmp(text, "true") == 0 ? column : text);
}
