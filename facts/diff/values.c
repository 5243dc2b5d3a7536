/* values.c - what own code read where two recordings went the same way.
 *
 * SPDX-License-Identifier: MIT
 *
 * The rows of a thread come in the order of its execution, and an event executes all reads of its
 * stretch in their order. So a row is that of the next read of the thread's events. A thread whose
 * rows are not in that order is not compared from there on.
 */
#include "facts/diff/values.h"

#include <string.h>

#include "base/array.h"
#include "facts/diff/pointers.h"
#include "study/probe.h"

struct row {
    gaddr addr; /* 0: it could not be read */
    uint64_t value;
};

/* The rows of a thread. */
struct taken {
    struct row *row;
    size_t rows, room;
    size_t event, index; /* the next: of its events, and of the event's reads */
    bool lost;
};

/* The reads of a stretch. */
struct span {
    uint32_t first, count;
};

struct side {
    struct study *study;
    const struct paths *paths;
    struct span *span; /* by stretch */
    struct taken *taken;
    uint64_t want, got; /* rows */
};

struct job {
    const struct values_input *in;
    struct diff *out;
    struct side side[2];
    struct pointers pointers;
};

static const struct span *span_of(const struct side *s, const struct paths_thread *t, size_t event)
{
    return &s->span[t->event[event].stretch];
}

/* ---- rows ---- */

/* The read whose row is next; NULL: no more are wanted. */
static const struct read *expected(const struct side *s, const struct paths_thread *t,
                                   struct taken *k)
{
    while (k->event < t->moments && k->index == span_of(s, t, k->event)->count) {
        k->event++;
        k->index = 0;
    }
    return k->event < t->moments ? &s->paths->reads.read[span_of(s, t, k->event)->first + k->index]
                                 : NULL;
}

/* The last row is taken back. */
static void step_back(const struct side *s, const struct paths_thread *t, struct taken *k)
{
    if (!k->rows)
        return;
    while (!k->index)
        k->index = span_of(s, t, --k->event)->count;
    k->index--;
    k->rows--;
}

static int take_row(void *arg, const struct probe_row *row, struct err *err)
{
    struct side *s = arg;
    uint32_t number = trace_thread_find(s->study->trace, row->at.thread), at = 0;
    const struct paths_thread *t = &s->paths->thread[number];
    struct taken *k = &s->taken[number];
    struct probe_piece piece;
    const uint8_t *bytes;
    struct row r = {0};
    if (k->lost || t->number != row->at.thread)
        return 0;
    if (row->undone) {
        step_back(s, t, k);
        return 0;
    }
    const struct read *read = expected(s, t, k);
    if (!read)
        return s->got >= s->want;
    if (read->insn->in.pc != row->at.pc) {
        k->lost = true;
        return 0;
    }
    if (probe_piece(row, &at, &piece, &bytes) && piece.end == PIECE_WHOLE &&
        piece.bytes == read->bytes) {
        r.addr = piece.where;
        memcpy(&r.value, bytes, piece.bytes);
    }
    if (array_push(&k->row, &k->rows, &k->room, r))
        return err_set(err, "no memory");
    k->index++;
    s->got++;
    return 0;
}

static int find_spans(const struct job *j, struct side *s, struct err *err)
{
    const struct paths_table *table = j->in->table;
    s->span = calloc(table->count + 1, sizeof *s->span);
    s->taken = calloc(s->paths->threads + 1, sizeof *s->taken);
    if (!s->span || !s->taken)
        return err_set(err, "no memory");
    for (size_t i = 0; i < table->count; i++) {
        size_t first;
        size_t n = reads_between(&s->paths->reads, table->stretch[i].start, table->stretch[i].last,
                                 &first);
        s->span[i] = (struct span){(uint32_t)first, (uint32_t)n};
    }
    for (uint32_t i = 0; i < s->paths->threads; i++)
        for (size_t k = 0; k < s->paths->thread[i].moments; k++)
            s->want += span_of(s, &s->paths->thread[i], k)->count;
    return 0;
}

static int take_rows(struct side *s, struct err *err)
{
    const struct reads *reads = &s->paths->reads;
    struct probe *probe = calloc(reads->count + 1, sizeof *probe);
    uint8_t *code = NULL;
    size_t bytes = 0, room = 0;
    struct bytecode one;
    int bad = probe ? 0 : err_set(err, "no memory");
    for (size_t i = 0; !bad && i < reads->count; i++) {
        reads_write(&reads->read[i], &one);
        if (array_reserve(&code, &room, bytes + one.bytes))
            bad = err_set(err, "no memory");
        else
            memcpy(code + bytes, one.code, one.bytes);
        bytes += one.bytes;
        probe[i] = (struct probe){.pc = reads->read[i].insn->in.pc, .take_bytes = one.bytes};
    }
    bytes = 0;
    for (size_t i = 0; !bad && i < reads->count; i++) {
        probe[i].take = code + bytes;
        bytes += probe[i].take_bytes;
    }
    if (!bad && s->want)
        bad = study_probe(s->study, probe, reads->count, NULL, take_row, s, err) < 0 ? -1 : 0;
    free(probe);
    free(code);
    return bad;
}

/* ---- comparing ---- */

struct pair {
    uint32_t thread[2];
    size_t event[2];
};

static int add_part(struct job *j, const struct pair *at, const struct read *read[2],
                    const struct row *row[2], struct err *err)
{
    const struct paths_thread *t = &j->side[0].paths->thread[at->thread[0]];
    struct diff_part p = {.kind = DIFF_VALUE,
                          .branch = read[0]->pc,
                          .depth = t->event[at->event[0]].depth,
                          .bytes = read[0]->bytes,
                          .times = 1};
    for (int i = 0; i < 2; i++)
        p.side[i] = (struct diff_side){
            .thread = at->thread[i],
            .event = at->event[i],
            .cfa = j->side[i].paths->thread[at->thread[i]].moment[at->event[i]].cfa,
            .addr = row[i]->addr,
            .value = row[i]->value};
    return diff_add(j->out, &p, err);
}

static bool is_same(struct job *j, const struct pair *at, const struct read *read[2],
                    const struct row *row[2])
{
    struct pointers_word word[2];
    if (!row[0]->addr || !row[1]->addr || read[0]->bytes != read[1]->bytes)
        return true; /* nothing is known */
    for (int i = 0; i < 2; i++) {
        if (read[i]->canary)
            j->pointers.side[i].canary = row[i]->value;
        const struct paths_moment *m =
            &j->side[i].paths->thread[at->thread[i]].moment[at->event[i]];
        word[i] = (struct pointers_word){row[i]->value, m->insn, m->cfa};
    }
    return row[0]->value == row[1]->value ||
           (read[0]->bytes == 8 && pointers_same(&j->pointers, word));
}

/* Two events that are a pair; at their ends, if they began elsewhere. 1: the rows are over. */
static int compare_pair(struct job *j, const struct pair *at, const size_t first[2],
                        struct err *err)
{
    const struct span *span[2];
    for (int i = 0; i < 2; i++)
        span[i] = span_of(&j->side[i], &j->side[i].paths->thread[at->thread[i]], at->event[i]);
    uint32_t both = span[0]->count < span[1]->count ? span[0]->count : span[1]->count;
    for (uint32_t k = 0; k < both; k++) {
        const struct read *read[2];
        const struct row *row[2];
        for (int i = 0; i < 2; i++) {
            uint32_t skip = span[i]->count - both + k;
            const struct taken *t = &j->side[i].taken[at->thread[i]];
            if (first[i] + skip >= t->rows)
                return 1;
            read[i] = &j->side[i].paths->reads.read[span[i]->first + skip];
            row[i] = &t->row[first[i] + skip];
        }
        if (!is_same(j, at, read, row) && add_part(j, at, read, row, err))
            return -1;
        j->out->values++;
    }
    return 0;
}

static int compare_threads(struct job *j, uint32_t a, uint32_t b, struct err *err)
{
    const struct paths_thread *t[2] = {&j->side[0].paths->thread[a], &j->side[1].paths->thread[b]};
    struct pair at = {.thread = {a, b}};
    size_t first[2] = {0, 0};
    int end = 0;
    for (; !end && at.event[0] < t[0]->moments; at.event[0]++) {
        uint32_t pair = t[0]->moment[at.event[0]].pair;
        if (pair) {
            while (at.event[1] < t[1]->moments && t[1]->moment[at.event[1]].pair != pair)
                first[1] += span_of(&j->side[1], t[1], at.event[1]++)->count;
            end = at.event[1] == t[1]->moments || compare_pair(j, &at, first, err);
        }
        first[0] += span_of(&j->side[0], t[0], at.event[0])->count;
    }
    return end < 0 ? -1 : 0;
}

static int compare(struct job *j, struct err *err)
{
    for (int i = 0; i < 2; i++) {
        j->side[i] = (struct side){.study = j->in->study[i], .paths = j->in->paths[i]};
        j->pointers.side[i] =
            (struct pointers_side){.study = j->in->study[i], .paths = j->in->paths[i]};
        if (find_spans(j, &j->side[i], err) || take_rows(&j->side[i], err))
            return -1;
    }
    if (pointers_init(&j->pointers, j->in->match, err))
        return -1;
    for (uint32_t i = 0; i < j->in->paths[0]->threads; i++)
        if (j->in->match[i] != PATHS_NONE && compare_threads(j, i, j->in->match[i], err))
            return -1;
    return 0;
}

int values_compare(const struct values_input *in, struct diff *out, struct err *err)
{
    struct job j = {.in = in, .out = out};
    int bad = compare(&j, err);
    for (int i = 0; i < 2; i++) {
        for (uint32_t k = 0; j.side[i].taken && k < j.side[i].paths->threads; k++) {
            out->lost += j.side[i].taken[k].lost;
            free(j.side[i].taken[k].row);
        }
        free(j.side[i].taken);
        free(j.side[i].span);
    }
    pointers_deinit(&j.pointers);
    return bad;
}
