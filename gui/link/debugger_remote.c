/* debugger_remote.c - a recording of another host, and sources wherever the recording is.
 * SPDX-License-Identifier: MIT */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "gui/link/debugger_own.h"

#define SOURCE_MOST   33554432
#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)

const char *debugger_host(const struct debugger *d)
{
    return d->own->remote ? remote_host(d->own->remote) : NULL;
}

bool debugger_is_connected(const struct debugger *d)
{
    return !d->own->remote || remote_is_connected(d->own->remote);
}

char *debugger_path_there(const struct debugger *d, const char *spec)
{
    char *host, *path;
    if (!d->own->remote || !remote_is(spec, &host, &path))
        return g_strdup(spec);
    g_free(host);
    return path;
}

char **debugger_words(struct debugger *d, enum remote_use use, const char *const words[])
{
    char **copy = g_strdupv((char **)words);
    if (!d->own->remote)
        return copy;
    if (strcmp(*copy, d->own->drdebug) == 0) { /* the host has its own */
        g_free(*copy);
        *copy = g_strdup("drdebug");
    }
    char **argv = remote_words(d->own->remote, use, (const char *const *)copy);
    g_strfreev(copy);
    return argv;
}

/* ---- the connection ---- */

static void on_connected(void *arg)
{
    struct debugger *d = arg;
    if (d->session.recording.path)
        debugger_start_gdb(d);
    else
        debugger_ask_info(d);
}

/* GDB and all questions are gone with it, or are of no use. */
static void on_lost(void *arg, const char *words)
{
    struct debugger *d = arg;
    struct gdb *gdb = g_steal_pointer(&d->gdb);
    bool open = d->session.recording.path != NULL;
    if (*words) {
        char *text = g_strdup_printf("%s: %s", remote_host(d->own->remote), words);
        debugger_complain(d, text);
        g_free(text);
    }
    gdb_free(gdb);
    job_forget(d->own->opening);
    d->own->opening = NULL;
    g_clear_pointer(&d->own->remote_gdb, g_free);
    debugger_forget_work(d);
    d->session.state = open ? SESSION_LOST : SESSION_NONE;
    debugger_tell(d, open ? CHANGE_STATE : CHANGE_RECORDING); /* GDB's end may have been told */
    debugger_tell(d, CHANGE_WORK);
}

void debugger_connect(struct debugger *d)
{
    struct remote_listener listener = {.connected = on_connected, .lost = on_lost, .arg = d};
    struct err err;
    char *host, *path;
    if (!d->own->remote && remote_is(d->own->spec, &host, &path)) {
        d->own->remote = remote_new(host, &listener);
        d->own->path = path;
        g_free(host);
    }
    debugger_set_state(d, SESSION_LOADING);
    if (!*d->own->path)
        on_lost(d, "no recording is named: HOST:DIR");
    else if (remote_connect(d->own->remote, &err))
        on_lost(d, err.msg);
}

/* ---- sources ---- */

/* A question to the host that waits in no queue: what is shown next is its answer. */
struct fetch {
    struct debugger *d;
    struct job *job;
    char *path;     /* whose text is asked for; NULL: which of several frames has a source */
    unsigned stops; /* when it was asked */
};

void debugger_fetch_free(void *arg)
{
    struct fetch *f = arg;
    job_forget(f->job);
    g_free(f->path);
    g_free(f);
}

static void take_text(struct fetch *f, const char *text)
{
    struct debugger *d = f->d;
    g_hash_table_insert(d->own->sources, g_strdup(f->path), g_strdup(text));
    debugger_tell(d, CHANGE_SOURCE);
}

static void take_frame(struct fetch *f, const char *number)
{
    unsigned level = (unsigned)g_ascii_strtoull(number, NULL, 10);
    if (level > 0 && f->stops == f->d->own->stops)
        debugger_select_frame(f->d, level);
}

static void on_answer(void *arg, const char *out, const char *complaint)
{
    struct fetch *f = arg;
    f->job = NULL;
    if (f->path)
        take_text(f, complaint ? "" : out);
    else if (!complaint)
        take_frame(f, out);
    g_ptr_array_remove(f->d->own->fetches, f);
}

static void ask_host(struct debugger *d, const char *path, const char *script, GPtrArray *words)
{
    static const char *const shell[] = {"sh", "-c"};
    struct fetch *f = g_new0(struct fetch, 1);
    struct job_listener listener = {.done = on_answer, .arg = f};
    struct err err;
    *f = (struct fetch){.d = d, .path = g_strdup(path), .stops = d->own->stops};
    g_ptr_array_insert(words, 0, (char *)shell[0]);
    g_ptr_array_insert(words, 1, (char *)shell[1]);
    g_ptr_array_insert(words, 2, (char *)script);
    g_ptr_array_insert(words, 3, (char *)shell[0]);
    g_ptr_array_add(words, NULL);
    char **argv = debugger_words(d, REMOTE_JOB, (const char *const *)words->pdata);
    g_ptr_array_add(d->own->fetches, f);
    if (!(f->job = job_new((const char *const *)argv, &listener, &err)))
        on_answer(f, "", err.msg);
    g_strfreev(argv);
}

/* The text of a file here; NULL: it cannot be read. */
static char *read_here(const char *path)
{
    GStatBuf about;
    char *text = NULL;
    if (g_stat(path, &about) || !S_ISREG(about.st_mode) || about.st_size > SOURCE_MOST ||
        !g_file_get_contents(path, &text, NULL, NULL))
        return NULL;
    return text;
}

char *debugger_source(struct debugger *d, const char *path, bool *later)
{
    static const char script[] = "test -f \"$1\" && exec head -c " TEXT(SOURCE_MOST) " -- \"$1\"";
    *later = false;
    if (!d->own->remote)
        return read_here(path);
    const char *text = g_hash_table_lookup(d->own->sources, path);
    if (text)
        return *text ? g_strdup(text) : NULL;
    *later = true;
    for (unsigned i = 0; i < d->own->fetches->len; i++)
        if (g_strcmp0(((struct fetch *)g_ptr_array_index(d->own->fetches, i))->path, path) == 0)
            return NULL;
    GPtrArray *words = g_ptr_array_new();
    g_ptr_array_add(words, (char *)path);
    ask_host(d, path, script, words);
    g_ptr_array_unref(words);
    return NULL;
}

void debugger_find_source(struct debugger *d, GPtrArray *paths)
{
    static const char script[] =
        "n=0; for f; do if test -f \"$f\"; then echo $n; exit; fi; n=$((n + 1)); done";
    if (d->own->remote) {
        ask_host(d, NULL, script, paths);
        return;
    }
    for (unsigned i = 0; i < paths->len; i++)
        if (g_file_test(g_ptr_array_index(paths, i), G_FILE_TEST_IS_REGULAR)) {
            if (i > 0)
                debugger_select_frame(d, i);
            return;
        }
}

void debugger_forget_sources(struct debugger *d)
{
    g_ptr_array_set_size(d->own->fetches, 0);
    g_hash_table_remove_all(d->own->sources);
}
