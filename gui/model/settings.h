/* settings.h - what the window remembers: recordings that were opened, where panes are, sizes.
 *
 * SPDX-License-Identifier: MIT
 *
 * In gui.ini of the user's configuration folder for drdebug. A file that cannot be read is an empty
 * one; what cannot be written is forgotten.
 */
#ifndef GUI_MODEL_SETTINGS_H
#define GUI_MODEL_SETTINGS_H

#include <glib.h>
#include <stdbool.h>

struct settings;

struct settings *settings_load(void);
void settings_free(struct settings *s); /* saves them first */
void settings_save(struct settings *s);

/* The newest first, those that are gone left out. To be freed with g_strfreev(). */
char **settings_recent(struct settings *s);
void settings_add_recent(struct settings *s, const char *path);

int settings_number(struct settings *s, const char *group, const char *key, int otherwise);
void settings_set_number(struct settings *s, const char *group, const char *key, int value);
char *settings_text(struct settings *s, const char *group,
                    const char *key); /* or NULL; to be freed */
void settings_set_text(struct settings *s, const char *group, const char *key, const char *value);

#endif
