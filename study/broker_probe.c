/* broker_probe.c - probes in a study that is confined: the broker replays, and passes rows on.
 *
 * SPDX-License-Identifier: MIT
 *
 * The child sends its list in pieces, then one question. The broker answers that many times: with
 * rows as they come, with how far the replay is, and at last with the result. The socket blocks the
 * broker, and so the replay, while the child is busy with rows.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replayer/probes.h"
#include "study/broker_private.h"
#include "study/study.h"

enum { LIST_PIECE = BROKER_NAME - 1 }; /* a name ends with a zero */
/* struct broker_answer.result: others follow, but for the last one. */
enum { ANSWER_ROWS = 1, ANSWER_PART_OF_ROWS, ANSWER_TICKS, ANSWER_ENOUGH };

/* ---- the broker: probes ---- */

int broker_take_list(struct broker_server *v, struct err *err)
{
    const struct broker_ask *a = &v->ask;
    if (!a->addr) {
        free(v->list);
        v->list = NULL;
        v->list_bytes = a->bytes <= PROBE_LIST_BYTES ? (size_t)a->bytes : 0;
        if (!v->list_bytes || !(v->list = malloc(v->list_bytes)))
            return err_set(err, "no memory");
    }
    if (!v->list || a->bytes != v->list_bytes || a->kind > LIST_PIECE || a->addr > v->list_bytes ||
        a->kind > v->list_bytes - a->addr)
        return err_set(err, "no such list");
    memcpy(v->list + a->addr, a->name, a->kind);
    return 0;
}

static int pass_rows(void *arg, const void *rows, size_t bytes, struct err *err)
{
    struct broker_server *v = arg;
    (void)err;
    for (size_t at = 0, n; at < bytes && !v->gone; at += n) {
        n = bytes - at < BROKER_BYTES ? bytes - at : BROKER_BYTES;
        v->answer.result = at + n < bytes ? ANSWER_PART_OF_ROWS : ANSWER_ROWS;
        v->answer.bytes = n;
        memcpy(v->answer.data, (const uint8_t *)rows + at, n);
        broker_give_answer(v);
    }
    return v->gone;
}

static void pass_ticks(void *arg, uint64_t ticks)
{
    struct broker_server *v = arg;
    v->answer.result = ANSWER_TICKS;
    v->answer.bytes = sizeof ticks;
    memcpy(v->answer.data, &ticks, sizeof ticks);
    broker_give_answer(v);
}

/* A word from the child while rows are told means that it has enough: BROKER_ENOUGH, which is
 * received, and not answered, when the last answer is given. */
static bool has_enough(void *arg)
{
    const struct broker_server *v = arg;
    struct pollfd p = {.fd = v->fd, .events = POLLIN};
    return v->gone || poll(&p, 1, 0) > 0;
}

int broker_answer_probe(struct broker_server *v, struct err *err)
{
    const struct position from = v->ask.from, to = v->ask.at;
    const struct probes_options o = {.from = from.thread ? &from : NULL,
                                     .to = to.thread ? &to : NULL,
                                     .progress = pass_ticks,
                                     .stop = has_enough,
                                     .arg = v};
    struct probes *p = v->list ? probes_unpack(v->list, v->list_bytes, err) : NULL;
    if (!v->list)
        return err_set(err, "no such list");
    int result = p ? probes_stream(v->study->pinball, p, &o, pass_rows, v, err) : -1;
    probes_free(p);
    v->answer.bytes = 0;
    return result > 0 ? ANSWER_ENOUGH : result;
}

/* ---- the child ---- */

static int send_list(struct broker *b, const struct broker_probing *p, struct err *err)
{
    for (size_t at = 0, n; at < p->bytes; at += n) {
        struct broker_ask what = {.op = BROKER_LIST, .addr = at, .bytes = p->bytes};
        n = p->bytes - at < LIST_PIECE ? p->bytes - at : LIST_PIECE;
        what.kind = (uint32_t)n;
        memcpy(what.name, (const uint8_t *)p->list + at, n);
        if (broker_call(b, &what, NULL, 0, NULL, err))
            return -1;
    }
    return 0;
}

/* What came while the broker replays, until its last answer. */
struct listening {
    const struct broker_probing *what;
    uint8_t *rows; /* whole ones, soon */
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
        return l->what->told(l->what->arg, ticks);
    }
    if (bytes > PROBE_ROWS_BYTES - l->bytes)
        return err_set(err, "the broker does not answer");
    memcpy(l->rows + l->bytes, a->data, bytes);
    l->bytes += bytes;
    if (a->result == ANSWER_PART_OF_ROWS)
        return 0;
    const size_t all = l->bytes;
    l->bytes = 0;
    return l->what->rows(l->what->arg, l->rows, all, err);
}

/* Having heard enough, the child says a word and waits for the last answer. */
static int listen_to(struct broker *b, struct listening *l, struct err *err)
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
        if (a->result <= 0 || a->result == ANSWER_ENOUGH)
            return 0;
        if (l->had_enough)
            continue;
        l->had_enough = hear(l, (size_t)n - offsetof(struct broker_answer, data), err);
        if (l->had_enough && broker_dispatch(b->fd, &enough, sizeof enough, -1))
            return err_set(err, "the broker does not answer");
    }
}

int broker_probe(struct broker *b, const struct broker_probing *p, struct err *err)
{
    struct broker_ask what = {.op = BROKER_PROBE, .other = b->other};
    struct listening *l = calloc(1, sizeof *l);
    int result = -1;
    if (p->from)
        what.from = *p->from;
    if (p->to)
        what.at = *p->to;
    if (!l || !(l->rows = malloc(PROBE_ROWS_BYTES))) {
        err_set(err, "no memory");
        goto done;
    }
    l->what = p;
    if (send_list(b, p, err))
        goto done;
    if (broker_dispatch(b->fd, &what, sizeof what, -1))
        err_set(err, "the broker does not answer");
    else if (!listen_to(b, l, err))
        result = l->had_enough                       ? l->had_enough
                 : l->answer.result == ANSWER_ENOUGH ? 1
                                                     : l->answer.result;
    if (!l->had_enough && l->answer.result < 0)
        err_set_code(err, l->answer.code, "%s", l->answer.msg);
done:
    if (l)
        free(l->rows);
    free(l);
    return result;
}
