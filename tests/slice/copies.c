/* copies.c - runs of copies against a replay: copies PINBALL SEED CRITERIA.
 *
 * SPDX-License-Identifier: MIT
 *
 * A story tells a run of copies as one step. So the bytes that the first copy read are those that
 * the use behind the last copy reads; of an extended value, zeros or its sign. Stories are taken of
 * instructions of the program's own, drawn by the seed; one replay looks at both ends of all runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "slicer/story/story.h"
#include "source/registers.h"
#include "study/look.h"
#include "study/past.h"

enum { BYTES_MOST = 4096, TRIES_MOST = 2000 };

/* An end of a run; its other one has the number with another last bit. */
struct end {
    uint64_t number, insn;
    struct slice_dependence of;
    struct position at;
    uint64_t copies, criterion;
    bool extended, known;
    uint8_t value[BYTES_MOST];
};

static uint64_t state;
static struct end **end; /* in the order of numbers, then of the execution */
static size_t ends, end_room;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 20) % below;
}

static void die(const char *what)
{
    fprintf(stderr, "copies: %s\n", what);
    exit(1);
}

static void add_end(const struct slice_dependence *d, const struct story_row *row, uint64_t of)
{
    struct end *e = calloc(1, sizeof *e);
    if (!e || array_push(&end, &ends, &end_room, e))
        die("no memory");
    e->number = ends - 1;
    e->insn = d->node;
    e->of = *d;
    e->copies = row->copies;
    e->criterion = of;
    e->extended = row->extended;
    e->of.bytes = e->of.bytes < BYTES_MOST ? e->of.bytes : BYTES_MOST;
}

static void add_story(const struct story *t, uint64_t of)
{
    for (size_t i = 0; i < t->rows; i++) {
        const struct story_row *row = &t->row[i];
        if (!row->copies || row->came.bytes == 0)
            continue;
        if (row->came.bytes != row->taken.bytes || row->came.node >= row->taken.node) {
            printf("FAILED: story of %" PRIu64 ": a run from %" PRIu64 " to %" PRIu64 "\n", of,
                   row->came.node, row->taken.node);
            exit(1);
        }
        add_end(&row->came, row, of);
        add_end(&row->taken, row, of);
    }
}

/* The story of what an instruction uses. False: it is not the program's own. */
static bool tell(struct study *s, uint64_t insn)
{
    struct slice_want want = {.kind = SLICE_USES, .at = insn};
    struct criterion c = {.want = &want, .wants = 1};
    struct findings none = {.count = 0};
    struct report_options o = {.flows = true, .fold = true, .slice = {.edges = SLICE_ALL}};
    struct source_line line;
    struct err err;
    if (look_positions(s, &insn, 1, &c.position, &err))
        die(err.msg);
    c.pc = c.position.pc;
    c.thread = trace_thread_find(s->trace, c.position.thread);
    if (!study_line(s, c.pc, &line))
        return false;
    struct slice *slice = slice_backward(s->index, &want, 1, &o.slice, &err);
    struct report *r = slice ? report_new(s, slice, &c, &o, &err) : NULL;
    struct story *t = r ? story_new(s, r, &c, &none, &err) : NULL;
    if (!t)
        die(err.msg);
    add_story(t, insn);
    story_free(t);
    report_free(r);
    slice_free(slice);
    return true;
}

static int by_insn(const void *a, const void *b)
{
    const struct end *x = *(struct end *const *)a, *y = *(struct end *const *)b;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static int by_number(const void *a, const void *b)
{
    const struct end *x = *(struct end *const *)a, *y = *(struct end *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void look_at(struct study *s, struct past *past, struct end *e)
{
    static struct program_registers registers;
    const struct slice_dependence *d = &e->of;
    struct err err;
    if (d->memory)
        e->known = past_read(past, d->addr, e->value, d->bytes) == d->bytes;
    else if (past_registers(past, trace_thread(s->trace, d->node_thread), &registers, &err))
        die(err.msg);
    else
        e->known = registers_value(&registers, d->addr, d->bytes, e->value);
}

static void replay(struct study *s)
{
    struct err err;
    uint64_t *insn = malloc(sizeof *insn * (ends + 1));
    struct position *at = malloc(sizeof *at * (ends + 1));
    struct past *past = past_new(s, &err);
    if (!insn || !at || !past)
        die(past ? "no memory" : err.msg);
    qsort(end, ends, sizeof *end, by_insn);
    for (size_t i = 0; i < ends; i++)
        insn[i] = end[i]->insn;
    if (look_positions(s, insn, ends, at, &err))
        die(err.msg);
    for (size_t i = 0; i < ends; i++) {
        if ((!i || insn[i] != insn[i - 1]) && past_go(past, insn[i], &at[i], &err))
            die(err.msg);
        end[i]->at = at[i];
        look_at(s, past, end[i]);
    }
    past_free(past);
    free(insn);
    free(at);
    qsort(end, ends, sizeof *end, by_number);
}

/* Zeros, or the sign of the last byte of the source. */
static bool extends(const struct end *from, const struct end *to)
{
    bool negative = from->value[from->of.bytes - 1] & 0x80;
    for (uint64_t i = 0; i < to->of.bytes; i++)
        if (to->value[i] != (negative ? to->value[0] : 0))
            return false;
    return to->value[0] == 0 || to->value[0] == 0xff;
}

static void show(const char *what, const struct end *e)
{
    char text[POSITION_TEXT];
    position_format(&e->at, text);
    printf("  %s %s, %s %#" PRIx64 ":", what, text, e->of.memory ? "memory" : "location",
           e->of.addr);
    for (uint64_t i = 0; i < e->of.bytes && i < 64; i++)
        printf(" %02x", e->value[i]);
    putchar('\n');
}

static void check(void)
{
    size_t same = 0, extended = 0, unknown = 0;
    uint64_t copies = 0;
    for (size_t i = 0; i < ends; i += 2) {
        const struct end *from = end[i], *to = end[i + 1];
        if (!from->known || !to->known) {
            unknown++;
            continue;
        }
        bool good = from->extended ? extends(from, to)
                                   : memcmp(from->value, to->value, from->of.bytes) == 0;
        if (!good) {
            printf("FAILED: story of %" PRIu64 ": %" PRIu64 " copies%s\n", from->criterion,
                   from->copies, from->extended ? ", extended" : "");
            show("read at", from);
            show("used at", to);
            exit(1);
        }
        extended += from->extended;
        same += !from->extended;
        copies += from->copies;
    }
    printf("good: %zu runs of %" PRIu64 " copies, %zu extended, %zu unknown\n", same + extended,
           copies, extended, unknown);
    if (!same || unknown > same)
        die("too few runs were looked at");
}

int main(int argc, char **argv)
{
    struct err err;
    char path[] = "/tmp/copies.XXXXXX";
    if (argc != 4)
        die("usage: copies PINBALL SEED CRITERIA");
    state = strtoull(argv[2], NULL, 10);
    long left = strtol(argv[3], NULL, 10);
    close(mkstemp(path));
    struct study_options so = {.trace = path, .fresh = true};
    struct study *s = study_open(argv[1], &so, &err);
    unlink(path);
    if (!s || study_analyse(s, &err))
        die(err.msg);
    for (int i = 0; left && i < TRIES_MOST; i++)
        left -= tell(s, draw(trace_insns(s->trace)));
    replay(s);
    check();
    for (size_t i = 0; i < ends; i++)
        free(end[i]);
    free(end);
    study_close(s);
    return 0;
}
