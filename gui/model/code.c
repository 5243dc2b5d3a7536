/* code.c - instructions. SPDX-License-Identifier: MIT */
#include "gui/model/code.h"

#include "gui/model/text.h"

static void instruction_free(void *arg)
{
    struct instruction *i = arg;
    g_free(i->text);
    g_free(i->where);
    g_free(i);
}

static void add(GPtrArray *to, const struct value *v, unsigned line)
{
    struct instruction *i = g_new0(struct instruction, 1);
    const char *function = value_text(v, "func-name");
    char *where =
        function ? g_strdup_printf("%s+%s", function, value_say(v, "offset")) : g_strdup("");
    i->address = value_number(v, "address", 0);
    i->text = text_line(value_text(v, "inst"));
    i->where = text_line(where);
    i->line = line;
    g_free(where);
    g_ptr_array_add(to, i);
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = (*(struct instruction *const *)a)->address,
             y = (*(struct instruction *const *)b)->address;
    return (x > y) - (x < y);
}

/* With sources it is a list of lines, each with instructions; without, a list of these. */
GPtrArray *code_new(const struct value *answer, unsigned line)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(instruction_free);
    const struct value *list = value_get(answer, "asm_insns");
    for (unsigned i = 0; i < value_count(list); i++) {
        const struct value *one = value_at(list, i), *of = value_get(one, "line_asm_insn");
        unsigned number = (unsigned)value_number(one, "line", 0);
        if (value_text(one, "inst") && !line)
            add(all, one, 0);
        for (unsigned k = 0; k < value_count(of) && (!line || number == line); k++)
            add(all, value_at(of, k), number);
    }
    g_ptr_array_sort(all, by_address);
    return all;
}
