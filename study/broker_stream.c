/* broker_stream.c - answers that come while the broker replays: rows, events, how far it is.
 *
 * SPDX-License-Identifier: MIT
 *
 * The child asks one question, which the broker answers many times: with rows or events as they
 * come, with how far the replay is, and at last with the result. The socket blocks the broker, and
 * so the replay, while the child is busy.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replayer/probes.h"
#include "study/broker_private.h"

/* struct broker_answer.result: others follow, but for the last one. */
enum { ANSWER_SOME = 1, ANSWER_PART, ANSWER_TICKS, ANSWER_ENOUGH };

/* ---- the broker ---- */

int broker_pass(struct broker_server *v, const void *data, size_t bytes)
{
    for (size_t at = 0, n; at < bytes && !v->gone; at += n) {
        n = bytes - at < BROKER_BYTES ? bytes - at : BROKER_BYTES;
        v->answer.result = at + n < bytes ? ANSWER_PART : ANSWER_SOME;
        v->answer.bytes = n;
        memcpy(v->answer.data, (const uint8_t *)data + at, n);
        broker_give_answer(v);
    }
    return v->gone ? -1 : 0;
}

void broker_pass_ticks(struct broker_server *v, uint64_t ticks)
{
    v->answer.result = ANSWER_TICKS;
    v->answer.bytes = sizeof ticks;
    memcpy(v->answer.data, &ticks, sizeof ticks);
    broker_give_answer(v);
}

/* The word is BROKER_ENOUGH, which is received, and not answered, when the last answer is given. */
bool broker_has_enough(const struct broker_server *v)
{
    struct pollfd p = {.fd = v->fd, .events = POLLIN};
    return v->gone || poll(&p, 1, 0) > 0;
}

int broker_last(int result)
{
    return result > 0 ? ANSWER_ENOUGH : result;
}

/* ---- the child ---- */

/* What came, until the last answer. */
struct listening {
    const struct broker_stream *to;
    uint8_t *data; /* whole rows or events, soon */
    size_t bytes;
    int had_enough; /* what the user's functions returned */
    struct broker_answer answer;
};

static int hear(struct listening *l, size_t bytes, struct err *err)
{
    const struct broker_answer *a = &l->answer;
    uint64_t ticks = 0;
    if (a->result == ANSWER_TICKS) {
        memcpy(&ticks, a->data, bytes < sizeof ticks ? bytes : sizeof ticks);
        return l->to->told(l->to->arg, ticks);
    }
    if (bytes > PROBE_ROWS_BYTES - l->bytes)
        return err_set(err, "the broker does not answer");
    memcpy(l->data + l->bytes, a->data, bytes);
    l->bytes += bytes;
    if (a->result == ANSWER_PART)
        return 0;
    const size_t all = l->bytes;
    l->bytes = 0;
    return l->to->some(l->to->arg, l->data, all, err);
}

/* Having heard enough, the child says a word and waits for the last answer. Returns its bytes, or
 * -1. */
static long listen_to(struct broker *b, struct listening *l, struct err *err)
{
    const struct broker_ask enough = {.op = BROKER_ENOUGH};
    for (;;) {
        int given;
        ssize_t n = broker_receive(b->fd, &l->answer, sizeof l->answer, &given);
        if (given >= 0)
            close(given);
        if (n < (ssize_t)offsetof(struct broker_answer, data))
            return err_set(err, "the broker does not answer");
        const struct broker_answer *a = &l->answer;
        const size_t bytes = (size_t)n - offsetof(struct broker_answer, data);
        if (a->result <= 0 || a->result == ANSWER_ENOUGH)
            return (long)bytes;
        if (l->had_enough)
            continue;
        l->had_enough = hear(l, bytes, err);
        if (l->had_enough && broker_dispatch(b->fd, &enough, sizeof enough, -1))
            return err_set(err, "the broker does not answer");
    }
}

int broker_listen(struct broker *b, struct broker_ask *what, const struct broker_stream *to,
                  void *out, size_t room, struct err *err)
{
    struct listening *l = calloc(1, sizeof *l);
    int result = -1;
    long last;
    what->other = b->other;
    if (!l || !(l->data = malloc(PROBE_ROWS_BYTES))) {
        err_set(err, "no memory");
        goto done;
    }
    l->to = to;
    if (broker_dispatch(b->fd, what, sizeof *what, -1)) {
        err_set(err, "the broker does not answer");
        goto done;
    }
    if ((last = listen_to(b, l, err)) < 0)
        goto done;
    if (out)
        memcpy(out, l->answer.data, (size_t)last < room ? (size_t)last : room);
    result = l->had_enough                       ? l->had_enough
             : l->answer.result == ANSWER_ENOUGH ? 1
                                                 : l->answer.result;
    if (!l->had_enough && l->answer.result < 0)
        err_set_code(err, l->answer.code, "%s", l->answer.msg);
done:
    if (l)
        free(l->data);
    free(l);
    return result;
}
