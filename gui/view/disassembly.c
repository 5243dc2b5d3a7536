/* disassembly.c - the code around the program's counter. SPDX-License-Identifier: MIT */
#include "gui/view/disassembly.h"

#include "gui/model/code.h"
#include "gui/model/text.h"
#include "gui/view/table.h"

enum { WITHOUT_FUNCTION = 160, ALL = 4000 };

struct disassembly {
    struct window *window;
    struct table *table;
    bool tried; /* without the function's bounds */
};

static bool has_breakpoint(struct disassembly *d, uint64_t address, const char **number)
{
    const GPtrArray *all = d->window->debugger->breakpoints;
    for (unsigned i = 0; i < all->len; i++) {
        const struct breakpoint *b = g_ptr_array_index(all, i);
        if (b->address != address)
            continue;
        *number = b->number;
        return true;
    }
    return false;
}

/* Sets or clears a breakpoint there. */
static void on_activated(void *arg, GuiItem *item)
{
    struct disassembly *d = arg;
    const char *number;
    uint64_t address = g_ascii_strtoull(item->key, NULL, 16);
    char *command = has_breakpoint(d, address, &number)
                        ? g_strdup_printf("-break-delete %s", number)
                        : g_strdup_printf("-break-insert *%s", item->key);
    debugger_breakpoint_command(d->window->debugger, command);
    g_free(command);
}

static GuiItem *make_item(struct disassembly *d, const struct instruction *one)
{
    const struct session_frame *f = &d->window->debugger->session.frame;
    GuiItem *item = gui_item_new();
    const char *number;
    item->key = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", one->address);
    gui_item_set(item, 0,
                 g_strdup(one->address == f->pc                      ? "▶"
                          : has_breakpoint(d, one->address, &number) ? "●"
                                                                     : ""));
    gui_item_set(item, 1, g_strdup(item->key));
    gui_item_set(item, 2, g_strdup(one->text));
    gui_item_set(item, 3, g_strdup(one->where));
    gui_item_set(item, 4, one->line ? g_strdup_printf("%u", one->line) : g_strdup(""));
    item->look = one->address == f->pc ? LOOK_CURRENT : LOOK_PLAIN;
    return item;
}

static void on_code(void *arg, const struct mi_record *result);

/* Where no function is known. */
static void ask_plain(struct disassembly *d)
{
    uint64_t pc = d->window->debugger->session.frame.pc;
    char *command =
        g_strdup_printf("-data-disassemble -s %" G_GUINT64_FORMAT " -e %" G_GUINT64_FORMAT " -- 0",
                        pc, pc + WITHOUT_FUNCTION);
    d->tried = true;
    debugger_query(d->window->debugger, command, on_code, d);
    g_free(command);
}

static void on_code(void *arg, const struct mi_record *result)
{
    struct disassembly *d = arg;
    uint64_t pc = d->window->debugger->session.frame.pc;
    GPtrArray *items = g_ptr_array_new();
    unsigned current = 0;
    if (!result || (value_text(result->results, "msg") && !d->tried)) {
        g_ptr_array_unref(items);
        if (result)
            ask_plain(d);
        return;
    }
    GPtrArray *code = code_new(result->results, 0);
    for (unsigned i = 0; i < code->len && i < ALL; i++) {
        const struct instruction *one = g_ptr_array_index(code, i);
        current = one->address == pc ? i : current;
        g_ptr_array_add(items, make_item(d, one));
    }
    g_ptr_array_unref(code);
    table_say(d->table, result ? value_say(result->results, "msg") : "");
    table_take(d->table, items);
    table_scroll_to(d->table, current);
}

void disassembly_refresh(struct disassembly *d)
{
    const struct session *s = &d->window->debugger->session;
    if (s->state != SESSION_STOPPED)
        return;
    char *command = g_strdup_printf("-data-disassemble -a %" G_GUINT64_FORMAT " -- 4", s->frame.pc);
    d->tried = false;
    debugger_query(d->window->debugger, command, on_code, d);
    g_free(command);
}

struct disassembly *disassembly_new(struct window *w, const char *name)
{
    static const struct table_column columns[] = {{"", 26, false},
                                                  {"Address", 130, true},
                                                  {"Instruction", 0, true},
                                                  {"Where", 150, true},
                                                  {"Line", 50, false}};
    struct disassembly *d = g_new0(struct disassembly, 1);
    struct table_kind kind = {
        .name = name, .columns = columns, .count = 5, .activated = on_activated};
    d->window = w;
    d->table = table_new(&kind, d);
    table_say(d->table, "The code around the next instruction is shown here.");
    return d;
}

GtkWidget *disassembly_widget(struct disassembly *d)
{
    return table_widget(d->table);
}
