/* debugger_live.c - a program that is started and recorded. SPDX-License-Identifier: MIT */
#include <gio/gio.h>
#include <string.h>

#include "gui/link/debugger_own.h"

char **debugger_live_words(struct debugger *d)
{
    const char *const words[] = {d->own->drdebug,
                                 "live",
                                 "-o",
                                 d->own->path,
                                 "--tty",
                                 d->own->tty,
                                 "--gdb-arg",
                                 "-i=mi3",
                                 "--gdb",
                                 d->own->gdb ? d->own->gdb : "gdb",
                                 "--",
                                 NULL};
    struct err err;
    char **argv = program_argv(&d->own->program, words, &err);
    if (!argv)
        debugger_complain(d, err.msg);
    return argv;
}

void debugger_run(struct debugger *d, const struct program *program, const char *tty)
{
    struct program copy = {0};
    char *path = program_recording(program, ""), *terminal = g_strdup(tty);
    if (program == &d->own->program)
        debugger_remember(d);
    g_clear_pointer(&d->own->again_at, g_free); /* it begins anew */
    program_copy(&copy, program);
    GPtrArray *again = g_steal_pointer(&d->own->again);
    debugger_close(d);
    program_deinit(&d->own->program);
    d->own->program = copy;
    g_free(d->own->tty);
    d->own->tty = terminal;
    d->own->again = again;
    d->own->path = path ? path : g_strdup("");
    session_take_live(&d->session, d->own->path, copy.command);
    debugger_tell(d, CHANGE_RECORDING);
    debugger_start_gdb(d);
}

const struct program *debugger_program(const struct debugger *d)
{
    return d->session.recording.live ? &d->own->program : NULL;
}

/* As a command of GDB's, which then tells full names that are there. */
static void substitute(struct debugger *d, const char *pair)
{
    const char *to = strchr(pair, '=');
    if (!to || to == pair || !to[1])
        return;
    char *from = g_strndup(pair, (size_t)(to - pair)), *from_word = mi_quote(from),
         *to_word = mi_quote(to + 1),
         *command = g_strdup_printf("-gdb-set substitute-path %s %s", from_word, to_word);
    gdb_send(d->gdb, GDB_COMMAND, command, NULL, NULL);
    g_free(command);
    g_free(to_word);
    g_free(from_word);
    g_free(from);
}

void debugger_set_sources(struct debugger *d)
{
    char **pairs = g_strsplit(d->own->places ? d->own->places : "", " ", -1);
    for (char **pair = pairs; *pair; pair++)
        substitute(d, *pair);
    g_strfreev(pairs);
}

void debugger_use_sources(struct debugger *d, const char *text)
{
    g_free(d->own->places);
    d->own->places = g_strdup(text);
    debugger_set_sources(d);
    if (d->session.state == SESSION_STOPPED) /* names that GDB has told may be others now */
        debugger_select_frame(d, d->session.frame.level);
}

void debugger_use_gdb(struct debugger *d, const char *gdb)
{
    g_free(d->own->gdb);
    d->own->gdb = gdb && *gdb ? g_strdup(gdb) : NULL;
}
