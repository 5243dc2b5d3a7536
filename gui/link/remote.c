/* remote.c - a recording that is on another host. SPDX-License-Identifier: MIT
 *
 * 1. What is started there is a shell's script, which gets its words as $1, $2, ...: the login
 * shell of that host, whichever it is, sees nothing but words in single quotes.
 * 2. Without a terminal, a host does not end what runs when the connection is closed. So each
 * script has a reader of its own of the connection's input, which ends the whole process group when
 * that is closed.
 * 3. ssh has no terminal here either: what it asks, it asks in a window (ssh-askpass) or not at
 * all.
 */
#include "gui/link/remote.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MOST = 400, WORDS_MOST = 2000, SOCKET_MOST = 80 };

/* Where drdebug may be though a login shell that is not asked for a terminal does not say so. */
#define PATHS "PATH=$PATH:$HOME/.local/bin:/usr/local/bin; export PATH; "

static const char keep_script[] =
    PATHS "if command -v drdebug >/dev/null; then echo \"drdebug-link $(drdebug --version 2>&1)\"; "
          "else echo drdebug-link none; fi; exec cat >/dev/null";

static const char job_script[] =
    PATHS "DRDEBUG_PROGRESS=1; export DRDEBUG_PROGRESS; exec 3<&0; "
          "(cat <&3; kill -s TERM 0) >/dev/null 2>&1 & exec 3<&- \"$@\" </dev/null";

/* An interrupt is for GDB, not for what reads its input. */
static const char gdb_script[] = PATHS
    "trap : INT; echo \"=remote,pid=\\\"$$\\\"\"; "
    "(trap '' INT; cat; exec >&-; sleep 2; kill -s TERM 0) | (trap : INT; \"$@\"; kill -s TERM 0)";

static const char interrupt_script[] = "kill -s INT -- \"-$1\"";

struct remote {
    struct remote_listener listener;
    char *host, *folder, *socket; /* of the connection that is shared; NULL: none is */
    GSubprocess *process;
    GDataInputStream *out, *err;
    GString *words; /* what ssh has said */
    bool connected, gone;
    int references, waits; /* waits: how many of: output, errors */
};

bool remote_is(const char *text, char **host, char **path)
{
    const char *bracket = *text == '[' ? strchr(text, ']') : NULL;
    const char *colon = strchr(bracket ? bracket : text, ':'), *slash = strchr(text, '/');
    if (!colon || colon == text || (slash && slash < colon) || *text == '-' ||
        g_file_test(text, G_FILE_TEST_EXISTS))
        return false;
    if (!path)
        return true;
    const char *from = bracket ? text + 1 : text, *rest = colon + 1;
    *host = g_strndup(from, (gsize)((bracket ? bracket : colon) - from));
    *path = g_strdup(g_str_has_prefix(rest, "~/") ? rest + 2 : rest); /* it begins at home */
    return true;
}

/* ---- what is started ---- */

static void add_options(const struct remote *r, GPtrArray *argv, bool keeps)
{
    const char *const words[] = {"ssh",
                                 "-T",
                                 "-x",
                                 "-o",
                                 "RemoteCommand=none",
                                 "-o",
                                 "ClearAllForwardings=yes",
                                 "-o",
                                 "ConnectTimeout=30",
                                 "-o",
                                 "ServerAliveInterval=15",
                                 "-o",
                                 "ServerAliveCountMax=3",
                                 "-o",
                                 keeps && r->socket ? "ControlMaster=yes" : "ControlMaster=no",
                                 "-o",
                                 "ControlPersist=no",
                                 "-S",
                                 r->socket ? r->socket : "none",
                                 "--",
                                 r->host};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        g_ptr_array_add(argv, g_strdup(words[i]));
}

/* A word for any login shell. */
static void put_word(GString *out, const char *word)
{
    g_string_append(out, " '");
    for (; *word; word++)
        if (*word == '\'')
            g_string_append(out, "'\\''");
        else
            g_string_append_c(out, *word);
    g_string_append_c(out, '\'');
}

static char **script_words(const struct remote *r, const char *script, const char *const words[],
                           bool keeps)
{
    GPtrArray *argv = g_ptr_array_new();
    GString *line = g_string_new("exec sh -c");
    put_word(line, script);
    put_word(line, "sh");
    for (; *words; words++)
        put_word(line, *words);
    add_options(r, argv, keeps);
    g_ptr_array_add(argv, g_string_free(line, FALSE));
    g_ptr_array_add(argv, NULL);
    return (char **)g_ptr_array_free(argv, FALSE);
}

char **remote_words(const struct remote *r, enum remote_use use, const char *const words[])
{
    return script_words(r, use == REMOTE_GDB ? gdb_script : job_script, words, false);
}

void remote_interrupt(const struct remote *r, const char *pid)
{
    const char *const words[] = {pid, NULL};
    char **argv = script_words(r, interrupt_script, words, false);
    GSubprocess *process = g_subprocess_newv(
        (const char *const *)argv,
        G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);
    g_clear_object(&process); /* it lives on until it has ended */
    g_strfreev(argv);
}

/* ---- the connection ---- */

static void unref(struct remote *r)
{
    if (--r->references)
        return;
    g_clear_object(&r->out);
    g_clear_object(&r->err);
    g_clear_object(&r->process);
    g_string_free(r->words, TRUE);
    g_free(r->socket);
    g_free(r->folder);
    g_free(r->host);
    g_free(r);
}

static void add_words(struct remote *r, const char *line)
{
    char *valid = g_utf8_make_valid(line, -1);
    if (r->words->len < WORDS_MOST && *valid)
        g_string_append_printf(r->words, "%s%.*s", r->words->len ? "\n" : "", LINE_MOST, valid);
    g_free(valid);
}

/* Ends the connection; it is told when it has ended. */
static void refuse(struct remote *r, const char *words)
{
    g_string_assign(r->words, words);
    g_subprocess_force_exit(r->process);
}

/* The first line that is the script's own says what is there. */
static void take_line(struct remote *r, const char *line)
{
    static const char mine[] = "drdebug " DRDEBUG_VERSION;
    const char *told = g_str_has_prefix(line, "drdebug-link ") ? line + 13 : NULL;
    char *words;
    if (r->connected)
        return;
    if (!told)
        words = g_strdup_printf(
            "The login shell of %s prints text of its own (%.60s): that would be taken for an "
            "answer. It must be silent where there is no terminal.",
            r->host, line);
    else if (strcmp(told, "none") == 0)
        words = g_strdup_printf(
            "There is no drdebug on %s: neither on its path nor in ~/.local/bin or /usr/local/bin.",
            r->host);
    else if (strcmp(told, mine) != 0)
        words = g_strdup_printf("%s has %.60s, this machine %s: both must be the same version.",
                                r->host, told, mine);
    else {
        r->connected = true;
        g_string_truncate(r->words, 0); /* what ssh said on its way, as of a new key of the host */
        r->listener.connected(r->listener.arg);
        return;
    }
    char *valid = g_utf8_make_valid(words, -1);
    refuse(r, valid);
    g_free(valid);
    g_free(words);
}

static void end(struct remote *r)
{
    bool was = r->connected;
    char *said = g_strdup(r->words->str);
    r->connected = false;
    g_clear_object(&r->out);
    g_clear_object(&r->err);
    g_clear_object(&r->process);
    if (!r->gone)
        r->listener.lost(r->listener.arg, *said || was ? said : "ssh ended without a word");
    g_free(said);
}

static void read_on(struct remote *r, GDataInputStream *from);

static void on_line(GObject *source, GAsyncResult *result, void *arg)
{
    struct remote *r = arg;
    GDataInputStream *from = G_DATA_INPUT_STREAM(source);
    char *line = g_data_input_stream_read_line_finish(from, result, NULL, NULL);
    if (line && !r->gone && from == r->out)
        take_line(r, line);
    else if (line && !r->gone)
        add_words(r, line);
    if (line)
        read_on(r, from);
    else if (--r->waits == 0)
        end(r);
    g_free(line);
    unref(r);
}

static void read_on(struct remote *r, GDataInputStream *from)
{
    r->references++;
    g_data_input_stream_read_line_async(from, G_PRIORITY_DEFAULT, NULL, on_line, r);
}

/* No terminal: what waits for an answer there would wait for ever. */
static void in_child(void *arg)
{
    (void)arg;
    setsid();
}

int remote_connect(struct remote *r, struct err *err)
{
    const char *const nothing[] = {NULL};
    char **argv = script_words(r, keep_script, nothing, true);
    GError *error = NULL;
    GSubprocessLauncher *launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                  G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_subprocess_launcher_set_child_setup(launcher, in_child, NULL, NULL);
    r->process = g_subprocess_launcher_spawnv(launcher, (const char *const *)argv, &error);
    g_object_unref(launcher);
    g_strfreev(argv);
    if (!r->process) {
        err_set(err, "ssh is needed to reach %s, and cannot be started: %s", r->host,
                error->message);
        g_error_free(error);
        return -1;
    }
    g_string_truncate(r->words, 0);
    r->out = g_data_input_stream_new(g_subprocess_get_stdout_pipe(r->process));
    r->err = g_data_input_stream_new(g_subprocess_get_stderr_pipe(r->process));
    r->waits = 2;
    read_on(r, r->out);
    read_on(r, r->err);
    return 0;
}

struct remote *remote_new(const char *host, const struct remote_listener *listener)
{
    struct remote *r = g_new0(struct remote, 1);
    r->listener = *listener;
    r->host = g_strdup(host);
    r->words = g_string_new(NULL);
    r->references = 1;
    r->folder = g_dir_make_tmp("drdebug-gui-XXXXXX", NULL);
    r->socket = r->folder ? g_build_filename(r->folder, "ssh", NULL) : NULL;
    if (r->socket && strlen(r->socket) > SOCKET_MOST) /* its name would not fit */
        g_clear_pointer(&r->socket, g_free);
    return r;
}

void remote_free(struct remote *r)
{
    if (!r)
        return;
    r->gone = true;
    if (r->process)
        g_subprocess_force_exit(r->process);
    if (r->socket)
        g_unlink(r->socket);
    if (r->folder)
        g_rmdir(r->folder);
    unref(r);
}

const char *remote_host(const struct remote *r)
{
    return r->host;
}

bool remote_is_connected(const struct remote *r)
{
    return r->connected;
}
