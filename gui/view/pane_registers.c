/* pane_registers.c - the registers of the frame that is looked at. SPDX-License-Identifier: MIT */
#include <string.h>

#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/table.h"

struct registers_pane {
    struct pane pane;
    struct table *table;
    GPtrArray *names;  /* by number; NULL until GDB has told */
    GHashTable *known; /* name -> the value that was shown */
};

static bool is_shown(const char *name)
{
    /* Parts of others, and the x87 and opmask registers, would bury what is looked for. */
    static const char *const general[] = {"rax", "rbx", "rcx", "rdx",    "rsi",     "rdi",
                                          "rbp", "rsp", "rip", "eflags", "fs_base", "gs_base"};
    for (size_t i = 0; i < G_N_ELEMENTS(general); i++)
        if (strcmp(name, general[i]) == 0)
            return true;
    return (name[0] == 'r' && g_ascii_isdigit(name[1]) &&
            strspn(name + 1, "0123456789") == strlen(name + 1)) ||
           g_str_has_prefix(name, "xmm");
}

static void on_values(void *arg, const struct mi_record *result)
{
    struct registers_pane *p = arg;
    const struct value *list = result ? value_get(result->results, "register-values") : NULL;
    GPtrArray *items;
    if (!list || !p->names)
        return;
    items = g_ptr_array_new();
    for (unsigned i = 0; i < value_count(list); i++) {
        uint64_t number = value_number(value_at(list, i), "number", 0);
        const char *name = number < p->names->len ? g_ptr_array_index(p->names, number) : "";
        if (!is_shown(name))
            continue;
        GuiItem *item = gui_item_new();
        char *value = text_line(value_text(value_at(list, i), "value"));
        const char *before = g_hash_table_lookup(p->known, name);
        item->look = before && strcmp(before, value) != 0 ? LOOK_CHANGED : LOOK_PLAIN;
        item->key = g_strdup_printf("$%s", name);
        gui_item_set(item, 0, g_strdup(name));
        gui_item_set(item, 1, g_strdup(value));
        g_hash_table_replace(p->known, g_strdup(name), value);
        g_ptr_array_add(items, item);
    }
    table_take(p->table, items);
}

static void on_names(void *arg, const struct mi_record *result)
{
    struct registers_pane *p = arg;
    const struct value *list = result ? value_get(result->results, "register-names") : NULL;
    if (!list || p->names)
        return;
    p->names = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < value_count(list); i++)
        g_ptr_array_add(p->names, g_strdup(value_at(list, i)->text ? value_at(list, i)->text : ""));
}

static void refresh(struct pane *pane)
{
    struct registers_pane *p = (struct registers_pane *)pane;
    if (!p->names)
        debugger_query(pane->window->debugger, "-data-list-register-names", on_names, p);
    debugger_query(pane->window->debugger, "-data-list-register-values --skip-unavailable r",
                   on_values, p);
}

struct pane *registers_pane_new(struct window *w)
{
    static const struct table_column columns[] = {{"Register", 90, true}, {"Value", 0, true}};
    static const struct table_kind kind = {.name = "Registers", .columns = columns, .count = 2};
    struct registers_pane *p = g_new0(struct registers_pane, 1);
    (void)w;
    p->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    p->table = table_new(&kind, p);
    table_say(p->table, "The registers are shown here.");
    p->pane.widget = table_widget(p->table);
    p->pane.refresh = refresh;
    p->pane.refresh_on = PANE_MOVED;
    return &p->pane;
}
