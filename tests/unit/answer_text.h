/* answer_text.h - an answer of `drdebug ask --json` that is there as a whole.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_ANSWER_TEXT_H
#define TESTS_UNIT_ANSWER_TEXT_H

#include <glib.h>

#include "gui/link/answer.h"

static struct value *answer_of(const char *text)
{
    struct answer *a = answer_new(NULL, NULL);
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        answer_take_line(a, *line);
    g_strfreev(lines);
    return answer_end(a);
}

#endif
