/* live.c - a running program with its history, for a debugger.
 *
 * SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. While `past` is false now is where the living program stands, and all state is its own. While
 *    it is true the program stands still, and now is the timeline's.
 * 2. The timeline is brought to the living end (sync) before anything is asked of it from there.
 *    It then ends exactly there: the log's last record says where that is.
 * 3. The program may be recorded in parts. The timeline is of one of them; where the program is not
 *    recorded there is a gap between the timeline's end and now, and only MOVE_TO_RECORDED leads
 *    over it. Forwards out of the past it is passed like any end.
 */
#define _GNU_SOURCE
#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debug/debuggee_ops.h"
#include "debug/stoplist.h"
#include "live/living.h"
#include "live/terminal.h"
#include "pinball/follow.h"
#include "replayer/timeline.h"
#include "replayer/timeline_debuggee.h"

struct live {
    struct live_options options;
    struct living *living;
    struct terminal terminal;
    struct pinball *pinball;
    struct timeline *timeline; /* NULL: none, and no_history says why */
    struct debuggee history;   /* the same */
    struct err no_history;
    struct trigger_region region; /* the parts: all are asked for */
    char *dir[TRIGGER_PARTS];
    char *path;            /* the timeline's recording, from the root */
    uint32_t opened;       /* the timeline is of this part, from 1 on; 0: none */
    struct living_log log; /* as the program told last */
    bool later;            /* a part begins or ends when the program goes on */
    uint64_t synced;       /* records that the timeline was brought to the end of */
    bool follows;          /* the timeline runs behind the program, which runs, too ... */
    bool asked;            /* ... and somebody wants the program to stop */
    uint64_t followed_ns;  /* when it last came to the log's end */
    struct stoplist stops;
    uint64_t given;                  /* serial of what the program was told to stop at */
    bool past, returned;             /* it was in the past since the program stopped */
    bool over;                       /* the program has ended */
    struct debuggee_stop last;       /* the living one's */
    struct debuggee_program program; /* the living one, as its first stop had it; ours */
};

/* ---- history ---- */

/* Waits until the recorder has written so much. */
static int refresh(struct live *l, uint64_t records, struct err *err)
{
    const struct timespec moment = {0, 1000000};
    int status;
    while (pinball_records(l->pinball) < records) {
        const bool over = living_over(l->living, &status);
        int more = follow_refresh(l->pinball, err);
        if (more < 0)
            return -1;
        if (pinball_records(l->pinball) >= records)
            break;
        if (over)
            return err_set(err, "the recorder has ended, and what it recorded last is missing");
        nanosleep(&moment, NULL);
    }
    return 0;
}

static void say(void *arg, const char *line)
{
    const struct live *l = arg;
    if (l->options.listener.message)
        l->options.listener.message(l->options.listener.arg, line);
}

static bool is_asked(struct live *l)
{
    const struct debuggee_listener *to = &l->options.listener;
    return to->interrupted && to->interrupted(to->arg);
}

/* Asked by the timeline while it moves. */
static bool leaves_history(void *arg)
{
    struct live *l = arg;
    if (!l->follows)
        return is_asked(l);
    l->asked = l->asked || is_asked(l);
    return l->asked || !living_waits(l->living);
}

static bool stops_waiting(void *arg)
{
    struct live *l = arg;
    const bool asked = l->asked || is_asked(l);
    l->asked = false;
    return asked;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* While the program runs, its history is replayed behind it, so that the first way back is short.
 * What fails here is said when somebody goes back. */
static void follow(void *arg)
{
    enum { APART_NS = 200000000 };
    struct live *l = arg;
    struct debuggee_stop stop;
    struct err err;
    if (timeline_is_at_end(l->timeline)) {
        if (now_ns() - l->followed_ns < APART_NS)
            return;
        l->followed_ns = now_ns();
        const int more = follow_refresh(l->pinball, &err);
        living_flush_soon(l->living); /* for the next time */
        if (more <= 0)
            return;
        timeline_grown(l->timeline);
    }
    l->follows = true;
    timeline_goto_end(l->timeline, &stop, &err);
    l->follows = false;
}

static bool is_recorded(const struct live *l)
{
    return l->log.begun > l->log.ended;
}

/* The timeline ends before now. */
static bool is_gap(const struct live *l)
{
    return l->opened <= l->log.ended;
}

static void close_history(struct live *l)
{
    debuggee_close(&l->history); /* the timeline, too */
    l->timeline = NULL;
    pinball_close(l->pinball);
    l->pinball = NULL;
    free(l->path);
    l->path = NULL;
    l->opened = 0;
    l->synced = 0;
}

/* The part that began last has it. */
static int open_history(struct live *l, struct err *err)
{
    const char *dir = l->dir[l->log.begun - 1];
    close_history(l);
    l->pinball = follow_open(dir, err);
    if (!l->pinball || (is_recorded(l) && refresh(l, l->log.records, err)))
        return -1;
    const struct timeline_options o = {
        .listener = {.message = say, .interrupted = leaves_history, .arg = l},
        .engine = l->options.engine,
        .memory_bytes = l->options.memory_bytes,
        .grows = true};
    l->timeline = timeline_new(l->pinball, &o, err);
    if (!l->timeline)
        return -1;
    l->history = timeline_debuggee(l->timeline);
    l->path = realpath(dir, NULL);
    l->opened = l->log.begun;
    return timeline_stops_as(l->timeline, &l->stops, err);
}

static int no_history(const struct live *l, struct err *err)
{
    return err_set(err, "this program has no history: %s", l->no_history.msg);
}

/* Both must see the same, or what is shown of the past would not be of this program. */
static int check_end(struct live *l, struct err *err)
{
    struct program_registers here, there;
    struct err none;
    const uint32_t thread = l->last.at.thread;
    if (l->over || l->last.why == STOP_END ||
        talk_registers(living_talk(l->living), thread, &here, &none))
        return 0;
    if (debuggee_registers(&l->history, thread, &there, err))
        return -1;
    return here.count == there.count && here.rip == there.rip
               ? 0
               : err_set(err,
                         "the recording leads to T%u:%llu:%llx, and the program is at %llu:%llx",
                         thread, (unsigned long long)there.count, (unsigned long long)there.rip,
                         (unsigned long long)here.count, (unsigned long long)here.rip);
}

static int not_recorded(const struct live *l, struct err *err)
{
    return err_set(err, "the program is not recorded here%s",
                   l->log.ended ? ": `pin replay' goes back to where it was recorded last"
                                : ": `pin record on' begins that");
}

/* Brings the timeline to where the program stands. */
static int sync_history(struct live *l, struct err *err)
{
    struct debuggee_stop stop;
    if (l->past || (!l->over && living_flush(l->living, &l->log, err)))
        return l->past ? 0 : -1;
    if (!is_recorded(l))
        return not_recorded(l, err);
    if (l->opened != l->log.begun && open_history(l, &l->no_history))
        close_history(l);
    if (!l->timeline)
        return no_history(l, err);
    const uint64_t records = l->over ? l->synced : l->log.records;
    if (records == l->synced && timeline_is_at_end(l->timeline))
        return 0;
    if (refresh(l, records, err))
        return -1;
    if (records != l->synced)
        timeline_grown(l->timeline);
    l->synced = records;
    if (timeline_goto_end(l->timeline, &stop, err))
        return -1;
    if (!timeline_is_at_end(l->timeline))
        return err_set(err, "interrupted");
    return check_end(l, err);
}

/* ---- the program ---- */

static void forget_program(struct live *l)
{
    free((char *)l->program.path);
    free((uint8_t *)l->program.auxv);
    l->program = (struct debuggee_program){0};
}

enum { AUXV_BYTES = 1024 };

/* On its stack, behind the number of arguments, these, and the environment. */
static size_t find_auxv(struct live *l, uint8_t found[AUXV_BYTES])
{
    const struct talk *talk = living_talk(l->living);
    struct program_registers r;
    uint64_t word = 1;
    struct err err;
    if (talk_registers(talk, l->last.at.thread, &r, &err))
        return 0;
    uint64_t at = r.gpr[4] + 8; /* RSP */
    for (int lists = 0; lists < 2; at += 8) {
        if (talk_read(talk, at, &word, 8) != 8)
            return 0;
        lists += word == 0;
    }
    const size_t n = talk_read(talk, at, found, AUXV_BYTES) / 16 * 16;
    for (size_t i = 0; i < n; i += 16)
        if (memcpy(&word, found + i, 8), word == 0)
            return i + 16;
    return n;
}

/* At its first instruction. Its history knows best what it is: the same in the past and alive. */
static void note_program(struct live *l)
{
    struct debuggee_program p = {.path = ""};
    char link[64], path[4096] = "";
    uint8_t found[AUXV_BYTES];
    struct err err;
    forget_program(l);
    if (sync_history(l, &err) == 0) {
        timeline_program(l->timeline, &p);
    } else {
        p.auxv = found;
        p.auxv_bytes = find_auxv(l, found);
    }
    snprintf(link, sizeof link, "/proc/%d/exe", (int)living_pid(l->living));
    if ((!p.path || !*p.path) && readlink(link, path, sizeof path - 1) > 0)
        p.path = path;
    uint8_t *auxv = malloc(p.auxv_bytes + 1);
    if (auxv && p.auxv_bytes)
        memcpy(auxv, p.auxv, p.auxv_bytes);
    l->program = (struct debuggee_program){.path = strdup(p.path ? p.path : ""),
                                           .pid = living_pid(l->living),
                                           .auxv = auxv,
                                           .auxv_bytes = auxv ? p.auxv_bytes : 0};
}

static void take_stop(struct live *l)
{
    const struct mailbox_stop *s = living_stopped(l->living);
    debuggee_stopped(&s->what, &l->last);
    if (s->what.reason == STOP_END) {
        l->last.reason = s->end;
        l->last.status = s->status;
    }
}

/* It is no more: of what it died is what the recorder saw. */
static void take_end(struct live *l, int status)
{
    l->over = true;
    l->last.why = STOP_END;
    l->last.gone = true;
    l->last.reason = WIFSIGNALED(status) ? END_SIGNAL : END_EXIT;
    l->last.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static int give_stops(struct live *l, struct err *err)
{
    const struct debuggee_stops none = {0};
    if (!l->stops.count && stoplist_set(&l->stops, &none, err))
        return -1;
    if (l->given == l->stops.serial)
        return 0;
    if (talk_set_stops(living_talk(l->living), l->stops.bytes, l->stops.count, err))
        return -1;
    l->given = l->stops.serial;
    return 0;
}

/* GDB says what becomes of the signal that it was told of, or sends one of its own. */
static void choose_signal(const struct live *l, const struct debuggee_move *m,
                          struct mailbox_run *how)
{
    const uint32_t thread = m->thread ? m->thread : l->last.at.thread;
    const bool told =
        (l->last.why == STOP_SIGNAL || l->last.why == STOP_PAUSED) && thread == l->last.at.thread;
    if (m->signal > 0 && told) {
        how->signal = (uint64_t)m->signal;
    } else if (m->signal > 0) {
        how->send = (uint32_t)m->signal;
        how->send_thread = thread;
    } else if (l->returned && l->last.why == STOP_SIGNAL && l->last.signal != SIGINT) {
        how->signal = (uint64_t)l->last.signal; /* GDB has forgotten what it was told of */
    }
}

static int run_living(struct live *l, const struct debuggee_move *m, struct debuggee_stop *stop,
                      struct err *err)
{
    struct mailbox_run how = {.flags = RUN_SIGNAL, .run_thread = m->alone};
    int status;
    if (m->way == MOVE_STEP) {
        how.step_thread = m->thread ? m->thread : l->last.at.thread;
        how.low = m->low;
        how.high = m->high;
    }
    choose_signal(l, m, &how);
    if (l->over || give_stops(l, err)) {
        if (!l->over && living_over(l->living, &status)) /* killed while it stood still */
            take_end(l, status);
        *stop = l->last;
        return l->over ? 0 : -1;
    }
    l->returned = false;
    terminal_give(&l->terminal, living_group(l->living));
    const struct living_waiter waiter = {stops_waiting, l->timeline && !is_gap(l) ? follow : NULL,
                                         l};
    int result = living_run(l->living, &how, &waiter, err);
    terminal_take(&l->terminal);
    if (result)
        return -1;
    if (living_over(l->living, &status)) {
        take_end(l, status);
    } else {
        take_stop(l);
        if (living_stopped(l->living)->what.reason ==
            STOP_BEGIN) { /* it has executed another one */
            l->given = 0;
            note_program(l);
            l->last.why = STOP_EXEC;
        }
    }
    *stop = l->last;
    return 0;
}

/* ---- moves ---- */

static bool is_living_now(const struct live *l, const struct position *p)
{
    const struct position *now = &l->last.at;
    return p->thread == now->thread && p->count == now->count && p->pc == now->pc;
}

static void come_back(struct live *l, struct debuggee_stop *stop, enum stop_kind why)
{
    l->past = false;
    l->returned = true;
    *stop = l->last;
    if (l->last.why != STOP_END)
        stop->why = why;
}

/* To the timeline its end is behind the stop at a system call that the program is at. */
static bool is_same_call(const struct live *l, const struct debuggee_stop *s)
{
    return (s->why == STOP_CALL_ENTRY || s->why == STOP_CALL_RETURN) && s->why == l->last.why &&
           is_living_now(l, &s->at);
}

/* A move of the timeline, into the past or back from it. */
static int move_history(struct live *l, const struct debuggee_move *m, struct debuggee_stop *stop,
                        struct err *err)
{
    if (sync_history(l, err) || debuggee_move(&l->history, m, stop, err))
        return -1;
    if (!l->past && m->way == MOVE_BACK && is_same_call(l, stop) &&
        debuggee_move(&l->history, m, stop, err))
        return -1;
    const bool forwards = m->way == MOVE_ON || m->way == MOVE_STEP;
    l->past = is_gap(l) ? !forwards || !timeline_is_at_end(l->timeline)
                        : !timeline_is_at_end(l->timeline) &&
                              !(m->way == MOVE_TO && is_living_now(l, &m->to));
    if (!l->past)
        come_back(l, stop,
                  forwards                   ? STOP_END
                  : stop->why == STOP_PAUSED ? STOP_PAUSED
                                             : STOP_POSITION);
    return 0;
}

/* The recorder writes the end of a part when it has the time. */
static int await_end(struct live *l, struct err *err)
{
    const struct timespec moment = {0, 1000000};
    int status;
    while (follow_goes_on(l->pinball)) {
        const bool over = living_over(l->living, &status);
        if (follow_refresh(l->pinball, err) < 0)
            return -1;
        if (over && follow_goes_on(l->pinball))
            break; /* it was killed */
        nanosleep(&moment, NULL);
    }
    return 0;
}

/* Where the program is not recorded: to the end of what was. */
static int enter_recorded(struct live *l, struct debuggee_stop *stop, struct err *err)
{
    if (l->past)
        return err_set(err, "this is in what was recorded");
    if (!l->over && living_flush(l->living, &l->log, err))
        return -1;
    if (is_recorded(l))
        return err_set(err, "the program is being recorded: it goes back from here");
    if (!l->log.begun)
        return not_recorded(l, err);
    if ((l->opened != l->log.begun && open_history(l, err)) || await_end(l, err))
        return -1;
    timeline_grown(l->timeline);
    if (timeline_goto_end(l->timeline, stop, err))
        return -1;
    l->past = true;
    return 0;
}

static int move(void *self, const struct debuggee_move *m, struct debuggee_stop *stop,
                struct err *err)
{
    struct live *l = self;
    switch (m->way) {
    case MOVE_ON:
    case MOVE_STEP:
        return l->past ? move_history(l, m, stop, err) : run_living(l, m, stop, err);
    case MOVE_TO:
        if ((!l->past || is_gap(l)) && is_living_now(l, &m->to)) {
            come_back(l, stop, STOP_POSITION);
            return 0;
        }
        break;
    case MOVE_TO_TICKS:
        if (m->ticks < l->last.ticks)
            break;
        come_back(l, stop, STOP_POSITION);
        return 0;
    case MOVE_TO_END:
        come_back(l, stop, STOP_POSITION);
        return 0;
    case MOVE_TO_RECORDED:
        return enter_recorded(l, stop, err);
    default:
        break;
    }
    return move_history(l, m, stop, err);
}

static int set_stops(void *self, const struct debuggee_stops *stops, struct err *err)
{
    struct live *l = self;
    if (stoplist_set(&l->stops, stops, err))
        return -1;
    return l->timeline ? debuggee_stops(&l->history, stops, err) : 0;
}

static const struct debuggee_stop *now(const void *self)
{
    const struct live *l = self;
    return l->past ? debuggee_now(&l->history) : &l->last;
}

static int compare(void *self, const struct position *to, int *order, struct err *err)
{
    struct live *l = self;
    return sync_history(l, err) ? -1 : debuggee_compare(&l->history, to, order, err);
}

/* ---- state ---- */

static bool is_alive(const void *self)
{
    const struct live *l = self;
    return !l->past && !l->over;
}

/* A program that is gone is seen as its recording has it. */
static bool from_history(const struct live *l)
{
    return (l->past || (l->over && !is_gap(l))) && l->timeline;
}

static int registers(void *self, uint32_t thread, struct program_registers *out, struct err *err)
{
    struct live *l = self;
    if (from_history(l))
        return debuggee_registers(&l->history, thread, out, err);
    return talk_registers(living_talk(l->living), thread ? thread : l->last.at.thread, out, err);
}

static size_t read_memory(void *self, uint64_t addr, void *out, size_t bytes)
{
    struct live *l = self;
    return from_history(l) ? debuggee_read(&l->history, addr, out, bytes)
                           : talk_read(living_talk(l->living), addr, out, bytes);
}

/* The kernel knows its name. */
static void name_thread(const struct live *l, struct program_thread *t)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)living_pid(l->living), (int)t->tid);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    if (fgets(t->name, sizeof t->name, f))
        t->name[strcspn(t->name, "\n")] = 0;
    fclose(f);
}

static size_t threads(void *self, struct program_thread *out, size_t room)
{
    struct live *l = self;
    if (from_history(l))
        return debuggee_threads(&l->history, out, room);
    size_t n = talk_threads(living_talk(l->living), out, room);
    for (size_t i = 0; i < n && i < room; i++)
        name_thread(l, &out[i]);
    return n;
}

static size_t maps(void *self, struct program_map *out, size_t room)
{
    struct live *l = self;
    struct err err;
    return sync_history(l, &err) ? 0 : debuggee_maps(&l->history, out, room);
}

static void program(void *self, struct debuggee_program *out)
{
    struct live *l = self;
    if (from_history(l))
        timeline_program(l->timeline, out);
    else
        *out = l->program;
    out->instructions = 0;
}

static int file_find(void *self, const char *path, uint64_t *size)
{
    struct live *l = self;
    return l->timeline ? debuggee_file_find(&l->history, path, size) : -1;
}

static int file_read(void *self, int file, uint64_t offset, void *out, size_t bytes,
                     struct err *err)
{
    struct live *l = self;
    return debuggee_file_read(&l->history, file, offset, out, bytes, err);
}

static const char *file_path(void *self, int file)
{
    struct live *l = self;
    return l->timeline ? debuggee_file_path(&l->history, file) : NULL;
}

/* The program runs on this machine, as this user: what is not kept yet can be read. */
static int local_file(void *self, const char *path, uint64_t *size)
{
    struct stat st;
    (void)self;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    if (fd >= 0)
        *size = (uint64_t)st.st_size;
    return fd;
}

static int event(void *self, size_t *place, struct debuggee_event *event)
{
    struct live *l = self;
    struct err err;
    if (!l->timeline || (*place == 0 && sync_history(l, &err)))
        return 0;
    return debuggee_event(&l->history, place, event);
}

static int bookmark(void *self, const struct position *at, const char *note, struct err *err)
{
    struct live *l = self;
    return l->timeline ? debuggee_bookmark(&l->history, at, note, err) : no_history(l, err);
}

static int bookmark_get(void *self, size_t i, struct position *at, const char **note)
{
    struct live *l = self;
    return l->timeline ? debuggee_bookmark_get(&l->history, i, at, note) : 0;
}

/* ---- changes, and copies in the past ---- */

static size_t write_memory(void *self, uint64_t addr, const void *bytes, size_t n)
{
    struct live *l = self;
    return is_alive(l)       ? talk_write(living_talk(l->living), addr, bytes, n)
           : from_history(l) ? debuggee_write(&l->history, addr, bytes, n)
                             : 0;
}

static int set_registers(void *self, uint32_t thread, const struct program_registers *regs,
                         struct err *err)
{
    struct live *l = self;
    if (!is_alive(l) && !from_history(l))
        return err_set(err, "the program has ended");
    if (!is_alive(l))
        return debuggee_set_registers(&l->history, thread, regs, err);
    if (talk_set_registers(living_talk(l->living), thread ? thread : l->last.at.thread, regs, err))
        return err_set(err, "a thread inside a system call keeps its registers");
    if (thread == l->last.at.thread) { /* a change of the pc ticks */
        struct program_registers now_has;
        if (talk_registers(living_talk(l->living), thread, &now_has, err))
            return -1;
        l->last.at.count = now_has.count;
        l->last.at.pc = now_has.rip;
    }
    return 0;
}

static int divert(void *self, struct err *err)
{
    struct live *l = self;
    return l->past ? debuggee_divert(&l->history, err)
                   : err_set(err, "the program is alive: there is no copy of it");
}

static bool diverted(const void *self)
{
    const struct live *l = self;
    return l->timeline && debuggee_diverted(&l->history);
}

static void divert_end(void *self)
{
    struct live *l = self;
    if (l->timeline)
        debuggee_divert_end(&l->history);
}

static void park(void *self)
{
    debuggee_park(&((struct live *)self)->history);
}

static void unpark(void *self)
{
    debuggee_unpark(&((struct live *)self)->history);
}

static void park_end(void *self)
{
    debuggee_park_end(&((struct live *)self)->history);
}

static bool parked(void *self)
{
    struct live *l = self;
    return l->timeline && debuggee_parked(&l->history);
}

static size_t read_parked(void *self, uint64_t addr, void *out, size_t bytes)
{
    return debuggee_read_parked(&((struct live *)self)->history, addr, out, bytes);
}

static int divert_run(void *self, uint32_t thread, bool step, struct debuggee_stop *stop,
                      struct err *err)
{
    return debuggee_divert_run(&((struct live *)self)->history, thread, step, stop, err);
}

/* ---- its end ---- */

static int settle(void *self, struct err *err)
{
    struct live *l = self;
    if (l->over || l->past)
        return is_gap(l) && !l->past ? not_recorded(l, err) : 0; /* it was when it came here */
    if (living_flush(l->living, &l->log, err))
        return -1;
    if (!is_recorded(l))
        return not_recorded(l, err);
    if (l->opened != l->log.begun)
        return sync_history(l, err);
    return refresh(l, l->log.records, err);
}

static void tell_recorded(const struct live *l, struct debuggee_recorded *out)
{
    out->on = !l->past && !l->over && is_recorded(l);
    out->path = l->opened == l->log.begun ? l->path : l->dir[l->log.begun ? l->log.begun - 1 : 0];
}

static int record(void *self, enum debuggee_record what, struct debuggee_recorded *out,
                  struct err *err)
{
    struct live *l = self;
    if (what == RECORD_TOLD) {
        if (l->later && is_alive(l))
            living_flush(l->living, &l->log, err);
        tell_recorded(l, out);
        return 0;
    }
    if (l->past)
        return err_set(err, "this is the past: recording begins and ends where the program is "
                            "alive (pin goto end)");
    if (l->over || l->last.why == STOP_END)
        return err_set(err, "the program has ended");
    const int now = living_record(l->living, what == RECORD_ON, err);
    if (now < 0 || living_flush(l->living, &l->log, err))
        return -1;
    if (what == RECORD_ON && now && open_history(l, &l->no_history))
        close_history(l);
    if (what == RECORD_OFF && now && l->opened == l->log.ended && await_end(l, err))
        return -1;
    tell_recorded(l, out);
    out->later = l->later = !now;
    return 0;
}

static int use_terminal(void *self, const char *path, struct err *err)
{
    struct live *l = self;
    if (l->over)
        return err_set(err, "the program has ended");
    if (living_terminal(l->living, path, err))
        return -1;
    terminal_close(&l->terminal); /* the debugger has its own to itself */
    return 0;
}

static void leave(void *self, bool kills)
{
    struct live *l = self;
    if (l->over)
        return;
    if (kills)
        living_kill(l->living);
    else
        living_leave(l->living);
    l->past = false;
    l->over = true;
    l->last.why = STOP_END;
    l->last.gone = true;
}

static void close_live(void *self)
{
    struct live *l = self;
    if (!l)
        return;
    terminal_close(&l->terminal);
    close_history(l);
    if (l->living && !l->over && !l->options.what.ends_with_debugger)
        living_leave(l->living); /* nobody has said what is to become of it */
    living_free(l->living);
    stoplist_deinit(&l->stops);
    forget_program(l);
    for (size_t i = 0; i < TRIGGER_PARTS; i++)
        free(l->dir[i]);
    free(l);
}

/* The first one begins with the program, or all when they are asked for. */
static void name_parts(struct live *l)
{
    struct recording *what = &l->options.what;
    for (unsigned i = 0; i < TRIGGER_PARTS; i++) {
        l->dir[i] = i ? recorder_part_name(what->dir[0], i + 1) : strdup(what->dir[0]);
        l->region.part[i].from.kind = l->region.part[i].to.kind = TRIGGER_ASKED;
    }
    l->region.parts = TRIGGER_PARTS;
    l->region.begun = !l->options.waits;
    what->region = &l->region;
    what->dir = (const char *const *)l->dir;
}

int live_open(const struct live_options *options, struct debuggee *out, struct err *err)
{
    static const struct debuggee_ops ops = {
        .close = close_live,
        .stops = set_stops,
        .now = now,
        .move = move,
        .compare = compare,
        .registers = registers,
        .read = read_memory,
        .threads = threads,
        .maps = maps,
        .program = program,
        .file_find = file_find,
        .file_read = file_read,
        .file_path = file_path,
        .debug_file = local_file,
        .event = event,
        .bookmark = bookmark,
        .bookmark_get = bookmark_get,
        .alive = is_alive,
        .settle = settle,
        .leave = leave,
        .record = record,
        .terminal = use_terminal,
        .divert = divert,
        .diverted = diverted,
        .divert_end = divert_end,
        .park = park,
        .unpark = unpark,
        .park_end = park_end,
        .parked = parked,
        .read_parked = read_parked,
        .write = write_memory,
        .set_registers = set_registers,
        .divert_run = divert_run,
    };
    struct live *l = calloc(1, sizeof *l);
    if (!l)
        return err_set(err, "no memory");
    l->options = *options;
    name_parts(l);
    terminal_open(&l->terminal, options->io[0]);
    l->living = living_start(&l->options.what, options->io, err);
    if (!l->living) {
        close_live(l);
        return -1;
    }
    take_stop(l);
    note_program(l);
    *out = (struct debuggee){&ops, l};
    return 0;
}
