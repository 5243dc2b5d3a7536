/* look.c - what memory held at moments of a recording. SPDX-License-Identifier: MIT */
#include "study/look.h"

#include <stdlib.h>

#include "study/past.h"
#include "trace/pass.h"

/* ---- positions ---- */

static uint32_t chunk_of(const struct study *s, uint64_t insn, uint32_t chunk)
{
    while (chunk + 1 < trace_chunks(s->trace) && trace_chunk_first(s->trace, chunk + 1) <= insn)
        chunk++;
    return chunk;
}

/* Those of one chunk, from the first on. Returns how many there were, or -1. */
static long chunk_positions(struct study *s, uint32_t chunk, const uint64_t *insn, size_t count,
                            struct position *out, struct err *err)
{
    struct pass pass;
    struct pass_step st;
    size_t done = 0;
    int more = 1;
    uint64_t behind = chunk + 1 < trace_chunks(s->trace) ? trace_chunk_first(s->trace, chunk + 1)
                                                         : trace_insns(s->trace);
    if (pass_start(&pass, s->trace, chunk, err))
        return -1;
    while (done < count && insn[done] < behind && (more = pass_next(&pass, &st, err)) == 1)
        for (; done < count && insn[done] < st.insn + st.step->insns; done++)
            out[done] = (struct position){.thread = trace_thread(s->trace, st.step->thread),
                                          .count = st.count,
                                          .pc = st.block->insn[insn[done] - st.insn].in.pc};
    pass_deinit(&pass);
    if (more == 0)
        return err_set(err, "the trace has no instruction %llu", (unsigned long long)insn[done]);
    return more < 0 ? -1 : (long)done;
}

int look_positions(struct study *s, const uint64_t *insn, size_t count, struct position *out,
                   struct err *err)
{
    uint32_t chunk = 0;
    for (size_t i = 0; i < count;) {
        chunk = chunk_of(s, insn[i], chunk);
        long done = chunk_positions(s, chunk, insn + i, count - i, out + i, err);
        if (done < 0)
            return -1;
        i += (size_t)done;
    }
    return 0;
}

/* ---- memory ---- */

static uint64_t moment(const struct look *l)
{
    return l->insn + l->behind;
}

static int by_moment(const void *a, const void *b)
{
    const struct look *x = *(struct look *const *)a, *y = *(struct look *const *)b;
    return moment(x) < moment(y) ? -1 : moment(x) > moment(y);
}

/* `at` has the positions of the moments that are not the end. */
static int go_and_look(struct study *s, struct look **list, size_t count, const struct position *at,
                       struct err *err)
{
    struct past *past = past_new(s, err);
    int bad = past ? 0 : -1;
    for (size_t i = 0; !bad && i < count; i++) {
        struct look *l = list[i];
        if (!i || moment(list[i - 1]) != moment(l))
            bad = past_go(past, moment(l), &at[i], err);
        l->value = 0;
        l->known = !bad && l->bytes <= LOOK_BYTES &&
                   past_read(past, l->addr, &l->value, l->bytes) == l->bytes;
    }
    past_free(past);
    return bad ? -1 : 0;
}

int look_at_all(struct study *s, struct look *list, size_t count, struct err *err)
{
    if (!s->pinball || !count)
        return 0;
    struct look **sorted = calloc(count + 1, sizeof *sorted);
    struct position *at = calloc(count + 1, sizeof *at);
    uint64_t *insn = calloc(count + 1, sizeof *insn);
    size_t inside = 0; /* that are not the end */
    int bad = sorted && at && insn ? 0 : err_set(err, "no memory");
    for (size_t i = 0; !bad && i < count; i++)
        sorted[i] = &list[i];
    if (!bad)
        qsort(sorted, count, sizeof *sorted, by_moment);
    for (size_t i = 0; !bad && i < count; i++)
        if ((insn[i] = moment(sorted[i])) < trace_insns(s->trace))
            inside++;
    if (!bad)
        bad = look_positions(s, insn, inside, at, err) || go_and_look(s, sorted, count, at, err);
    free(sorted);
    free(at);
    free(insn);
    return bad ? -1 : 0;
}
