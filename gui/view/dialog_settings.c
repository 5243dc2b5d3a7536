/* dialog_settings.c - GDB's command, where sources are, font, colours and keys.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "gui/view/form.h"
#include "gui/view/launch.h"
#include "gui/view/source.h"

struct asking {
    struct form form;
    GtkWidget *gdb, *sources, *font, *style, *keys;
};

static const char *const styles[] = {"As the desktop", "Light", "Dark", NULL};

static char *text_of(GtkWidget *entry)
{
    return g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
}

void settings_apply(struct window *w)
{
    static const AdwColorScheme schemes[] = {ADW_COLOR_SCHEME_DEFAULT, ADW_COLOR_SCHEME_FORCE_LIGHT,
                                             ADW_COLOR_SCHEME_FORCE_DARK};
    char *gdb = settings_text(w->settings, "gdb", "command"),
         *sources = settings_text(w->settings, "source", "substitute"),
         *font = settings_text(w->settings, "source", "family"),
         *keys = settings_text(w->settings, "window", "keys");
    int style = settings_number(w->settings, "window", "style", 0);
    debugger_use_gdb(w->debugger, gdb);
    debugger_use_sources(w->debugger, sources);
    source_use_font(w->source, font);
    actions_use_keys(w, keys);
    adw_style_manager_set_color_scheme(adw_style_manager_get_default(),
                                       schemes[CLAMP(style, 0, 2)]);
    g_free(keys);
    g_free(font);
    g_free(sources);
    g_free(gdb);
}

static void on_take(GtkButton *button, struct asking *a)
{
    struct window *w = a->form.window;
    struct {
        GtkWidget *entry;
        const char *group, *key;
    } rows[] = {{a->gdb, "gdb", "command"},
                {a->sources, "source", "substitute"},
                {a->font, "source", "family"},
                {a->keys, "window", "keys"}};
    (void)button;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        char *text = text_of(rows[i].entry);
        settings_set_text(w->settings, rows[i].group, rows[i].key, text);
        g_free(text);
    }
    settings_set_number(w->settings, "window", "style",
                        (int)gtk_drop_down_get_selected(GTK_DROP_DOWN(a->style)));
    settings_save(w->settings);
    settings_apply(w);
    gtk_window_destroy(GTK_WINDOW(a->form.dialog));
}

static GtkWidget *entry(struct asking *a, const char *label, const char *group, const char *key,
                        const char *hint)
{
    char *text = settings_text(a->form.window->settings, group, key);
    GtkWidget *made = form_entry(&a->form, label, text, hint);
    g_free(text);
    return made;
}

void dialog_settings(struct window *w)
{
    struct asking *a = g_new0(struct asking, 1);
    form_init(&a->form, w, "Settings", 620);
    a->gdb = entry(a, "GDB", "gdb", "command", "gdb, from the next recording on");
    a->sources =
        entry(a, "Sources", "source", "substitute", "/build/tree=/where/it/is  /other=/there");
    a->font = entry(a, "Font of the source", "source", "family", "monospace");
    a->style = form_choice(&a->form, "Colours", styles);
    gtk_drop_down_set_selected(
        GTK_DROP_DOWN(a->style),
        (unsigned)CLAMP(settings_number(w->settings, "window", "style", 0), 0, 2));
    a->keys = entry(a, "Keys", "window", "keys", "step=F11 next=F10  finish=<Shift>F11");
    form_say(&a->form,
             "A key is named by its action: continue, step, next, finish, back-step, why, slice, "
             "breakpoint and so on. Help, Keys lists them.");
    form_button(&a->form, "Apply", G_CALLBACK(on_take), a);
    form_show(&a->form, a, g_free);
}
