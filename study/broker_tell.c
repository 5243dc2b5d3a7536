/* broker_tell.c - what a program does, for a study that is confined: the broker replays, and passes
 * it on as it came.
 *
 * SPDX-License-Identifier: MIT
 *
 * The broker puts none of it into words: it knows how long an entry is, which was checked when the
 * replaying process told it (debug/inbox.h), and no more.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "debug/messages.h"
#include "study/broker_private.h"
#include "study/study.h"

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* ---- the broker ---- */

struct passing {
    struct broker_server *v;
    uint64_t passed_ns; /* when something was passed on last */
    uint64_t ticks;     /* so far */
    size_t bytes;
    uint8_t data[BROKER_BYTES]; /* whole entries that wait, so that each is no message of its own */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void flush(struct passing *p)
{
    if (p->bytes)
        broker_pass(p->v, p->data, p->bytes);
    p->bytes = 0;
    p->passed_ns = now_ns();
}

static void pass_entry(void *arg, const struct mailbox_entry *entry, const void *text)
{
    struct passing *p = arg;
    const size_t bytes = sizeof *entry + padded(entry->text_bytes);
    p->ticks = entry->ticks;
    if (bytes > sizeof p->data) /* the journal that it came in is not longer */
        return;
    if (bytes > sizeof p->data - p->bytes)
        flush(p);
    memcpy(p->data + p->bytes, entry, sizeof *entry);
    memcpy(p->data + p->bytes + sizeof *entry, text, entry->text_bytes);
    memset(p->data + p->bytes + sizeof *entry + entry->text_bytes, 0,
           padded(entry->text_bytes) - entry->text_bytes);
    p->bytes += bytes;
}

static bool has_enough(void *arg)
{
    enum { PASS_EVERY_NS = 100000000 };
    struct passing *p = arg;
    if (now_ns() - p->passed_ns >= PASS_EVERY_NS) {
        flush(p);
        broker_pass_ticks(p->v, p->ticks);
    }
    return broker_has_enough(p->v);
}

int broker_answer_tell(struct broker_server *v, struct past *past, struct err *err)
{
    const struct position until = v->ask.at;
    struct replay_stop stop = {.why = STOP_NONE};
    struct passing *p = calloc(1, sizeof *p);
    const struct past_telling how = {.entry = pass_entry, .enough = has_enough, .arg = p};
    if (!p)
        return err_set(err, "no memory");
    p->v = v;
    p->passed_ns = now_ns();
    const int bad = past_tell(past, until.thread ? &until : NULL, &how, &stop, err);
    flush(p);
    free(p);
    memcpy(v->answer.data, &stop, sizeof stop);
    v->answer.bytes = sizeof stop;
    return broker_last(bad ? bad : stop.why == STOP_PAUSED);
}

/* ---- the child ---- */

static int hear(void *arg, const void *data, size_t bytes, struct err *err)
{
    const struct past_telling *how = arg;
    struct mailbox_entry e;
    for (size_t at = 0; at < bytes; at += sizeof e + padded(e.text_bytes)) {
        if (bytes - at < sizeof e)
            return err_set(err, "the broker does not answer");
        memcpy(&e, (const uint8_t *)data + at, sizeof e);
        if (e.text_bytes > bytes - at - sizeof e)
            return err_set(err, "the broker does not answer");
        how->entry(how->arg, &e, (const uint8_t *)data + at + sizeof e);
    }
    return how->enough(how->arg);
}

static int hear_ticks(void *arg, uint64_t ticks)
{
    const struct past_telling *how = arg;
    (void)ticks;
    return how->enough(how->arg);
}

int broker_tell(struct broker *b, uint32_t handle, const struct position *until,
                const struct past_telling *how, struct replay_stop *stop, struct err *err)
{
    struct broker_ask what = {.op = BROKER_TELL, .handle = handle};
    struct past_telling told = *how;
    const struct broker_stream to = {.some = hear, .told = hear_ticks, .arg = &told};
    *stop = (struct replay_stop){.why = STOP_PAUSED};
    if (until)
        what.at = *until;
    return broker_listen(b, &what, &to, stop, sizeof *stop, err) < 0 ? -1 : 0;
}
