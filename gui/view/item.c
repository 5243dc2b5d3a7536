/* item.c - a row of a pane's list. SPDX-License-Identifier: MIT */
#include "gui/view/item.h"

G_DEFINE_FINAL_TYPE(GuiItem, gui_item, G_TYPE_OBJECT)

static void finalize(GObject *object)
{
    GuiItem *item = GUI_ITEM(object);
    for (unsigned i = 0; i < ITEM_CELLS; i++)
        g_free(item->cell[i]);
    g_free(item->position);
    g_free(item->key);
    g_clear_object(&item->parts);
    G_OBJECT_CLASS(gui_item_parent_class)->finalize(object);
}

static void gui_item_class_init(GuiItemClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize;
}

static void gui_item_init(GuiItem *item)
{
    (void)item;
}

GuiItem *gui_item_new(void)
{
    return g_object_new(GUI_TYPE_ITEM, NULL);
}

void gui_item_set(GuiItem *item, unsigned cell, char *text)
{
    g_free(item->cell[cell]);
    item->cell[cell] = text;
}

char *gui_item_words(const GuiItem *item)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < ITEM_CELLS; i++)
        if (item->cell[i] && *item->cell[i])
            g_string_append_printf(out, "%s%s", out->len ? " " : "", item->cell[i]);
    return g_string_free(out, FALSE);
}
