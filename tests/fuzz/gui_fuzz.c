/* gui_fuzz.c - lines of GDB and answers of drdebug that are anything. SPDX-License-Identifier: MIT
 *
 * What the window reads may hold a stranger's text. Whatever it is, it is read without harm; all
 * texts in what was read are UTF-8, and safe ones are left as they are by being made safe.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gui/link/answer.h"
#include "gui/link/json.h"
#include "gui/link/mi.h"
#include "gui/model/breakpoints.h"
#include "gui/model/expression.h"
#include "gui/model/memory.h"
#include "gui/model/session.h"
#include "gui/model/slices.h"
#include "gui/model/text.h"

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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *)data, size);
    struct mi_record *r = mi_parse(text);
    struct value *v = json_parse(text), *answer = answer_parse(text);
    if (r->results)
        use(r->results);
    if (r->text && !g_utf8_validate(r->text, -1, NULL))
        abort();
    if (v)
        use(v);
    if (answer)
        use(answer);
    for (unsigned i = 0; i < size && i < 64; i++)
        g_free(expression_at(text, i));
    value_free(answer);
    value_free(v);
    mi_free(r);
    g_free(text);
    return 0;
}
