/* hover.c - the value of what is under the pointer. SPDX-License-Identifier: MIT
 *
 * GDB is asked when the pointer rests; the answer comes later and is shown if the pointer is still
 * on the same expression. An answer holds until the program moves.
 */
#include <string.h>

#include "gui/model/expression.h"
#include "gui/model/text.h"
#include "gui/view/page.h"

enum { SHOWN_MOST = 600 };

struct hover {
    struct window *window;
    GtkWidget *view;
    char *expression, *value; /* the last that was asked for; value NULL: not known yet */
    char *position;           /* where that was */
};

static void hover_free(void *arg)
{
    struct hover *h = arg;
    g_free(h->expression);
    g_free(h->value);
    g_free(h->position);
    g_free(h);
}

static char *expression_under(struct hover *h, int x, int y)
{
    GtkTextView *view = GTK_TEXT_VIEW(h->view);
    GtkTextIter at, from, to;
    int bx, by;
    gtk_text_view_window_to_buffer_coords(view, GTK_TEXT_WINDOW_WIDGET, x, y, &bx, &by);
    if (!gtk_text_view_get_iter_at_location(view, &at, bx, by))
        return NULL;
    from = to = at;
    gtk_text_iter_set_line_offset(&from, 0);
    if (!gtk_text_iter_ends_line(&to))
        gtk_text_iter_forward_to_line_end(&to);
    char *line = gtk_text_buffer_get_text(gtk_text_view_get_buffer(view), &from, &to, FALSE);
    char *found = expression_at(line, (unsigned)gtk_text_iter_get_line_index(&at));
    g_free(line);
    return found;
}

static void on_value(void *arg, const struct mi_record *result)
{
    GtkWidget *view = arg;
    struct hover *h = g_object_get_data(G_OBJECT(view), "hover");
    const char *value = result ? value_text(result->results, "value") : NULL;
    if (h && value) {
        g_free(h->value);
        h->value = text_lines(value);
        if (strlen(h->value) > SHOWN_MOST) {
            char *cut = g_utf8_substring(h->value, 0, MIN(SHOWN_MOST, g_utf8_strlen(h->value, -1)));
            g_free(h->value);
            h->value = cut;
        }
        gtk_widget_trigger_tooltip_query(view);
    }
    g_object_unref(view);
}

static void ask(struct hover *h)
{
    char *quoted = mi_quote(h->expression);
    char *command = g_strdup_printf("-data-evaluate-expression %s", quoted);
    debugger_query(h->window->debugger, command, on_value, g_object_ref(h->view));
    g_free(command);
    g_free(quoted);
}

static gboolean on_tooltip(GtkWidget *view, int x, int y, gboolean keyboard, GtkTooltip *tip,
                           struct hover *h)
{
    const struct session *s = &h->window->debugger->session;
    char *expression = keyboard ? NULL : expression_under(h, x, y);
    (void)view;
    if (!expression || s->state != SESSION_STOPPED || !s->position) {
        g_free(expression);
        return FALSE;
    }
    if (g_strcmp0(expression, h->expression) != 0 || g_strcmp0(s->position, h->position) != 0) {
        g_free(h->expression);
        g_free(h->position);
        g_clear_pointer(&h->value, g_free);
        h->expression = expression;
        h->position = g_strdup(s->position);
        ask(h);
        return FALSE;
    }
    g_free(expression);
    if (!h->value)
        return FALSE;
    char *text = g_strdup_printf("%s = %s", h->expression, h->value);
    gtk_tooltip_set_text(tip, text);
    g_free(text);
    return TRUE;
}

void hover_add(struct window *w, GtkSourceView *view)
{
    struct hover *h = g_new0(struct hover, 1);
    h->view = GTK_WIDGET(view);
    h->window = w;
    g_object_set_data_full(G_OBJECT(h->view), "hover", h, hover_free);
    gtk_widget_set_has_tooltip(h->view, TRUE);
    g_signal_connect(h->view, "query-tooltip", G_CALLBACK(on_tooltip), h);
}
