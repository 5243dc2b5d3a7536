/* extend.c - a trace that was extended is the one that was made at once: extend PINBALL.
 *
 * SPDX-License-Identifier: MIT
 *
 * The recording is traced up to some moments, in the middle of blocks, too, and each such trace is
 * extended to the next moment, the last one to the end. All threads must have executed the same
 * instructions in the same order, with the same addresses, and the same must have happened between
 * them.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pinball/pinball.h"
#include "trace/collect.h"
#include "trace/pass.h"

enum { MOMENTS = 7 };

static void die(const char *what)
{
    fprintf(stderr, "extend: %s\n", what);
    exit(1);
}

/* ---- making them ---- */

struct made {
    struct trace *trace;
    int fd;
};

static struct made make(struct pinball *pinball, struct trace *old, const struct position *to)
{
    struct err err = {.code = 0};
    struct collect_result result;
    struct made m = {.fd = memfd_create("trace", 0)};
    const struct collect_options o = {.to = to, .unnamed = true, .fd = m.fd};
    const int bad = old ? collect_more(pinball, old, "trace", &o, &result, &err)
                        : collect(pinball, "trace", &o, &result, &err);
    if (m.fd < 0 || bad || !(m.trace = trace_open_unnamed(m.fd, &err)))
        die(err.msg);
    if (result.insns != trace_insns(m.trace))
        die("another number of instructions");
    return m;
}

static void throw(struct made * m)
{
    trace_close(m->trace);
    close(m->fd);
}

/* Positions spread over the whole; the first steps are too few to extend. */
static unsigned moments(struct trace *whole, struct position at[MOMENTS])
{
    struct err err = {.code = 0};
    struct pass pass;
    struct pass_step st;
    unsigned n = 0;
    int more;
    if (pass_init(&pass, whole, &err))
        die(err.msg);
    while ((more = pass_next(&pass, &st, &err)) == 1 && n < MOMENTS) {
        const uint64_t next = n ? trace_insns(whole) / MOMENTS * n : 1;
        if (st.insn + st.step->insns <= next)
            continue;
        const unsigned i = n % 2 ? st.step->insns - 1u : 0;
        at[n++] = (struct position){.thread = trace_thread(whole, st.step->thread),
                                    .count = st.count,
                                    .pc = st.block->insn[i].in.pc};
    }
    if (more < 0)
        die(err.msg);
    pass_deinit(&pass);
    return n;
}

/* ---- comparing them ---- */

struct reading {
    struct trace *trace;
    struct trace_chunk chunk;
    struct trace_walk walk;
    uint32_t next;
};

/* The next step or note, of whatever chunk. */
static bool read_on(struct reading *r)
{
    struct err err = {.code = 0};
    while (!r->next || !trace_walk_next(&r->walk)) {
        if (r->next == trace_chunks(r->trace))
            return false;
        if (trace_read(r->trace, r->next++, &r->chunk, &err))
            die(err.msg);
        trace_walk_begin(&r->walk, r->trace, &r->chunk, r->walk.thread);
    }
    return true;
}

static bool same_step(const struct reading *a, const struct reading *b)
{
    const struct trace_step *s = a->walk.step, *t = b->walk.step;
    const struct code_block *k = code_block(trace_code(a->trace), s->block);
    const struct code_block *l = code_block(trace_code(b->trace), t->block);
    return k->pc == l->pc && k->insns == l->insns && s->insns == t->insns &&
           s->thread == t->thread && k->slots == l->slots &&
           !memcmp(a->chunk.value + s->value_at, b->chunk.value + t->value_at, 8u * k->slots);
}

static bool same(const struct reading *a, const struct reading *b)
{
    if (!a->walk.step != !b->walk.step || a->walk.insns != b->walk.insns ||
        a->walk.thread != b->walk.thread)
        return false;
    if (a->walk.step)
        return same_step(a, b);
    return a->walk.note->bytes == b->walk.note->bytes &&
           !memcmp(a->walk.note, b->walk.note, a->walk.note->bytes);
}

static void compare(struct trace *whole, struct trace *extended)
{
    struct reading a = {.trace = whole}, b = {.trace = extended};
    while (read_on(&a)) {
        if (!read_on(&b))
            die("the extended one is shorter");
        if (!same(&a, &b)) {
            fprintf(stderr, "extend: they differ after %llu instructions, at a %s\n",
                    (unsigned long long)a.walk.insns, a.walk.step ? "step" : "note");
            exit(1);
        }
    }
    if (read_on(&b))
        die("the extended one is longer");
    trace_chunk_deinit(&a.chunk);
    trace_chunk_deinit(&b.chunk);
}

int main(int argc, char **argv)
{
    struct err err = {.code = 0};
    struct position at[MOMENTS];
    struct pinball *pinball = argc == 2 ? pinball_open(argv[1], &err) : NULL;
    if (!pinball)
        die(argc == 2 ? err.msg : "usage: extend PINBALL");
    struct made whole = make(pinball, NULL, NULL), part = {.fd = -1};
    const unsigned n = moments(whole.trace, at);
    if (n < MOMENTS)
        die("too few instructions");
    for (unsigned i = 0; i <= n; i++) {
        struct made longer = make(pinball, part.trace, i < n ? &at[i] : NULL);
        if (part.trace && trace_insns(longer.trace) <= trace_insns(part.trace))
            die("it did not get longer");
        throw(&part);
        part = longer;
    }
    compare(whole.trace, part.trace);
    printf("%llu instructions in %u pieces\n", (unsigned long long)trace_insns(whole.trace), n + 1);
    throw(&part);
    throw(&whole);
    pinball_close(pinball);
    return 0;
}
