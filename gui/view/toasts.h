/* toasts.h - a few words over the window's middle, for some seconds.
 *
 * SPDX-License-Identifier: MIT
 *
 * libadwaita's own (1.2) use what they have freed, when one that took another's place is dismissed
 * while it comes in.
 */
#ifndef GUI_VIEW_TOASTS_H
#define GUI_VIEW_TOASTS_H

#include <gtk/gtk.h>

struct toasts;

/* They live as long as the overlay does. */
struct toasts *toasts_new(GtkOverlay *overlay);
/* Text of anybody: it is never markup. What is shown already or waits is not added again. */
void toasts_add(struct toasts *t, const char *text);

#endif
