/* settings.c - what the window remembers. SPDX-License-Identifier: MIT */
#include "gui/model/settings.h"

#include <string.h>

enum { RECENT_MOST = 12 };

struct settings {
    GKeyFile *file;
    char *path;
};

struct settings *settings_load(void)
{
    struct settings *s = g_new0(struct settings, 1);
    s->path = g_build_filename(g_get_user_config_dir(), "drdebug", "gui.ini", NULL);
    s->file = g_key_file_new();
    g_key_file_load_from_file(s->file, s->path, G_KEY_FILE_NONE, NULL);
    return s;
}

void settings_save(struct settings *s)
{
    char *folder = g_path_get_dirname(s->path);
    g_mkdir_with_parents(folder, 0700);
    g_free(folder);
    g_key_file_save_to_file(s->file, s->path, NULL);
}

void settings_free(struct settings *s)
{
    if (!s)
        return;
    settings_save(s);
    g_key_file_unref(s->file);
    g_free(s->path);
    g_free(s);
}

char **settings_recent(struct settings *s)
{
    GPtrArray *found = g_ptr_array_new();
    char **all = g_key_file_get_string_list(s->file, "recordings", "recent", NULL, NULL);
    for (char **path = all; path && *path; path++)
        if (**path != '/' || g_file_test(*path, G_FILE_TEST_EXISTS)) /* HOST:DIR is not asked */
            g_ptr_array_add(found, g_strdup(*path));
    g_strfreev(all);
    g_ptr_array_add(found, NULL);
    return (char **)g_ptr_array_free(found, FALSE);
}

void settings_add_recent(struct settings *s, const char *path)
{
    char **old = settings_recent(s);
    GPtrArray *now = g_ptr_array_new();
    g_ptr_array_add(now, (char *)path);
    for (char **one = old; *one && now->len < RECENT_MOST; one++)
        if (strcmp(*one, path) != 0)
            g_ptr_array_add(now, *one);
    g_key_file_set_string_list(s->file, "recordings", "recent", (const char *const *)now->pdata,
                               now->len);
    g_ptr_array_unref(now);
    g_strfreev(old);
    settings_save(s);
}

int settings_number(struct settings *s, const char *group, const char *key, int otherwise)
{
    return g_key_file_has_key(s->file, group, key, NULL)
               ? g_key_file_get_integer(s->file, group, key, NULL)
               : otherwise;
}

void settings_set_number(struct settings *s, const char *group, const char *key, int value)
{
    g_key_file_set_integer(s->file, group, key, value);
}

char *settings_text(struct settings *s, const char *group, const char *key)
{
    return g_key_file_get_string(s->file, group, key, NULL);
}

void settings_set_text(struct settings *s, const char *group, const char *key, const char *value)
{
    g_key_file_set_string(s->file, group, key, value);
}
