/* gui_fuzz.c - lines of GDB and answers of drdebug that are anything. SPDX-License-Identifier: MIT
 *
 * What the window reads may hold a stranger's text. Whatever it is, it is read without harm; all
 * texts in what was read are UTF-8, and safe ones are left as they are by being made safe.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gui/link/json.h"
#include "gui/link/mi.h"
#include "gui/model/breakpoints.h"
#include "gui/model/code.h"
#include "gui/model/expression.h"
#include "gui/model/memory.h"
#include "gui/model/program.h"
#include "gui/model/session.h"
#include "gui/model/slices.h"
#include "gui/model/text.h"
#include "tests/unit/answer_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_texts(const struct value *v)
{
    if (v->text && !g_utf8_validate(v->text, -1, NULL))
        abort();
    char *once = text_line(v->text), *twice = text_line(once);
    if (strcmp(once, twice) != 0 || !g_utf8_validate(once, -1, NULL))
        abort();
    g_free(once);
    g_free(twice);
    for (unsigned i = 0; i < value_count(v); i++)
        check_texts(value_at(v, i));
}

static void use(const struct value *v)
{
    struct session s = {0};
    check_texts(v);
    session_take_info(&s, "a", v);
    session_take_stop(&s, v);
    session_take_place(&s, v);
    g_free(session_words(&s));
    session_deinit(&s);
    slice_free(slice_new(v));
    g_ptr_array_unref(breakpoints_new(v));
    g_array_unref(memory_rows(v, NULL));
    g_ptr_array_unref(code_new(v, 0));
    g_ptr_array_unref(code_new(v, 5));
}

/* A program's texts are words of a shell; those that are written of words are the same words. */
static void use_program(const char *text)
{
    struct program p = {g_strdup(text), g_strdup(""), g_strdup(text)}, again = {0};
    const char *const verb[] = {"drdebug", "record", "--", NULL};
    struct err err;
    g_strfreev(program_argv(&p, verb, &err));
    g_clear_pointer(&p.environment, g_free);
    char **words = program_argv(&p, verb, &err);
    if (words) {
        program_take_words(&again, words);
        g_clear_pointer(&again.folder, g_free);
        char **same = program_argv(&again, verb + 3, &err);
        if (!same || !g_strv_equal((const char *const *)words, (const char *const *)same))
            abort();
        g_strfreev(same);
    }
    g_strfreev(words);
    program_deinit(&again);
    program_deinit(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *)data, size);
    struct mi_record *r = mi_parse(text);
    struct value *v = json_parse(text), *answer = answer_of(text);
    if (r->results)
        use(r->results);
    if (r->text && !g_utf8_validate(r->text, -1, NULL))
        abort();
    if (v)
        use(v);
    if (answer)
        use(answer);
    for (unsigned i = 0; i < size && i < 64; i++) {
        g_free(expression_at(text, i));
        g_free(function_at(text, i));
    }
    use_program(text);
    value_free(answer);
    value_free(v);
    mi_free(r);
    g_free(text);
    return 0;
}
