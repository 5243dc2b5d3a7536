/* answer.c - what `drdebug ask --json` prints, as one value. SPDX-License-Identifier: MIT */
#include "gui/link/answer.h"

#include <string.h>

#include "gui/link/json.h"
#include "gui/model/text.h"

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

struct value *answer_parse(const char *text)
{
    struct value *all = value_new(VALUE_TUPLE, NULL), *rows = value_new(VALUE_LIST, "rows");
    char **lines = g_strsplit(text, "\n", -1);
    bool good = false;
    for (char **line = lines; *line; line++) {
        struct value *v = **line ? json_parse(*line) : NULL;
        if (!v)
            continue;
        if (value_get(v, "columns")) {
            move(v, "columns", all);
        } else if (value_get(v, "row")) {
            value_add(rows, v);
            continue;
        } else if (move(v, "complete", all)) {
            move(v, "notes", all);
            good = true;
        }
        value_free(v);
    }
    g_strfreev(lines);
    value_add(all, rows);
    if (good && value_get(all, "columns"))
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
