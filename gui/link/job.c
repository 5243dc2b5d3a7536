/* job.c - a drdebug that answers a question in a process of its own. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "gui/link/job.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <gio/gunixinputstream.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { PIECE = 1 << 16, OUT_MOST = 1 << 29 };

struct job {
    struct job_listener listener;
    GSubprocess *process;
    GInputStream *out, *err;
    GString *printed, *said;
    char out_piece[PIECE], err_piece[512];
    int pid, waits; /* how many of: output, errors, its end */
    bool cancelled, forgotten;
};

/* Its last line that is no progress, without `drdebug: `. To be freed by the caller. */
static char *complaint(const struct job *job)
{
    char **lines = g_strsplit_set(job->said->str, "\r\n", -1);
    GString *kept = g_string_new(NULL);
    for (char **line = lines; *line; line++) {
        const char *text =
            g_str_has_prefix(*line, "drdebug: ") ? *line + strlen("drdebug: ") : *line;
        if (*text && !strstr(text, " %\033[K") && strncmp(text, "\033[K", 3) != 0)
            g_string_append_printf(kept, "%s%s", kept->len ? "\n" : "", text);
    }
    g_strfreev(lines);
    if (!kept->len)
        g_string_assign(kept, "drdebug ended without an answer");
    char *text = g_utf8_make_valid(kept->str, -1);
    g_string_free(kept, TRUE);
    return text;
}

static void job_free(struct job *job)
{
    g_clear_object(&job->out);
    g_clear_object(&job->err);
    g_clear_object(&job->process);
    g_string_free(job->printed, TRUE);
    g_string_free(job->said, TRUE);
    g_free(job);
}

static void finish(struct job *job)
{
    if (--job->waits)
        return;
    bool good =
        g_subprocess_get_if_exited(job->process) && !g_subprocess_get_exit_status(job->process);
    char *words = good ? NULL : job->cancelled ? g_strdup("") : complaint(job);
    if (!job->forgotten)
        job->listener.done(job->listener.arg, job->printed->str, words);
    g_free(words);
    job_free(job);
}

/* `collecting the trace: 42 %` behind the last carriage return. */
static void tell_progress(struct job *job)
{
    const char *last = strrchr(job->said->str, '\r'), *end;
    if (!job->listener.progress || job->forgotten || !last || !(end = strstr(++last, "\033[K")))
        return;
    char *words = g_strndup(last, (size_t)(end - last));
    char *colon = strrchr(words, ':');
    int percent = colon && g_str_has_suffix(words, "%") ? atoi(colon + 1) : -1;
    job->listener.progress(job->listener.arg, percent, words);
    g_free(words);
}

static void read_on(struct job *job, GInputStream *from);

/* What is behind the last one waits for its end. */
static void tell_lines(struct job *job)
{
    char *begin = job->printed->str, *end;
    for (; (end = strchr(begin, '\n')); begin = end + 1) {
        *end = '\0';
        if (!job->forgotten)
            job->listener.line(job->listener.arg, begin);
    }
    g_string_erase(job->printed, 0, begin - job->printed->str);
}

static void on_read(GObject *source, GAsyncResult *result, void *arg)
{
    struct job *job = arg;
    GInputStream *from = G_INPUT_STREAM(source);
    gssize n = g_input_stream_read_finish(from, result, NULL);
    if (n <= 0) { /* a terminal whose other side is gone is an error */
        finish(job);
        return;
    }
    if (from == job->out) {
        if (job->printed->len < OUT_MOST)
            g_string_append_len(job->printed, job->out_piece, n);
        else
            job_cancel(job);
        if (job->listener.line)
            tell_lines(job);
    } else {
        g_string_append_len(job->said, job->err_piece, n);
        tell_progress(job);
    }
    read_on(job, from);
}

static void read_on(struct job *job, GInputStream *from)
{
    bool out = from == job->out;
    /* Much that comes as lines must not keep the window from being drawn. */
    int priority = out && job->listener.line ? G_PRIORITY_DEFAULT_IDLE : G_PRIORITY_DEFAULT;
    g_input_stream_read_async(from, out ? job->out_piece : job->err_piece,
                              out ? sizeof job->out_piece : sizeof job->err_piece, priority, NULL,
                              on_read, job);
}

static void on_end(GObject *source, GAsyncResult *result, void *arg)
{
    (void)source;
    g_subprocess_wait_finish(G_SUBPROCESS(source), result, NULL);
    finish(arg);
}

static void in_child(void *arg)
{
    (void)arg;
    setsid();
}

/* Both sides of a terminal, raw and wide. */
static int open_terminal(int side[2], struct err *err)
{
    struct winsize size = {.ws_row = 50, .ws_col = 400};
    struct termios mode;
    side[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (side[0] < 0 || grantpt(side[0]) || unlockpt(side[0]))
        return err_set(err, "no terminal: %s", strerror(errno));
    side[1] = open(ptsname(side[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (side[1] < 0 || tcgetattr(side[1], &mode))
        return err_set(err, "no terminal: %s", strerror(errno));
    cfmakeraw(&mode);
    tcsetattr(side[1], TCSANOW, &mode);
    ioctl(side[1], TIOCSWINSZ, &size);
    return 0;
}

struct job *job_new(const char *const argv[], const struct job_listener *listener, struct err *err)
{
    int side[2] = {-1, -1};
    GError *error = NULL;
    if (open_terminal(side, err)) {
        if (side[0] >= 0)
            close(side[0]);
        return NULL;
    }
    /* Its input stays open as long as it is wanted: what runs on another host ends by its end. */
    GSubprocessLauncher *launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE);
    g_subprocess_launcher_set_child_setup(launcher, in_child, NULL, NULL);
    g_subprocess_launcher_take_stderr_fd(launcher, side[1]);
    GSubprocess *process = g_subprocess_launcher_spawnv(launcher, argv, &error);
    g_object_unref(launcher);
    if (!process) {
        err_set(err, "%s", error->message);
        g_error_free(error);
        close(side[0]);
        return NULL;
    }
    struct job *job = g_new0(struct job, 1);
    job->listener = *listener;
    job->process = process;
    const char *number = g_subprocess_get_identifier(process); /* NULL: it has ended already */
    job->pid = number ? atoi(number) : 0;
    job->out = g_object_ref(g_subprocess_get_stdout_pipe(process));
    job->err = g_unix_input_stream_new(side[0], TRUE);
    job->printed = g_string_new(NULL);
    job->said = g_string_new(NULL);
    job->waits = 3;
    read_on(job, job->out);
    read_on(job, job->err);
    g_subprocess_wait_async(process, NULL, on_end, job);
    return job;
}

void job_cancel(struct job *job)
{
    job->cancelled = true;
    if (g_subprocess_get_identifier(
            job->process)) /* else it has ended, and its number may be another's */
        kill(-job->pid, SIGTERM);
}

void job_forget(struct job *job)
{
    if (!job)
        return;
    job->forgotten = true;
    job_cancel(job);
}
