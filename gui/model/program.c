/* program.c - a program that is to be started. SPDX-License-Identifier: MIT */
#include "gui/model/program.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "gui/model/text.h"

void program_deinit(struct program *p)
{
    g_free(p->command);
    g_free(p->folder);
    g_free(p->environment);
    *p = (struct program){0};
}

void program_copy(struct program *to, const struct program *from)
{
    struct program made = {g_strdup(from->command), g_strdup(from->folder),
                           g_strdup(from->environment)};
    program_deinit(to);
    *to = made;
}

void program_take_words(struct program *p, char *const words[])
{
    GString *command = g_string_new(NULL);
    for (; *words; words++) {
        bool plain = **words && strspn(*words, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS
                                       "_-./=:,+@%") == strlen(*words);
        char *quoted = plain ? g_strdup(*words) : g_shell_quote(*words);
        g_string_append_printf(command, "%s%s", command->len ? " " : "", quoted);
        g_free(quoted);
    }
    program_deinit(p);
    p->command = g_string_free(command, FALSE);
    p->folder = g_get_current_dir();
    p->environment = g_strdup("");
}

/* NULL with err set: a quote has no end. No words: an empty list. */
static char **words_of(const char *text, struct err *err)
{
    char **words = NULL;
    GError *error = NULL;
    if (g_shell_parse_argv(text ? text : "", NULL, &words, &error))
        return words;
    if (g_error_matches(error, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING))
        words = g_new0(char *, 1);
    else
        err_set(err, "%s: %s", text, error->message);
    g_error_free(error);
    return words;
}

static void add_all(GPtrArray *to, const char *const words[])
{
    for (; *words; words++)
        g_ptr_array_add(to, g_strdup(*words));
}

/* env(1) sets both. */
static int add_place(GPtrArray *argv, const struct program *p, struct err *err)
{
    char **set = words_of(p->environment, err);
    if (!set)
        return -1;
    for (char **one = set; *one; one++)
        if (!strchr(*one, '=') || **one == '=' || **one == '-') {
            err_set(err, "%s: the environment is NAME=VALUE, with spaces between", *one);
            g_strfreev(set);
            return -1;
        }
    if (*set || (p->folder && *p->folder)) {
        g_ptr_array_add(argv, g_strdup("env"));
        if (p->folder && *p->folder) {
            g_ptr_array_add(argv, g_strdup("-C"));
            g_ptr_array_add(argv, g_strdup(p->folder));
        }
        add_all(argv, (const char *const *)set);
    }
    g_strfreev(set);
    return 0;
}

char **program_argv(const struct program *p, const char *const verb[], struct err *err)
{
    char **words = words_of(p->command, err);
    GPtrArray *argv;
    if (!words)
        return NULL;
    argv = g_ptr_array_new_with_free_func(g_free);
    if (!*words) {
        err_set(err, "No program is named");
    } else if (add_place(argv, p, err) == 0) {
        add_all(argv, verb);
        add_all(argv, (const char *const *)words);
        g_ptr_array_add(argv, NULL);
        g_strfreev(words);
        g_ptr_array_set_free_func(argv, NULL);
        return (char **)g_ptr_array_free(argv, FALSE);
    }
    g_strfreev(words);
    g_ptr_array_unref(argv);
    return NULL;
}

char *program_recording(const struct program *p, const char *kind)
{
    struct err err;
    char **words = words_of(p->command, &err), *path = NULL;
    char *here = p->folder && *p->folder ? g_strdup(p->folder) : g_get_current_dir();
    for (int i = 0; words && *words; i++) {
        char *number = i ? g_strdup_printf(".%d", i) : g_strdup("");
        char *name = g_strdup_printf("%s%s%s.pinball", text_base(*words), kind, number);
        path = g_build_filename(here, name, NULL);
        g_free(name);
        g_free(number);
        if (!g_file_test(path, G_FILE_TEST_EXISTS))
            break;
        g_clear_pointer(&path, g_free);
    }
    g_free(here);
    g_strfreev(words);
    return path;
}
