/* broker_probe.c - probes in a study that is confined: the broker replays, and passes rows on.
 *
 * SPDX-License-Identifier: MIT
 *
 * The child sends its list in pieces, then one question (broker_stream.c).
 */
#include <stdlib.h>
#include <string.h>

#include "replayer/probes.h"
#include "study/broker_private.h"
#include "study/study.h"

enum { LIST_PIECE = BROKER_NAME - 1 }; /* a name ends with a zero */

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
    (void)err;
    return broker_pass(arg, rows, bytes) ? 1 : 0;
}

static void pass_ticks(void *arg, uint64_t ticks)
{
    broker_pass_ticks(arg, ticks);
}

static bool has_enough(void *arg)
{
    return broker_has_enough(arg);
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
    return broker_last(result);
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

int broker_probe(struct broker *b, const struct broker_probing *p, struct err *err)
{
    struct broker_ask what = {.op = BROKER_PROBE};
    if (p->from)
        what.from = *p->from;
    if (p->to)
        what.at = *p->to;
    return send_list(b, p, err) ? -1 : broker_listen(b, &what, &p->rows, NULL, 0, err);
}
