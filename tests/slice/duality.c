/* duality.c - forward slices against backward ones: duality PINBALL SEED PAIRS [no-chops].
 *
 * SPDX-License-Identifier: MIT
 *
 * Instruction m is in the forward slice of n exactly if n is in the backward slice of what m uses.
 * And every node of a backward slice but its criterion is at the end of an edge, every node of a
 * forward slice at the begin of one; and of a chop, edges are true. With and without pruning. A
 * copy may be in a chop by different bytes on both sides, and then have no edge in it. (no-chops:
 * what it copied to then has none either.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slicer/walk/copy.h"
#include "slicer/walk/edges.h"
#include "study/study.h"

enum { LOOKS = 40, PRUNES = 4, SAMPLE = 6 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 20) % below;
}

static void die(const char *what)
{
    fprintf(stderr, "duality: %s\n", what);
    exit(1);
}

static uint8_t *ends; /* by instruction: it is at the end of an edge */
static uint8_t *begins;
static struct slice_dependence sample[SAMPLE]; /* some edges */
static uint64_t sampled;

static int edge(void *arg, const struct slice_dependence *d)
{
    (void)arg;
    ends[d->on] = 1;
    if (d->node != UINT64_MAX)
        begins[d->node] = 1;
    if (d->node == UINT64_MAX)
        return 0;
    uint64_t place = sampled < SAMPLE ? sampled : draw(sampled + 1);
    sampled++;
    if (place < SAMPLE)
        sample[place] = *d;
    return 0;
}

static void check_edges(struct trace_index *s, const struct slice *x, const struct slice_want *want,
                        const struct slice_options *o, uint64_t insns)
{
    struct err err;
    memset(ends, 0, insns + 1);
    if (slice_edges(s, x, want, 1, o, edge, NULL, &err))
        die(err.msg);
    for (uint64_t n = slice_next(x, 0); n != UINT64_MAX; n = slice_next(x, n + 1))
        if (!ends[n] && n != want->at) {
            printf("FAILED: no edge leads to %llu, in the slice of %llu\n", (unsigned long long)n,
                   (unsigned long long)want->at);
            exit(1);
        }
}

static void draw_prunes(const struct trace *t, struct slice_prune *list)
{
    enum { WRITE = 2 };
    const struct trace_map *map;
    size_t maps = trace_maps(t, &map);
    for (int i = 0; i < PRUNES; i++) {
        const struct trace_map *m = &map[draw(maps)];
        list[i] = (struct slice_prune){
            .kind = SLICE_PRUNE_REGISTER, .addr = loc_gpr((unsigned)draw(16)), .bytes = 8};
        if (i % 2 && m->prot & WRITE) {
            list[i].kind = SLICE_PRUNE_MEMORY;
            list[i].addr = m->start + draw(m->end - m->start);
            list[i].bytes = 1 + draw(1ull << draw(20));
        }
    }
}

static struct slice *take(struct trace_index *s, uint64_t at, const struct slice_options *o,
                          bool forward, struct slice_want *want)
{
    struct err err;
    *want = (struct slice_want){.kind = SLICE_USES, .at = at};
    struct slice *x =
        forward ? slice_forward(s, want, 1, o, &err) : slice_backward(s, want, 1, o, &err);
    if (!x)
        die(err.msg);
    return x;
}

/* Does the node depend on the other one by what the edge says? */
static bool is_true(struct trace_index *s, const struct slice_dependence *d,
                    const struct slice_options *o)
{
    struct err err;
    struct slice_want want = {.kind = d->kind == SLICE_CONTROL ? SLICE_USES
                                      : d->memory              ? SLICE_MEMORY
                                                               : SLICE_REGISTER,
                              .at = d->node,
                              .thread = d->node_thread,
                              .addr = d->addr,
                              .bytes = d->bytes};
    struct slice_options values = *o;
    values.edges = d->kind == SLICE_CONTROL ? SLICE_ALL : SLICE_VALUE;
    struct slice *back = slice_backward(s, &want, 1, &values, &err);
    if (!back)
        die(err.msg);
    bool has = slice_has(back, d->on);
    slice_free(back);
    return has;
}

struct looked {
    uint64_t insn;
    gaddr pc;
    bool copies;
};

static int look(void *arg, const struct forward_at *at, struct err *err)
{
    (void)err;
    struct looked *l = arg;
    struct copy copy;
    struct copied copied;
    if (at->insn != l->insn)
        return 0;
    l->pc = at->in->pc;
    l->copies = at->call || copy_of(at, &copy) || forward_copies(at, &copied);
    return 1;
}

/* A node of a chop that has no edge: it must be a copy, or a system call, which may be one
 * (mremap). */
static void check_edgeless(struct trace_index *s, uint64_t k, uint64_t n, uint64_t m,
                           const struct slice_options *o)
{
    struct err err;
    struct looked l = {.insn = k};
    struct forward_options fo = {.keep_saves = o->keep_saves, .max_save = o->max_save};
    struct forward_visitor v = {.arg = &l, .insn = look};
    if (forward_pass(s, &fo, &v, &err) < 0)
        die(err.msg);
    if (m != UINT64_MAX && l.copies)
        return;
    printf("FAILED: %llu at %#llx is in the forward slice of %llu (to %llu) without an edge\n",
           (unsigned long long)k, (unsigned long long)l.pc, (unsigned long long)n,
           (unsigned long long)m);
    exit(1);
}

/* All edges of a forward slice of n, or of what of that leads to m. */
static void check_between(struct trace_index *s, const struct slice *x, uint64_t n, uint64_t m,
                          const struct slice_options *o, uint64_t insns)
{
    struct err err;
    struct slice_want from = {.kind = SLICE_USES, .at = n};
    struct slice_ends between = {.from = &from, .froms = 1};
    memset(begins, 0, insns + 1);
    sampled = 0;
    if (slice_edges_between(s, x, &between, o, edge, NULL, &err))
        die(err.msg);
    for (uint64_t k = slice_next(x, 0); k != UINT64_MAX; k = slice_next(x, k + 1))
        if (!begins[k] && k != n)
            check_edgeless(s, k, n, m, o);
    for (uint64_t i = 0; i < sampled && i < SAMPLE; i++)
        if (!is_true(s, &sample[i], o) || !slice_has(x, sample[i].node) ||
            !slice_has(x, sample[i].on)) {
            printf("FAILED: %llu does not depend on %llu, kind %u, in the slice of %llu\n",
                   (unsigned long long)sample[i].node, (unsigned long long)sample[i].on,
                   sample[i].kind, (unsigned long long)n);
            exit(1);
        }
}

int main(int argc, char **argv)
{
    struct err err;
    struct slice_want want;
    char path[] = "/tmp/duality.XXXXXX";
    if (argc != 4 && argc != 5)
        die("usage: duality PINBALL SEED PAIRS [no-chops]");
    state = strtoull(argv[2], NULL, 10);
    long pairs = strtol(argv[3], NULL, 10);
    close(mkstemp(path));
    struct study_options so = {.trace = path, .fresh = true};
    struct study *study = study_open(argv[1], &so, &err);
    unlink(path);
    if (!study)
        die(err.msg);
    struct trace_index *s = study->index;
    uint64_t insns = trace_insns(study->trace);
    if (!(ends = malloc(insns + 1)) || !(begins = malloc(insns + 1)))
        die("no memory");
    static const unsigned edges[] = {SLICE_ALL, SLICE_VALUE | SLICE_ADDRESS, SLICE_VALUE};
    for (long i = 0; i < pairs; i++) {
        struct slice_prune prune[PRUNES];
        draw_prunes(study->trace, prune);
        /* with few early saves, so that named ones matter */
        struct slice_options o = {.edges = edges[i % 3],
                                  .keep_saves = i / 3 % 2,
                                  .max_save = i % 2 ? 2 : 0,
                                  .prune = prune,
                                  .prunes = draw(2) ? PRUNES : 0};
        uint64_t n = draw(insns);
        struct slice *forward = take(s, n, &o, true, &want);
        for (int k = 0; k < LOOKS; k++) {
            /* half of them behind nodes of the slice, where the answer is not always no */
            uint64_t m = n + draw(insns - n), near = slice_next(forward, m);
            m = k % 2 && near != UINT64_MAX ? near : m;
            struct slice *back = take(s, m, &o, false, &want);
            if (slice_has(forward, m) != slice_has(back, n)) {
                printf("FAILED: %llu and %llu, edges %u, saves %s: forward %d, backward %d\n",
                       (unsigned long long)n, (unsigned long long)m, o.edges,
                       o.keep_saves ? "kept" : "looked through", slice_has(forward, m),
                       slice_has(back, n));
                exit(1);
            }
            if (k < 2)
                check_edges(s, back, &want, &o, insns);
            if (k == 1) {
                struct slice *chop = slice_chop(forward, back, study->trace);
                if (!chop)
                    die("no memory");
                check_between(s, forward, n, UINT64_MAX, &o, insns);
                if (argc == 4)
                    check_between(s, chop, n, m, &o, insns);
                slice_free(chop);
            }
            slice_free(back);
        }
        slice_free(forward);
    }
    printf("good: %ld forward slices of %llu instructions\n", pairs, (unsigned long long)insns);
    free(ends);
    free(begins);
    study_close(study);
    return 0;
}
