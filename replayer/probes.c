/* probes.c - values taken at places of a program, by replaying it once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "replayer/probes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/table.h"
#include "debug/probe_check.h"
#include "debug/target/agent.h"
#include "replayer/replay_int.h"
#include "replayer/replay_private.h"

struct probes {
    struct probe_list *list; /* packed */
    size_t bytes;
    uint64_t *pc; /* by index in the user's list */
};

/* ---- bytecode ---- */

const char *probe_text(enum agent_result result)
{
    return agent_text(result);
}

uint32_t probe_take_registers(uint64_t mask, uint8_t code[PROBE_TAKE_REGISTERS])
{
    uint32_t n = 0;
    for (unsigned i = 0; i < 64; i++)
        if (mask >> i & 1) {
            code[n++] = OP_TAKE_REGISTER;
            code[n++] = 0;
            code[n++] = (uint8_t)i;
        }
    code[n++] = OP_END;
    return n;
}

static int check_code(const struct probe *p, size_t index, struct err *err)
{
    const char *bad = p->when_bytes ? agent_check(p->when, p->when_bytes) : NULL;
    if (!bad && p->take_bytes)
        bad = agent_check_take(p->take, p->take_bytes);
    return bad ? err_set(err, "probe %zu: its bytecode: %s", index, bad) : 0;
}

/* ---- packing ---- */

/* Many probes take the same: their bytecode is packed once. */
struct known {
    uint64_t hash; /* never 0 */
    uint32_t at, bytes;
};

struct packing {
    TABLE(struct known) known;
    uint8_t *code;
    uint32_t bytes;
    size_t room;
};

static int add_bytes(struct packing *p, const uint8_t *code, uint32_t bytes, struct err *err)
{
    if (bytes > PROBE_LIST_BYTES - p->bytes)
        return err_set(err, "too many probes: their bytecode has more than %d MiB",
                       PROBE_LIST_BYTES >> 20);
    if (array_reserve(&p->code, &p->room, p->bytes + bytes))
        return err_set(err, "no memory");
    memcpy(p->code + p->bytes, code, bytes);
    p->bytes += bytes;
    return 0;
}

static uint64_t hash_code(const uint8_t *code, uint32_t bytes)
{
    uint64_t hash = bytes;
    for (uint32_t i = 0; i < bytes; i++)
        hash = hash_fold(hash ^ hash >> 32, code[i]);
    return hash | 1;
}

static int add_code(struct packing *p, const uint8_t *code, uint32_t bytes, uint32_t *at,
                    struct err *err)
{
    *at = 0;
    if (!bytes)
        return 0;
    if (table_reserve(&p->known))
        return err_set(err, "no memory");
    struct known *k = table_find(&p->known, hash_code(code, bytes));
    if (k->hash && k->bytes == bytes && memcmp(p->code + k->at, code, bytes) == 0) {
        *at = k->at;
        return 0;
    }
    *at = p->bytes;
    if (add_bytes(p, code, bytes, err))
        return -1;
    if (!k->hash) {
        *k = (struct known){hash_code(code, bytes), *at, bytes};
        p->known.used++;
    }
    return 0;
}

static int by_pc(const void *a, const void *b)
{
    const struct probe_place *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int pack_places(struct packing *p, const struct probe *list, size_t n,
                       struct probe_place *place, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct probe *u = &list[i];
        place[i] = (struct probe_place){.pc = u->pc,
                                        .index = (uint32_t)i,
                                        .when_bytes = u->when_bytes,
                                        .take_bytes = u->take_bytes};
        if (check_code(u, i, err) || add_code(p, u->when, u->when_bytes, &place[i].when_at, err) ||
            add_code(p, u->take, u->take_bytes, &place[i].take_at, err))
            return -1;
    }
    qsort(place, n, sizeof *place, by_pc);
    return 0;
}

struct probes *probes_new(const struct probe *list, size_t n, struct err *err)
{
    struct packing p = {.code = NULL};
    struct probes *out = NULL;
    struct probe_list *packed = NULL;
    struct probe_place *place = n <= PROBES_MOST ? calloc(n + 1, sizeof *place) : NULL;
    if (!place)
        err_set(err, n <= PROBES_MOST ? "no memory" : "too many probes: more than %d", PROBES_MOST);
    if (!place || pack_places(&p, list, n, place, err))
        goto done;
    const size_t bytes = sizeof *packed + n * sizeof *place + p.bytes;
    if (!(packed = malloc(bytes))) {
        err_set(err, "no memory");
        goto done;
    }
    *packed = (struct probe_list){.places = (uint32_t)n, .code_bytes = p.bytes};
    memcpy(packed + 1, place, n * sizeof *place);
    if (p.bytes)
        memcpy((uint8_t *)(packed + 1) + n * sizeof *place, p.code, p.bytes);
    out = probes_unpack(packed, bytes, err);
done:
    free(packed);
    free(place);
    free(p.code);
    free(p.known.slot);
    return out;
}

struct probes *probes_unpack(const void *packed, size_t bytes, struct err *err)
{
    struct probes *p = calloc(1, sizeof *p);
    if (!p || !(p->list = malloc(bytes ? bytes : 1))) {
        err_set(err, "no memory");
        goto fail;
    }
    memcpy(p->list, packed, bytes);
    p->bytes = bytes;
    const char *bad = probe_check_list(p->list, bytes);
    if (bad) {
        err_set(err, "%s", bad);
        goto fail;
    }
    if (!(p->pc = calloc(p->list->places + 1ul, sizeof *p->pc))) {
        err_set(err, "no memory");
        goto fail;
    }
    const struct probe_place *place = (const struct probe_place *)(p->list + 1);
    for (uint32_t i = 0; i < p->list->places; i++)
        p->pc[place[i].index] = place[i].pc;
    return p;
fail:
    probes_free(p);
    return NULL;
}

void probes_free(struct probes *p)
{
    if (!p)
        return;
    free(p->list);
    free(p->pc);
    free(p);
}

const void *probes_packed(const struct probes *p, size_t *bytes)
{
    *bytes = p->bytes;
    return p->list;
}

/* ---- rows ---- */

int probe_piece(const struct probe_row *row, uint32_t *at, struct probe_piece *piece,
                const uint8_t **bytes)
{
    if (row->n - *at < sizeof *piece)
        return 0;
    memcpy(piece, row->bytes + *at, sizeof *piece);
    *at += (uint32_t)sizeof *piece;
    *bytes = row->bytes + *at;
    *at += (piece->bytes + 7) & ~7u;
    return 1;
}

int probes_each(const struct probes *p, const void *rows, size_t bytes, probe_fn *fn, void *arg,
                struct err *err)
{
    int result = 0;
    for (size_t at = 0; at < bytes && !result;) {
        const struct probe_taken *t = (const void *)((const uint8_t *)rows + at);
        if (t->probe >= p->list->places || t->pc != p->pc[t->probe])
            return err_set(err, "the replaying process talks nonsense: a row of no probe");
        const struct probe_row row = {
            .probe = t->probe,
            .undone = t->undone,
            .when = (enum agent_result)t->when,
            .take = (enum agent_result)t->take,
            .at = {.thread = t->thread, .count = t->count, .pc = t->pc},
            .ticks = t->ticks,
            .value = t->value,
            .bytes = (const uint8_t *)(t + 1),
            .n = (uint32_t)(t->bytes - sizeof *t),
        };
        at += t->bytes;
        result = fn(arg, &row, err);
    }
    return result;
}

/* ---- the replay ---- */

struct run {
    const struct probes_options *o;
    int (*rows)(void *arg, const void *rows, size_t bytes, struct err *err);
    void *arg;
    uint64_t looked_ns; /* when the user was last asked */
    bool enough;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static bool is_time(struct run *r)
{
    enum { LOOK_EVERY_NS = 100000000 };
    const uint64_t now = now_ns();
    if (now - r->looked_ns < LOOK_EVERY_NS)
        return false;
    r->looked_ns = now;
    return true;
}

/* A pause hands over what rows there are, and tells how far the replay is. */
static bool pause_now(void *arg)
{
    struct run *r = arg;
    return (r->o->progress || r->o->stop) && is_time(r);
}

static void tell(struct run *r, uint64_t ticks)
{
    if (r->o->progress)
        r->o->progress(r->o->arg, ticks);
    r->enough |= r->o->stop && r->o->stop(r->o->arg);
}

static int take_rows(void *arg, const void *rows, size_t bytes, struct err *err)
{
    struct run *r = arg;
    const int result = r->rows(r->arg, rows, bytes, err);
    r->enough |= result > 0;
    if (result)
        return -1;
    if (bytes && is_time(r)) /* it writes rows all the time, and is never waited for */
        tell(r, ((const struct probe_taken *)rows)->ticks);
    return r->enough ? -1 : 0;
}

/* 0, with the stop; 1: enough; -1. */
static int advance(struct run *run, struct replay *r, const struct position *to,
                   struct replay_stop *stop, struct err *err)
{
    struct mailbox_run how = {.flags = 0};
    int bad = replay_goal(to, &how.goal, err) ? -1 : replay_go(r, &how, err);
    while (!bad && !run->enough) {
        if (r->stop.what.reason == STOP_EXEC) {
            how.flags = 0;
            bad = replay_exec(r, err);
        } else if (r->stop.what.reason == STOP_PAUSED) {
            how.flags = RUN_ON;
            tell(run, r->stop.what.ticks);
        } else {
            break;
        }
        if (!bad && !run->enough)
            bad = replay_go(r, &how, err);
    }
    if (run->enough)
        return 1;
    if (bad || replay_take_stop(r, stop, err))
        return -1;
    if (stop->why != STOP_POSITION && stop->why != STOP_END && stop->why != STOP_LOG_END)
        return err_set(err, "the replaying process talks nonsense: a stop that nobody asked for");
    return 0;
}

static int replay_all(struct run *run, struct replay *r, const struct probes *p, struct err *err)
{
    struct replay_stop stop;
    if (run->o->from) {
        int result = advance(run, r, run->o->from, &stop, err);
        if (result)
            return result;
        if (stop.why != STOP_POSITION)
            return err_set(err, "the recording ends before the window begins");
    }
    return replay_probe(r, p, err) ? -1 : advance(run, r, run->o->to, &stop, err);
}

int probes_stream(struct pinball *pinball, const struct probes *p, const struct probes_options *o,
                  int (*rows)(void *arg, const void *rows, size_t bytes, struct err *err),
                  void *arg, struct err *err)
{
    struct run run = {.o = o, .rows = rows, .arg = arg, .looked_ns = now_ns()};
    const struct replay_options options = {.rows = take_rows, .pause = pause_now, .arg = &run};
    struct replay *r = replay_new(pinball, &options, err);
    int result = r ? replay_all(&run, r, p, err) : -1;
    replay_free(r);
    return result;
}

struct reading {
    const struct probes *probes;
    probe_fn *fn;
    void *arg;
};

static int read_rows(void *arg, const void *rows, size_t bytes, struct err *err)
{
    const struct reading *reading = arg;
    return probes_each(reading->probes, rows, bytes, reading->fn, reading->arg, err);
}

int probes_run(struct pinball *pinball, const struct probes *p, const struct probes_options *o,
               probe_fn *fn, void *arg, struct err *err)
{
    struct reading reading = {p, fn, arg};
    return probes_stream(pinball, p, o, read_rows, &reading, err);
}
