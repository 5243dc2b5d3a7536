/* probe.c - values taken at places of a recording that is studied. SPDX-License-Identifier: MIT */
#include "study/probe.h"

#include "pinball/pinball.h"
#include "study/broker.h"
#include "study/study_private.h"

struct probing {
    const struct study_probe_options *o;
    const struct probes *probes;
    probe_fn *fn;
    void *arg;
    uint64_t total; /* ticks; 0: not known */
};

static void tell(void *arg, uint64_t ticks)
{
    const struct probing *p = arg;
    if (p->o->progress)
        p->o->progress(p->o->arg, ticks, p->total);
}

static bool stop(void *arg)
{
    const struct probing *p = arg;
    return p->o->stop && p->o->stop(p->o->arg);
}

static int rows_came(void *arg, const void *rows, size_t bytes, struct err *err)
{
    const struct probing *p = arg;
    return probes_each(p->probes, rows, bytes, p->fn, p->arg, err);
}

static int told(void *arg, uint64_t ticks)
{
    tell(arg, ticks);
    return stop(arg);
}

static int by_broker(struct probing *p, struct broker *b, const struct position *from,
                     const struct position *to, struct err *err)
{
    struct broker_probing what = {
        .from = from, .to = to, .rows = {.some = rows_came, .told = told, .arg = p}};
    what.list = probes_packed(p->probes, &what.bytes);
    return broker_probe(b, &what, err);
}

int study_probe(struct study *s, const struct probe *list, size_t n,
                const struct study_probe_options *options, probe_fn *fn, void *arg, struct err *err)
{
    const struct study_probe_options none = {.from = NULL};
    struct probing p = {.o = options ? options : &none, .fn = fn, .arg = arg};
    const struct position *own_from = s->own->has_from ? &s->own->from : NULL;
    const struct position *from = p.o->from ? p.o->from : own_from;
    const struct position *to = p.o->to ? p.o->to : s->has_to ? &s->to : NULL;
    const struct probes_options o = {.from = from, .to = to, tell, stop, &p};
    const char *ticks = pinball_end_get(s->pinball, "ticks");
    struct probes *probes = probes_new(list, n, err);
    if (!probes)
        return -1;
    if (ticks && text_number(ticks, &p.total))
        p.total = 0;
    p.probes = probes;
    int result = s->own->broker ? by_broker(&p, s->own->broker, from, to, err)
                                : probes_run(s->pinball, probes, &o, fn, arg, err);
    probes_free(probes);
    return result;
}
