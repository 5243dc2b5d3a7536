/* past.c - registers and memory at points of a recording, by replaying as far as there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "study/past.h"

#include <stdlib.h>
#include <string.h>

#include "study/broker.h"
#include "study/study_private.h"

struct past {
    struct study *study;
    struct replay *replay;          /* NULL: the broker has it, ... */
    uint32_t handle;                /* ... under this number */
    const struct past_telling *how; /* while past_tell() goes on; else NULL */
};

static int ask(struct past *p, struct broker_ask *what, void *out, size_t room, size_t *got,
               struct err *err)
{
    what->handle = p->handle;
    return broker_call(p->study->own->broker, what, out, room, got, err);
}

static bool pass_entry(void *arg, const struct mailbox_entry *entry, const void *text)
{
    const struct past *p = arg;
    if (p->how)
        p->how->entry(p->how->arg, entry, text);
    return true;
}

static bool has_enough(void *arg)
{
    const struct past *p = arg;
    return p->how && p->how->enough(p->how->arg);
}

static struct past *make(struct study *s, enum past_kind kind, uint64_t tell, struct err *err)
{
    struct broker_ask what = {.op = BROKER_NEW, .kind = kind, .flags = (int32_t)tell};
    struct past *p = calloc(1, sizeof *p);
    const bool tells = kind == PAST_TELLING;
    const struct replay_options options = {.copies = kind == PAST_TRYING,
                                           .entry = tells ? pass_entry : NULL,
                                           .pause = tells ? has_enough : NULL,
                                           .tell = tells ? tell : 0,
                                           .arg = p};
    size_t got = 0;
    if (!p) {
        err_set(err, "no memory");
        return NULL;
    }
    p->study = s;
    if (s->own->broker) {
        if (ask(p, &what, &p->handle, sizeof p->handle, &got, err) == 0 && got == sizeof p->handle)
            return p;
    } else if ((p->replay = replay_new(s->pinball, &options, err))) {
        return p;
    }
    free(p);
    return NULL;
}

struct past *past_new(struct study *s, struct err *err)
{
    return make(s, PAST_PLAIN, 0, err);
}

struct past *past_new_trying(struct study *s, struct err *err)
{
    return make(s, PAST_TRYING, 0, err);
}

struct past *past_new_telling(struct study *s, uint64_t tell, struct err *err)
{
    return make(s, PAST_TELLING, tell, err);
}

void past_free(struct past *p)
{
    struct broker_ask what = {.op = BROKER_FREE};
    struct err err;
    if (!p)
        return;
    if (!p->replay)
        ask(p, &what, NULL, 0, NULL, &err);
    replay_free(p->replay);
    free(p);
}

int past_go(struct past *p, uint64_t insn, const struct position *at, struct err *err)
{
    struct broker_ask what = {.op = BROKER_GO, .insn = insn};
    struct study *s = p->study;
    char token[POSITION_TEXT];
    struct replay_stop stop;
    if (at)
        what.at = *at;
    if (!p->replay)
        return ask(p, &what, NULL, 0, NULL, err);
    if (!s->trace ||
        insn >= trace_insns(s->trace)) /* a call that a thread waits in is met before others run */
        return replay_run(p->replay, s->has_to ? &s->to : NULL, &stop, err);
    if (replay_run(p->replay, at, &stop, err))
        return -1;
    if (stop.why == STOP_POSITION)
        return 0;
    position_format(at, token);
    return err_set(err, "the replay did not come to %s", token);
}

int past_registers(struct past *p, uint32_t thread, struct program_registers *out, struct err *err)
{
    struct broker_ask what = {.op = BROKER_REGISTERS, .thread = thread};
    size_t got = 0;
    if (p->replay)
        return replay_registers(p->replay, thread, out, err);
    if (ask(p, &what, out, sizeof *out, &got, err))
        return -1;
    return got == sizeof *out ? 0 : err_set(err, "the broker does not answer");
}

size_t past_read(struct past *p, uint64_t addr, void *out, size_t bytes)
{
    size_t done = 0, got = 1;
    struct err err;
    if (p->replay)
        return replay_read(p->replay, addr, out, bytes);
    for (; done < bytes && got; done += got) {
        struct broker_ask what = {.op = BROKER_READ, .addr = addr + done};
        what.bytes = bytes - done < BROKER_BYTES ? bytes - done : BROKER_BYTES;
        got = 0;
        if (ask(p, &what, (char *)out + done, what.bytes, &got, &err))
            break;
    }
    return done;
}

size_t past_threads(struct past *p, struct program_thread *out, size_t room)
{
    size_t done = 0, got = 1;
    struct err err;
    if (p->replay)
        return replay_threads(p->replay, out, room);
    for (; done < room && got; done += got / sizeof *out) {
        struct broker_ask what = {.op = BROKER_THREADS, .addr = done, .bytes = room};
        got = 0;
        if (ask(p, &what, out + done, (room - done) * sizeof *out, &got, &err))
            break;
    }
    return done;
}

size_t past_maps(struct past *p, struct program_map *out, size_t room)
{
    size_t done = 0, got = 1;
    struct err err;
    if (p->replay)
        return replay_maps(p->replay, out, room);
    for (; done < room && got; done += got / sizeof *out) {
        struct broker_ask what = {.op = BROKER_MAPS, .addr = done};
        got = 0;
        if (ask(p, &what, out + done, (room - done) * sizeof *out, &got, &err))
            break;
    }
    return done;
}

int past_tell(struct past *p, const struct position *until, const struct past_telling *how,
              struct replay_stop *stop, struct err *err)
{
    if (!p->replay)
        return broker_tell(p->study->own->broker, p->handle, until, how, stop, err);
    p->how = how;
    const int bad = replay_run(p->replay, until, stop, err);
    p->how = NULL;
    return bad;
}

int past_try(struct past *p, const struct replay_attempt *a, uint64_t *next, struct err *err)
{
    struct broker_ask what = {.op = BROKER_TRY,
                              .thread = a->thread,
                              .kind = a->steps,
                              .addr = a->addr,
                              .bytes = a->bytes,
                              .insn = a->value,
                              .at = {.pc = a->branch}};
    size_t got = 0;
    if (p->replay)
        return replay_attempt(p->replay, a, next, err);
    if (ask(p, &what, next, sizeof *next, &got, err))
        return -1;
    return got == sizeof *next ? 0 : err_set(err, "the broker does not answer");
}
