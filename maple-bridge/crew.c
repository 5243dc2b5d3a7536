/* crew.c - processes that run the program again and again. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "maple-bridge/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logger/recorder.h"
#include "pinball/shelf.h"
#include "pinball/writer.h"

enum { AGENDA_FD = 900 }; /* out of the program's way */

struct worker {
    pid_t pid;
    int to; /* jobs */
    int agenda_fd;
    struct agenda *agenda;
    bool busy;
};

struct crew {
    struct crew_options o;
    int workers;
    int from; /* outcomes */
    struct worker worker[CREW_MOST];
};

/* ---- in a worker ---- */

struct shift {
    const struct crew *crew;
    struct agenda *agenda;
    int number;
    int errors; /* the program's standard error */
    int input;  /* standard input as it was found */
    struct shelf *shelf;
    const struct crew_job *job;
    struct crew_outcome *out;
};

static int run_command(const char *command)
{
    int status = 0;
    pid_t pid = command ? fork() : 0;
    if (!command)
        return 0;
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid < 0 ? -1 : status;
}

/* The end of what the program wrote, and whether it is a report that counts. */
static bool read_errors(const struct shift *s)
{
    static const char *const reports[] = {"ERROR: AddressSanitizer", "WARNING: ThreadSanitizer",
                                          "ERROR: LeakSanitizer",
                                          "runtime error: ", "WARNING: MemorySanitizer"};
    enum { LOOK = 64 << 10 };
    static char text[LOOK + 1];
    struct stat st;
    off_t size = fstat(s->errors, &st) ? 0 : st.st_size, at = size > LOOK ? size - LOOK : 0;
    ssize_t n = pread(s->errors, text, LOOK, at);
    text[n > 0 ? n : 0] = '\0';
    size_t bytes = n > 0 ? (size_t)n : 0, tail = bytes >= CREW_TEXT ? bytes - CREW_TEXT + 1 : 0;
    memcpy(s->out->text, text + tail, bytes - tail);
    s->out->text[bytes - tail] = '\0';
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++)
        if (memmem(text, bytes, reports[i], strlen(reports[i])))
            return true;
    const char *match = s->crew->o.match;
    return match && memmem(text, bytes, match, strlen(match));
}

static enum crew_kind judge(const struct shift *s, int status)
{
    const bool reported = read_errors(s);
    if (s->agenda->done.verdict == AGENDA_CIRCLE)
        return CREW_CIRCLE;
    if (s->agenda->done.verdict == AGENDA_STUCK)
        return CREW_STUCK;
    if (s->crew->o.check)
        return run_command(s->crew->o.check) ? CREW_CHECK : CREW_PASSED;
    if (reported)
        return CREW_TEXT_MATCHED;
    if (s->crew->o.match)
        return CREW_PASSED;
    return WIFSIGNALED(status) ? CREW_SIGNAL : WEXITSTATUS(status) ? CREW_STATUS : CREW_PASSED;
}

static bool keeps(void *arg, int status)
{
    const struct shift *s = arg;
    s->out->kind = judge(s, status);
    return s->job->keep || s->out->kind != CREW_PASSED;
}

static void give_files(const struct shift *s)
{
    char link[32];
    struct stat st;
    int nothing = open("/dev/null", O_RDWR);
    int in = -1;
    if (s->input >= 0 && fstat(s->input, &st) == 0 && S_ISREG(st.st_mode)) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", s->input);
        in = open(link, O_RDONLY);
    }
    dup2(in >= 0 ? in : nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (ftruncate(s->errors, 0) == 0)
        lseek(s->errors, 0, SEEK_SET);
    dup2(s->errors, STDERR_FILENO);
    if (in > STDERR_FILENO)
        close(in);
    if (nothing > STDERR_FILENO)
        close(nothing);
}

static void work(struct shift *s)
{
    const struct crew_options *o = &s->crew->o;
    char dir[PATH_MAX], number[24];
    struct recorded result;
    struct err err = {.code = 0};
    const struct recording_trial trial = {
        .keeps = keeps, .arg = s, .cpu_ns = s->job->cpu_ns, .shelf = s->shelf};
    crew_place(s->crew, s->number, dir);
    struct recording what = {.version = o->version,
                             .dir = (const char *const[]){dir},
                             .path = o->path,
                             .argv = o->argv,
                             .options = o->engine,
                             .schedule = s->job->plain ? NULL : "maple",
                             .seed = AGENDA_FD,
                             .again = true,
                             .trial = &trial};
    snprintf(number, sizeof number, "%llu", (unsigned long long)s->job->run);
    setenv("DRDEBUG_RUN", number, 1);
    give_files(s);
    run_command(o->before);
    *s->out = (struct crew_outcome){.run = s->job->run, .worker = s->number};
    if (recorder_run(&what, &result, &err)) {
        s->out->failed = true;
        s->out->code = err.code;
        snprintf(s->out->text, sizeof s->out->text, "%s", err.msg);
        return;
    }
    s->out->wait_status = result.wait_status;
    s->out->used_ns = result.used_ns;
    s->out->threads = result.summary.threads;
    s->out->kept = !result.dropped;
    if (result.too_long)
        s->out->kind = CREW_LONG;
    if (result.stuck)
        s->out->kind = CREW_STUCK;
    summary_deinit(&result.summary);
    run_command(o->after);
}

_Noreturn static void be_worker(const struct crew *c, int number, int from, int to)
{
    struct crew_job job;
    struct crew_outcome out;
    struct shift s = {.crew = c,
                      .agenda = c->worker[number].agenda,
                      .number = number,
                      .input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, AGENDA_FD + 10),
                      .errors = memfd_create("errors", MFD_CLOEXEC),
                      .shelf = shelf_new(),
                      .job = &job,
                      .out = &out};
    setpgid(0, 0); /* keys of the terminal are the driver's */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    s.errors = fcntl(s.errors, F_DUPFD_CLOEXEC, AGENDA_FD + 10);
    dup2(c->worker[number].agenda_fd, AGENDA_FD);
    while (read(from, &job, sizeof job) == (ssize_t)sizeof job) {
        work(&s);
        if (write(to, &out, sizeof out) != (ssize_t)sizeof out)
            break;
    }
    _exit(0);
}

/* ---- in the driver ---- */

static int make_agenda(struct worker *w, struct err *err)
{
    w->agenda_fd = memfd_create("agenda", MFD_CLOEXEC);
    if (w->agenda_fd < 0 || ftruncate(w->agenda_fd, (off_t)((sizeof *w->agenda + 4095) & ~4095ul)))
        return err_set(err, "memfd: %m");
    w->agenda = mmap(NULL, sizeof *w->agenda, PROT_READ | PROT_WRITE, MAP_SHARED, w->agenda_fd, 0);
    return w->agenda == MAP_FAILED ? err_set(err, "mmap: %m") : 0;
}

static int hire(struct crew *c, int i, int results, struct err *err)
{
    struct worker *w = &c->worker[i];
    int jobs[2];
    if (make_agenda(w, err))
        return -1;
    if (pipe2(jobs, O_CLOEXEC))
        return err_set(err, "pipe: %m");
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        for (int k = 0; k < i; k++)
            close(c->worker[k].to);
        close(jobs[1]);
        be_worker(c, i, jobs[0], results);
    }
    close(jobs[0]);
    w->to = jobs[1];
    if (w->pid < 0)
        return err_set(err, "fork: %m");
    setpgid(w->pid, w->pid);
    return 0;
}

struct crew *crew_new(const struct crew_options *o, int workers, struct err *err)
{
    struct crew *c = calloc(1, sizeof *c);
    int results[2];
    if (!c || pipe2(results, O_CLOEXEC)) {
        free(c);
        err_set(err, "pipe: %m");
        return NULL;
    }
    c->o = *o;
    c->from = results[0];
    for (int i = 0; i < workers && i < CREW_MOST; i++) {
        c->workers = i + 1;
        if (hire(c, i, results[1], err)) {
            close(results[1]);
            crew_free(c);
            return NULL;
        }
    }
    close(results[1]);
    return c;
}

void crew_free(struct crew *c)
{
    char dir[PATH_MAX];
    if (!c)
        return;
    for (int i = 0; i < c->workers; i++) {
        struct worker *w = &c->worker[i];
        if (w->pid <= 0)
            continue;
        if (w->busy)
            kill(-w->pid, SIGKILL);
        close(w->to);
        while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        crew_place(c, i, dir);
        if (access(dir, F_OK) == 0)
            writer_remove(dir);
        munmap(w->agenda, sizeof *w->agenda);
        close(w->agenda_fd);
    }
    close(c->from);
    free(c);
}

int crew_size(const struct crew *c)
{
    return c->workers;
}

bool crew_is_free(const struct crew *c, int worker)
{
    return !c->worker[worker].busy;
}

struct agenda *crew_agenda(const struct crew *c, int worker)
{
    return c->worker[worker].agenda;
}

int crew_start(struct crew *c, int worker, const struct crew_job *job, struct err *err)
{
    struct worker *w = &c->worker[worker];
    if (write(w->to, job, sizeof *job) != (ssize_t)sizeof *job)
        return err_set(err, "a worker is gone");
    w->busy = true;
    return 0;
}

int crew_wait(struct crew *c, struct crew_outcome *out, struct err *err)
{
    ssize_t n = read(c->from, out, sizeof *out);
    if (n < 0 && errno == EINTR)
        return 0;
    if (n != (ssize_t)sizeof *out || out->worker < 0 || out->worker >= c->workers)
        return err_set(err, "the workers are gone");
    c->worker[out->worker].busy = false;
    return 1;
}

void crew_place(const struct crew *c, int worker, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s.trial.%d.%d", c->o.dir, (int)getppid(), worker);
    if (c->worker[worker].pid > 0) /* the driver's own view */
        snprintf(out, PATH_MAX, "%s.trial.%d.%d", c->o.dir, (int)getpid(), worker);
}
