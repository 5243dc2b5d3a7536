/* text.c - text from a recording, made fit to be shown. SPDX-License-Identifier: MIT */
#include "gui/model/text.h"

#include <glib.h>
#include <string.h>

#include "base/plain.h"

static char *safe(const char *text, const char *stays)
{
    GString *out = g_string_new(NULL);
    size_t left = text ? strlen(text) : 0;
    char one[PLAIN_ONE];
    while (left) {
        size_t took = plain_one(PLAIN_TEXT, text, left, one);
        if (strchr(stays, *text))
            g_string_append_c(out, *text);
        else
            g_string_append(out, one);
        text += took;
        left -= took;
    }
    return g_string_free(out, FALSE);
}

char *text_line(const char *text)
{
    return safe(text, "");
}

char *text_lines(const char *text)
{
    return safe(text, "\n\t");
}

char *text_number(uint64_t number)
{
    char digits[24];
    GString *out = g_string_new(NULL);
    int n = g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, number);
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            g_string_append_c(out, ',');
        g_string_append_c(out, digits[i]);
    }
    return g_string_free(out, FALSE);
}

char *text_short_number(uint64_t number)
{
    static const char units[] = {0, 'k', 'M', 'G', 'T', 'P', 'E'};
    double value = (double)number;
    unsigned unit = 0;
    while (value >= 1000 && unit + 1 < sizeof units) {
        value /= 1000;
        unit++;
    }
    if (unit == 0)
        return g_strdup_printf("%" G_GUINT64_FORMAT, number);
    return g_strdup_printf(value < 10 ? "%.1f %c" : "%.0f %c", value, units[unit]);
}

const char *text_base(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}
