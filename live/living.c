/* living.c - a program that runs, is recorded, and obeys a debugger. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "live/living.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pinball/writer.h"

/* What the recorder's process says; it is ours, and not the program's. */
struct report {
    pid_t program;
    bool done;   /* all below is filled in */
    bool failed; /* the program was not started: `err` */
    int status;
    struct err err;
};

struct living {
    struct inbox *inbox;
    struct report *report; /* shared with the recorder */
    pid_t recorder;        /* 0: it has ended */
    int status;            /* the program's, when it is over */
    bool stopped;          /* it waits for orders */
    bool left;
    struct mailbox_stop stop;
    struct talk talk;
};

/* ---- the recorder's process ---- */

static void note_program(void *arg, pid_t program)
{
    struct report *report = arg;
    __atomic_store_n(&report->program, program, __ATOMIC_RELEASE);
}

/* What this verb does to signals is not for the program. */
static void reset_signals(void)
{
    static const int changed[] = {SIGINT, SIGPIPE, SIGTERM, SIGHUP, SIGTTOU, SIGTTIN};
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++)
        signal(changed[i], SIG_DFL);
}

/* The part that would have come next. */
static void remove_empty(const struct recording *what, const struct recorded *out)
{
    for (size_t i = 0; what->region && i < recorder_parts(what); i++)
        if (out[i].made && !out[i].begun)
            writer_remove(what->dir[i]);
}

_Noreturn static void record(const struct recording *what, struct report *report, const int io[3])
{
    struct recorded out[TRIGGER_PARTS];
    int high[3];
    reset_signals();
    setpgid(0, 0);
    for (int i = 0; i < 3; i++)
        high[i] = dup(io[i]);
    for (int i = 0; i < 3; i++)
        if (dup2(high[i], i) < 0)
            _exit(1);
    close_range(3, (unsigned)what->box_fd - 1, 0); /* whoever is at their other end hears of it */
    close_range((unsigned)what->box_fd + 1, ~0u, 0);
    report->failed = recorder_run(what, out, &report->err) != 0;
    report->status = out[0].wait_status;
    if (!report->failed)
        remove_empty(what, out);
    __atomic_store_n(&report->done, true, __ATOMIC_RELEASE);
    _exit(0);
}

static int start_recorder(struct living *l, const struct recording *what, const int io[3],
                          struct err *err)
{
    struct recording own = *what;
    own.box_fd = inbox_fd(l->inbox);
    own.debugger = getpid();
    own.started = note_program;
    own.arg = l->report;
    fflush(NULL);
    l->recorder = fork();
    if (l->recorder == 0)
        record(&own, l->report, io);
    if (l->recorder < 0) {
        l->recorder = 0;
        return err_set(err, "fork: %s", strerror(errno));
    }
    setpgid(l->recorder, l->recorder);
    return 0;
}

/* Has the recorder ended? Then so has the program, or nothing is known of it. */
static bool look_after(struct living *l, bool wait)
{
    if (!l->recorder)
        return true;
    if (waitpid(l->recorder, NULL, wait ? 0 : WNOHANG) != l->recorder)
        return false;
    l->recorder = 0;
    l->stopped = false;
    l->status = __atomic_load_n(&l->report->done, __ATOMIC_ACQUIRE) ? l->report->status : SIGKILL;
    return true;
}

/* ---- the conversation ---- */

static int gone(const struct living *l, struct err *err)
{
    if (__atomic_load_n(&l->report->done, __ATOMIC_ACQUIRE))
        return err_set(err, "the program has ended");
    return err_set(err, "the recorder was killed; the program goes on without being recorded, or "
                        "has ended");
}

/* Until it says `wanted`: TELL_STOP or TELL_DONE. */
static int serve(struct living *l, enum mailbox_ask wanted, const struct living_waiter *waiter,
                 struct err *err)
{
    struct inbox_message m;
    for (;;) {
        if (!inbox_wait(l->inbox)) {
            if (look_after(l, false) && !inbox_ours(l->inbox))
                return gone(l, err);
            if (waiter && waiter->interrupted && waiter->interrupted(waiter->arg))
                inbox_pause(l->inbox, true);
            if (waiter && waiter->meanwhile)
                waiter->meanwhile(waiter->arg);
            continue;
        }
        if (inbox_take(l->inbox, &m, err))
            return -1;
        if (m.ask == TELL_STOP)
            l->stop = *m.stop;
        if (m.ask == wanted)
            return 0;
        if (m.ask == TELL_STOP || m.ask == TELL_DONE)
            return err_set(err, "the program talks nonsense");
        inbox_go_on(l->inbox);
    }
}

static int order(void *arg, const struct inbox_order *what, struct err *err)
{
    struct living *l = arg;
    if (!l->stopped)
        return err_set(err, "the program does not stand still");
    inbox_order(l->inbox, what);
    return serve(l, TELL_DONE, NULL, err);
}

int living_run(struct living *l, const struct mailbox_run *how, const struct living_waiter *waiter,
               struct err *err)
{
    const struct inbox_order run = {.what = DO_RUN, .data = how, .bytes = sizeof *how};
    if (!l->stopped)
        return gone(l, err);
    inbox_pause(l->inbox, false); /* it may have stopped while it was being asked to */
    l->stopped = false;
    inbox_order(l->inbox, &run);
    if (serve(l, TELL_STOP, waiter, err)) {
        int status;
        return living_over(l, &status) ? 0 : -1;
    }
    l->stopped = true;
    return 0;
}

bool living_waits(struct living *l)
{
    return !inbox_ours(l->inbox) && !look_after(l, false);
}

void living_flush_soon(struct living *l)
{
    inbox_flush(l->inbox);
}

const struct mailbox_stop *living_stopped(const struct living *l)
{
    return &l->stop;
}

bool living_over(struct living *l, int *status)
{
    if (l->recorder)
        look_after(l, false);
    *status = l->status;
    return !l->recorder;
}

pid_t living_pid(const struct living *l)
{
    return __atomic_load_n(&l->report->program, __ATOMIC_ACQUIRE);
}

pid_t living_group(const struct living *l)
{
    return l->recorder;
}

const struct talk *living_talk(struct living *l)
{
    return &l->talk;
}

int living_flush(struct living *l, struct living_log *log, struct err *err)
{
    if (order(l, &(struct inbox_order){.what = DO_FLUSH}, err))
        return -1;
    *log = (struct living_log){inbox_result(l->inbox, 0), (uint32_t)inbox_result(l->inbox, 1),
                               (uint32_t)inbox_result(l->inbox, 2)};
    return 0;
}

int living_record(struct living *l, bool on, struct err *err)
{
    if (order(l, &(struct inbox_order){.what = DO_RECORD, .arg = {on}}, err))
        return -1;
    switch (inbox_result(l->inbox, 0)) {
    case TRIGGER_MET:
        return 1;
    case TRIGGER_LATER:
        return 0;
    case TRIGGER_ALREADY:
        return err_set(err, on ? "the program is being recorded already"
                               : "the program is not being recorded");
    default:
        return err_set(err,
                       "no more of this run can be recorded: it has ended, or there are %d "
                       "parts, or the recorder is gone",
                       TRIGGER_PARTS);
    }
}

int living_terminal(struct living *l, const char *path, struct err *err)
{
    const struct inbox_order to = {.what = DO_TERMINAL, .data = path, .bytes = strlen(path) + 1};
    bool done;
    if (order(l, &to, err) || inbox_done(l->inbox, &done, err))
        return -1;
    return done ? 0 : err_set(err, "%s: the program cannot open it", path);
}

void living_leave(struct living *l)
{
    if (l->stopped)
        inbox_order(l->inbox, &(struct inbox_order){.what = DO_LEAVE});
    l->stopped = false;
    l->left = true;
}

void living_kill(struct living *l)
{
    const pid_t program = living_pid(l);
    if (l->recorder && program > 0)
        kill(program, SIGKILL); /* it is the recorder's child, and not waited for yet */
    if (l->recorder)
        look_after(l, true);
}

/* ---- making ---- */

struct living *living_start(const struct recording *what, const int io[3], struct err *err)
{
    struct living *l = calloc(1, sizeof *l);
    void *shared =
        mmap(NULL, sizeof *l->report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!l || shared == MAP_FAILED) {
        free(l);
        err_set(err, "no memory");
        return NULL;
    }
    l->report = shared;
    if (!(l->inbox = inbox_new(false, err)))
        goto fail;
    l->talk = (struct talk){l->inbox, order, l};
    if (start_recorder(l, what, io, err))
        goto fail;
    if (serve(l, TELL_STOP, NULL, err)) {
        if (!l->recorder && l->report->failed)
            *err = l->report->err;
        goto fail;
    }
    l->stopped = true;
    return l;
fail:
    living_free(l);
    return NULL;
}

void living_free(struct living *l)
{
    if (!l)
        return;
    if (!l->left)
        living_kill(l);
    inbox_free(l->inbox);
    munmap(l->report, sizeof *l->report);
    free(l);
}
