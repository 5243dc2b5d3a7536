/* debugger_live.c - a program that is started and recorded. SPDX-License-Identifier: MIT */
#include <gio/gio.h>

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

void debugger_use_gdb(struct debugger *d, const char *gdb)
{
    g_free(d->own->gdb);
    d->own->gdb = gdb && *gdb ? g_strdup(gdb) : NULL;
}
