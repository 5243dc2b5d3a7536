/* broker.c - a study in a process that is confined, and the process that hands it what it needs.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* sigabbrev_np */
#include "study/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "debug/messages.h"
#include "pinball/beneath.h"
#include "pinball/pinball.h"
#include "study/broker_private.h"
#include "study/past.h"
#include "study/study_private.h"
#include "study/writer.h"

enum { NOT_CONFINED = 70 };

static const char debug_folder[] = "/usr/lib/debug/";

/* ---- messages ---- */

ssize_t broker_receive(int fd, void *data, size_t room, int *passed)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {data, room};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    ssize_t n;

    *passed = -1;
    while ((n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(passed, CMSG_DATA(c), sizeof(int));
    return n > 0 && m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -1 : n;
}

int broker_dispatch(int fd, const void *data, size_t bytes, int pass)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {(void *)(uintptr_t)data, bytes};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    memset(&control, 0, sizeof control);
    if (pass >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof control;
        control.align = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.align), &pass, sizeof(int));
    }
    while ((n = sendmsg(fd, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return n == (ssize_t)bytes ? 0 : -1;
}

int broker_give_answer(struct broker_server *v)
{
    v->gone =
        v->gone ||
        broker_dispatch(v->fd, &v->answer,
                        offsetof(struct broker_answer, data) + (size_t)v->answer.bytes, v->give);
    return v->gone ? -1 : 0;
}

/* ---- the broker: files ---- */

static bool is_debug_file(const char *name)
{
    return strncmp(name, debug_folder, sizeof debug_folder - 1) == 0 && !strstr(name, "/../");
}

/* A file that the recording mapped and does not hold whole, if it is still the same. */
static int open_mapped(struct study *s, const char *name)
{
    for (uint32_t i = 0; i < pinball_files(s->pinball); i++) {
        const struct kept_file *f = pinball_file(s->pinball, i);
        char build_id[BUILD_ID_HEX] = "";
        struct stat st;
        if (f->kind != KEPT_MAPPED || f->whole || !f->build_id || strcmp(f->path, name) != 0)
            continue;
        int fd = beneath_open_plain(name, &st);
        if (fd >= 0 && (uint64_t)st.st_size == f->size)
            kept_build_id(fd, build_id);
        if (strcmp(build_id, f->build_id) == 0)
            return fd;
        if (fd >= 0)
            close(fd);
    }
    errno = EPERM;
    return -1;
}

static int open_plain(struct study *s, const char *name)
{
    struct stat st;
    return is_debug_file(name) ? beneath_open_plain(name, &st) : open_mapped(s, name);
}

static int open_folder(struct study *s, const char *name)
{
    const struct sourcefile_places *places = &s->own->places;
    bool known = strcmp(name, pinball_path(s->pinball)) == 0;
    for (size_t i = 0; !known && i < places->folders; i++)
        known = strcmp(name, places->folder[i]) == 0;
    errno = EPERM;
    return known ? beneath_folder(name) : -1;
}

/* What names a file may be of either study. */
static int open_named(const struct broker_server *v, int (*how)(struct study *s, const char *name))
{
    int fd = how(v->first, v->ask.name);
    return fd < 0 && v->options->other ? how(v->options->other, v->ask.name) : fd;
}

/* The folder is one that the child has; it got it from here, or before it was confined. */
static int open_asked(struct broker_server *v)
{
    const struct broker_ask *a = &v->ask;
    struct stat st;
    switch (a->kind) {
    case BENEATH_FOLDER:
        return open_named(v, open_folder);
    case BENEATH_PLAIN:
        return open_named(v, open_plain);
    case BENEATH_WITHIN:
        return beneath_open_within(v->folder, a->name, &st);
    case BENEATH_FILE:
        if (a->flags == O_RDONLY || a->flags == (O_RDONLY | O_DIRECTORY))
            return beneath_open(v->folder, a->name, a->flags);
    }
    errno = EPERM;
    return -1;
}

static int open_output(const struct broker_server *v)
{
    for (size_t i = 0; i < BROKER_OUTPUTS; i++)
        if (v->options->output[i] && strcmp(v->options->output[i], v->ask.name) == 0)
            return open(v->ask.name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    errno = EPERM;
    return -1;
}

/* ---- the broker: replays ---- */

static int make_past(struct broker_server *v, struct err *err)
{
    uint32_t i = 0;
    while (i < PASTS && v->past[i])
        i++;
    if (i == PASTS)
        return err_set(err, "too many replays");
    switch (v->ask.kind) {
    case PAST_TRYING:
        v->past[i] = past_new_trying(v->study, err);
        break;
    case PAST_TELLING:
        v->past[i] = past_new_telling(
            v->study, (uint32_t)v->ask.flags & (RUN_OUTPUT | RUN_EVENTS | RUN_SWITCHES), err);
        break;
    default:
        v->past[i] = past_new(v->study, err);
    }
    memcpy(v->answer.data, &i, sizeof i);
    v->answer.bytes = sizeof i;
    return v->past[i] ? 0 : -1;
}

/* As many as a message has room for. */
static int ask_maps(struct broker_server *v, struct past *p, struct err *err)
{
    const size_t room = BROKER_BYTES / sizeof(struct program_map);
    struct program_map *list = malloc(sizeof *list * PAST_MAPS);
    if (!list)
        return err_set(err, "no memory");
    size_t all = past_maps(p, list, PAST_MAPS);
    all = all < PAST_MAPS ? all : PAST_MAPS;
    size_t from = v->ask.addr < all ? (size_t)v->ask.addr : all;
    size_t n = all - from < room ? all - from : room;
    v->answer.bytes = n * sizeof *list;
    memcpy(v->answer.data, list + from, v->answer.bytes);
    free(list);
    return 0;
}

/* In the same way, from a->addr on; a->bytes: so many are wanted in all. */
static int ask_threads(struct broker_server *v, struct past *p, struct err *err)
{
    const struct broker_ask *a = &v->ask;
    const size_t room = BROKER_BYTES / sizeof(struct program_thread);
    const size_t wanted = a->bytes < PAST_THREADS ? (size_t)a->bytes : PAST_THREADS;
    struct program_thread *list = calloc(wanted + 1, sizeof *list);
    if (!list)
        return err_set(err, "no memory");
    size_t all = past_threads(p, list, wanted);
    all = all < wanted ? all : wanted;
    const size_t from = a->addr < all ? (size_t)a->addr : all;
    const size_t n = all - from < room ? all - from : room;
    v->answer.bytes = n * sizeof *list;
    memcpy(v->answer.data, list + from, v->answer.bytes);
    free(list);
    return 0;
}

static int ask_try(struct broker_server *v, struct past *p, struct err *err)
{
    const struct broker_ask *a = &v->ask;
    uint64_t next = 0;
    struct replay_attempt attempt = {
        .addr = a->addr,
        .value = a->insn,
        .bytes = a->bytes <= sizeof attempt.value ? (uint32_t)a->bytes : 0,
        .thread = a->thread,
        .steps = a->kind <= REPLAY_ATTEMPT_STEPS ? a->kind : REPLAY_ATTEMPT_STEPS,
        .branch = a->at.pc};
    int bad = past_try(p, &attempt, &next, err);
    memcpy(v->answer.data, &next, sizeof next);
    v->answer.bytes = sizeof next;
    return bad;
}

static int ask_past(struct broker_server *v, struct past *p, struct err *err)
{
    const struct broker_ask *a = &v->ask;
    struct program_registers *registers = (void *)v->answer.data;
    size_t n;
    switch (a->op) {
    case BROKER_GO:
        return past_go(p, a->insn, &a->at, err);
    case BROKER_REGISTERS:
        v->answer.bytes = sizeof *registers;
        return past_registers(p, a->thread, registers, err);
    case BROKER_READ:
        n = a->bytes < BROKER_BYTES ? (size_t)a->bytes : BROKER_BYTES;
        v->answer.bytes = past_read(p, a->addr, v->answer.data, n);
        return 0;
    case BROKER_THREADS:
        return ask_threads(v, p, err);
    case BROKER_MAPS:
        return ask_maps(v, p, err);
    case BROKER_TRY:
        return ask_try(v, p, err);
    case BROKER_TELL:
        return broker_answer_tell(v, p, err);
    }
    return err_set(err, "no such question");
}

/* ---- the broker: all of it ---- */

static int answer_file(struct broker_server *v, struct err *err)
{
    v->give = v->ask.op == BROKER_OPEN ? open_asked(v) : open_output(v);
    return v->give >= 0 ? 0 : err_set_code(err, errno, "%s", strerror(errno));
}

static int answer_one(struct broker_server *v, struct err *err)
{
    const struct broker_ask *a = &v->ask;
    if (a->op == BROKER_OPEN || a->op == BROKER_OUTPUT)
        return answer_file(v, err);
    if (a->op == BROKER_NEW)
        return make_past(v, err);
    if (a->op == BROKER_LIST)
        return broker_take_list(v, err);
    if (a->op == BROKER_PROBE)
        return broker_answer_probe(v, err);
    if (a->op == BROKER_WRITE) {
        v->answer.bytes = sizeof(struct writer_write);
        return a->bytes > WRITER_BYTES ? err_set(err, "too much memory")
                                       : writer_last(v->study, a->addr, (uint32_t)a->bytes,
                                                     (void *)v->answer.data, err);
    }
    if (a->handle >= PASTS || !v->past[a->handle])
        return err_set(err, "no such replay");
    if (a->op == BROKER_FREE) {
        past_free(v->past[a->handle]);
        v->past[a->handle] = NULL;
        return 0;
    }
    return ask_past(v, v->past[a->handle], err);
}

/* Until the child closes its end. */
static void serve(struct broker_server *v)
{
    struct err err;
    for (bool more = true; more;) {
        ssize_t n = broker_receive(v->fd, &v->ask, sizeof v->ask, &v->folder);
        more = n == (ssize_t)sizeof v->ask && memchr(v->ask.name, 0, sizeof v->ask.name);
        v->study = v->ask.other && v->options->other ? v->options->other : v->first;
        v->give = -1;
        memset(&v->answer, 0, sizeof v->answer);
        err = (struct err){.code = 0};
        if (more && v->ask.op != BROKER_ENOUGH) { /* the rows that it is about are told */
            v->answer.result = answer_one(v, &err);
            v->answer.code = err.code;
            memcpy(v->answer.msg, err.msg, sizeof v->answer.msg);
            if (v->answer.result < 0)
                v->answer.bytes = 0;
            more = !broker_give_answer(v);
        }
        if (v->give >= 0)
            close(v->give);
        if (v->folder >= 0)
            close(v->folder);
    }
    for (size_t i = 0; i < PASTS; i++)
        past_free(v->past[i]);
    free(v->list);
}

static int wait_for(pid_t child, const char *path, struct err *err)
{
    int how;
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return err_set_code(err, errno, "%s: %s", path, strerror(errno));
    if (WIFEXITED(how) && WEXITSTATUS(how) == NOT_CONFINED)
        return err_set(err,
                       "%s: a stranger's recording is not looked into: no process can be "
                       "confined for it here (seccomp)",
                       path);
    if (WIFEXITED(how))
        return WEXITSTATUS(how);
    const char *name = sigabbrev_np(WTERMSIG(how));
    return err_set(err, "%s: reading its debug information ended with SIG%s", path,
                   name ? name : "?");
}

static int be_broker(struct study *s, const struct broker_options *options, int fd, pid_t child,
                     struct err *err)
{
    struct broker_server *v = calloc(1, sizeof *v);
    if (v) {
        *v = (struct broker_server){.fd = fd, .first = s, .options = options};
        serve(v);
    }
    close(fd);
    free(v);
    return wait_for(child, pinball_path(s->pinball), err);
}

/* ---- the child ---- */

/* Asks; *given is the descriptor that came with the answer. */
static int call(struct broker *b, const struct broker_ask *what, int pass, int *given, void *out,
                size_t room, size_t *got, struct err *err)
{
    struct broker_answer *a = malloc(sizeof *a);
    int bad = -1;
    *given = -1;
    ssize_t n = a && !broker_dispatch(b->fd, what, sizeof *what, pass)
                    ? broker_receive(b->fd, a, sizeof *a, given)
                    : -1;
    if (n < (ssize_t)offsetof(struct broker_answer, data)) {
        err_set(err, "the broker does not answer");
    } else if (a->result) {
        err_set_code(err, a->code, "%s", a->msg);
    } else {
        size_t bytes = (size_t)n - offsetof(struct broker_answer, data);
        bytes = bytes < room ? bytes : room;
        if (bytes)
            memcpy(out, a->data, bytes);
        if (got)
            *got = bytes;
        bad = 0;
    }
    free(a);
    return bad;
}

int broker_call(struct broker *b, struct broker_ask *what, void *out, size_t room, size_t *got,
                struct err *err)
{
    int given;
    what->other = b->other;
    int bad = call(b, what, -1, &given, out, room, got, err);
    if (given >= 0)
        close(given);
    return bad;
}

/* A descriptor, or -1 with errno set. */
static int ask_for_file(struct broker *b, struct broker_ask *what, int folder, const char *name)
{
    struct err err = {.code = 0};
    int given = -1;
    if (strlen(name) >= sizeof what->name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(what->name, name);
    if (call(b, what, folder, &given, NULL, 0, NULL, &err) || given < 0) {
        errno = err.code ? err.code : EPERM;
        return -1;
    }
    return given;
}

static int open_by_broker(void *arg, enum beneath_kind kind, int folder, const char *name,
                          int flags)
{
    struct broker_ask what = {.op = BROKER_OPEN, .kind = kind, .flags = flags};
    return ask_for_file(arg, &what, folder, name);
}

FILE *broker_create(struct broker *b, const char *path, struct err *err)
{
    struct broker_ask what = {.op = BROKER_OUTPUT};
    int fd = b ? ask_for_file(b, &what, -1, path)
               : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) {
        err_set_code(err, errno, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return f;
}

static struct broker *child_side(int fd, uint32_t other)
{
    struct broker *b = calloc(1, sizeof *b);
    if (b)
        *b = (struct broker){fd, other};
    return b;
}

static _Noreturn void be_child(struct study *s, struct study *other, int fd,
                               int (*analyse)(void *arg), void *arg)
{
    struct err err;
    s->own->broker = child_side(fd, 0);
    if (other)
        other->own->broker = child_side(fcntl(fd, F_DUPFD_CLOEXEC, 0), 1);
    if (!s->own->broker || (other && !other->own->broker) || confine_self(&err))
        _exit(NOT_CONFINED);
    beneath_set_opener(open_by_broker, s->own->broker);
    exit(analyse(arg));
}

void broker_free(struct broker *b)
{
    if (!b)
        return;
    beneath_set_opener(NULL, NULL);
    close(b->fd);
    free(b);
}

int broker_run(struct study *s, const struct broker_options *options, int (*analyse)(void *arg),
               void *arg, struct err *err)
{
    int pair[2];
    if (pinball_is_own(s->pinball) && (!options->other || pinball_is_own(options->other->pinball)))
        return analyse(arg);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return err_set_code(err, errno, "a process of its own for the analysis: %s",
                            strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    close(pair[child != 0]); /* the parent has the first, the child the second */
    if (child < 0) {
        close(pair[0]);
        return err_set_code(err, errno, "a process of its own for the analysis: %s",
                            strerror(errno));
    }
    if (!child)
        be_child(s, options->other, pair[1], analyse, arg);
    return be_broker(s, options, pair[0], child, err);
}
