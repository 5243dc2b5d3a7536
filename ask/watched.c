/* watched.c - what some memory held around each access to it. SPDX-License-Identifier: MIT */
#include "ask/watched.h"

#include <stdlib.h>
#include <string.h>

#include "ask/touching.h"
#include "source/bytecode.h"
#include "study/past.h"

struct job {
    struct asking *q;
    const struct location *l;
    watched_fn *fn;
    void *arg;
    size_t first, next; /* of the accesses whose `before` is known, and behind them */
    struct watched_value before, now;
};

/* The ranges, as far as they fit. */
static void write_take(const struct location *l, struct bytecode *out)
{
    uint64_t room = WATCHED_MOST;
    for (size_t i = 0; i < l->ranges && room; i++) {
        uint64_t bytes = l->range[i].end - l->range[i].start;
        bytes = bytes < room ? bytes : room;
        room -= bytes;
        bytecode_const(out, l->range[i].start);
        bytecode_take(out, (uint32_t)bytes);
    }
    for (size_t i = 0; i < l->leads; i++) {
        uint32_t ends = bytecode_jump(out, OP_TRY);
        bytecode_const(out, l->range[0].start + l->lead[i]);
        bytecode_ref(out, sizeof(gaddr));
        bytecode_take_string(out, RENDER_ELEMENTS);
        bytecode_land(out, ends);
    }
    bytecode_end(out);
}

static void keep_string(struct watched_value *v, const struct probe_piece *p, const uint8_t *bytes)
{
    if (v->strings == LOCATION_LEADS || p->bytes > RENDER_ELEMENTS)
        return;
    struct watched_string *s = &v->string[v->strings++];
    s->addr = p->where;
    s->bytes = p->bytes;
    memcpy(s->text, bytes, p->bytes);
}

static void read_row(const struct probe_row *row, struct watched_value *out)
{
    uint32_t at = 0;
    struct probe_piece piece;
    const uint8_t *bytes;
    out->known = out->strings = 0;
    while (probe_piece(row, &at, &piece, &bytes)) {
        if (piece.kind == PIECE_STRING) {
            keep_string(out, &piece, bytes);
            continue;
        }
        if (piece.end != PIECE_WHOLE || out->known + piece.bytes > WATCHED_MOST) {
            out->known = 0;
            return;
        }
        memcpy(out->bytes + out->known, bytes, piece.bytes);
        out->known += piece.bytes;
    }
    if (row->take != AGENT_DONE)
        out->known = 0;
}

static int take_row(void *arg, size_t first, size_t behind, const struct probe_row *row,
                    struct err *err)
{
    struct job *j = arg;
    int end = 0;
    read_row(row, &j->now);
    if (j->next > j->first && j->first != first)
        end = j->fn(j->arg, j->first, j->next, &j->before, &j->now, err);
    j->before = j->now;
    j->first = first;
    j->next = behind;
    return end;
}

static void read_strings(const struct location *l, struct past *past, struct watched_value *out)
{
    for (size_t i = 0; i < l->leads && l->lead[i] + sizeof(gaddr) <= out->known; i++) {
        struct watched_string *s = &out->string[out->strings++];
        memcpy(&s->addr, out->bytes + l->lead[i], sizeof s->addr);
        s->bytes = (uint32_t)past_read(past, s->addr, s->text, sizeof s->text);
    }
}

/* What is there in the end. */
static int tell_last(struct job *j, struct err *err)
{
    struct watched_value after = {.known = 0};
    struct past *past = study_past(j->q->study, j->l->behind, &j->l->end, err);
    if (!past)
        return -1;
    for (size_t i = 0; i < j->l->ranges && after.known < WATCHED_MOST; i++) {
        size_t bytes = (size_t)(j->l->range[i].end - j->l->range[i].start);
        bytes = bytes < WATCHED_MOST - after.known ? bytes : WATCHED_MOST - after.known;
        if (past_read(past, j->l->range[i].start, after.bytes + after.known, bytes) != bytes) {
            after.known = 0;
            break;
        }
        after.known += bytes;
    }
    read_strings(j->l, past, &after);
    past_free(past);
    return j->fn(j->arg, j->first, j->next, &j->before, &after, err);
}

int watched_run(struct asking *q, const struct location *l, const struct touch *list, size_t count,
                watched_fn *fn, void *arg, struct err *err)
{
    struct job *j = calloc(1, sizeof *j);
    struct bytecode take = {.bytes = 0};
    if (!j)
        return err_set(err, "no memory");
    *j = (struct job){.q = q, .l = l, .fn = fn, .arg = arg};
    write_take(l, &take);
    struct touching t = {.list = list,
                         .count = count,
                         .range = l->range,
                         .ranges = l->ranges,
                         .take = take.code,
                         .take_bytes = take.bytes};
    int end = touching_run(q, &t, take_row, j, err);
    if (!end && j->next > j->first)
        end = tell_last(j, err);
    free(j);
    return end;
}

const uint8_t *watched_bytes(const struct location *l, const struct watched_value *v,
                             const struct touch *t)
{
    uint64_t at = 0;
    for (size_t i = 0; i < l->ranges; i++) {
        const struct touch_range *r = &l->range[i];
        if (t->addr >= r->start && t->addr + t->bytes <= r->end) {
            at += t->addr - r->start;
            return at + t->bytes <= v->known ? v->bytes + at : NULL;
        }
        at += r->end - r->start;
    }
    return NULL;
}

static size_t string_at(void *arg, gaddr addr, void *out, size_t bytes)
{
    const struct watched_value *v = arg;
    for (size_t i = 0; i < v->strings; i++)
        if (v->string[i].addr == addr) {
            size_t n = v->string[i].bytes < bytes ? v->string[i].bytes : bytes;
            memcpy(out, v->string[i].text, n);
            return n;
        }
    return RENDER_UNREAD;
}

void watched_text(struct asking *q, const struct location *l, const struct watched_value *v,
                  char *buf, size_t room)
{
    struct watched_value copy = *v;
    const struct render render = {q->study->source, l->pc, string_at, &copy};
    const struct render_value value = {.type = l->type,
                                       .bytes = v->bytes,
                                       .n = v->known,
                                       .bit = l->bit,
                                       .bits = l->bits,
                                       .address = l->range[0].start};
    render_write(&render, &value, buf, room);
}
