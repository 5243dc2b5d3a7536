/* survey.c - a first look at a trace for its races. SPDX-License-Identifier: MIT */
#include "facts/order/survey.h"

#include <stdlib.h>

#include "engine/os/kinds.h"
#include "facts/order/chance.h"
#include "facts/order/touches.h"
#include "trace/access.h"

/* What a synchronisation variable was touched for. */
enum use { USE_CHANCE = 1, USE_MEANT = 2 };

struct look {
    struct survey *out;
    struct study *study;
    const struct sync *sync;
    struct chance *chance;
    uint8_t *use; /* by variable */
};

static void use_variables(struct look *q, gaddr addr, uint64_t bytes, struct frame *f)
{
    const struct sync *s = q->sync;
    enum use use = 0;
    for (size_t i = sync_find(s, addr); i < s->variables && s->variable[i].start < addr + bytes;
         i++) {
        if (!use)
            use = chance_is(q->chance, f) ? USE_CHANCE : USE_MEANT;
        q->use[i] |= (uint8_t)use;
    }
}

static int take_touch(void *arg, const struct pass_step *st, const struct touches_one *t,
                      struct err *err)
{
    struct look *q = arg;
    if (t->renews)
        return 0;
    shared_touch(&q->out->shared, st->step->thread, t->addr, t->bytes, t->write);
    return q->out->shared.failed ? err_set(err, "no memory") : 0;
}

static int take_step(void *arg, const struct pass_step *st, struct err *err)
{
    struct look *q = arg;
    const uint8_t *role = q->sync->role[st->step->block];
    const struct code_block *b = st->block;
    (void)err;
    for (unsigned k = 0; role && k < b->accesses && b->access[k].insn < st->step->insns; k++)
        if (role[k] && !access_is_odd(&b->access[k]))
            use_variables(q, code_address(&b->access[k], st->values), b->access[k].mem.bytes,
                          st->frame);
    return 0;
}

static int take_note(void *arg, const struct pass *p, struct err *err)
{
    const struct flow_call *call = (const struct flow_call *)p->at.note;
    (void)err;
    if (call->note.kind == FLOW_CALL && kinds_of(call->nr).does == DOES_FUTEX)
        use_variables(arg, call->arg[0], 4, p->frames.thread[p->at.thread].top);
    return 0;
}

/* A thread's end is meant, wherever its word is looked at. */
static void settle(struct look *q)
{
    const struct sync *s = q->sync;
    shared_settle(&q->out->shared);
    for (size_t i = 0; i < s->variables; i++)
        q->out->chance[i] = q->use[i] == USE_CHANCE;
    for (uint32_t i = 0; i < trace_threads(q->study->trace); i++) {
        size_t k = s->thread[i].word ? sync_find(s, s->thread[i].word) : s->variables;
        if (k < s->variables && s->variable[k].start <= s->thread[i].word)
            q->out->chance[k] = false;
    }
}

int survey_init(struct survey *v, struct study *s, const struct sync *sync, struct err *err)
{
    struct look q = {.out = v,
                     .study = s,
                     .sync = sync,
                     .chance = chance_new(s, err),
                     .use = calloc(sync->variables + 1, sizeof *q.use)};
    const struct touches_visitor visitor = {take_touch, take_step, take_note, &q};
    *v = (struct survey){.chance = calloc(sync->variables + 1, sizeof *v->chance)};
    int bad = q.chance && q.use && v->chance ? 0 : err_set(err, "no memory");
    if (!bad)
        bad = touches_pass(s, sync->first_chunk, &visitor, err);
    if (!bad)
        settle(&q);
    chance_free(q.chance);
    free(q.use);
    return bad;
}

void survey_deinit(struct survey *v)
{
    shared_deinit(&v->shared);
    free(v->chance);
    *v = (struct survey){0};
}
