/* slice.c - slices: sets of instructions. SPDX-License-Identifier: MIT */
#include "slicer/slice.h"

#include <stdlib.h>

#include "base/search.h"
#include "slicer/slice_private.h"

_Static_assert((int)SLICE_MAX_SAVE == (int)SCAN_MAX_SAVE, "the scan that all share");

struct slice *slice_new(const struct trace *trace)
{
    struct slice *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->chunks = trace_chunks(trace);
    s->bits = calloc(s->chunks + 1, sizeof *s->bits);
    s->first = calloc(s->chunks + 1, sizeof *s->first);
    s->passed = calloc(s->chunks + 1, sizeof *s->passed);
    if (!s->bits || !s->first || !s->passed) {
        slice_free(s);
        return NULL;
    }
    for (uint32_t i = 0; i <= s->chunks; i++)
        s->first[i] = trace_chunk_first(trace, i);
    return s;
}

void slice_free(struct slice *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->bits && i < s->chunks; i++)
        free(s->bits[i]);
    free(s->bits);
    free(s->first);
    free(s->passed);
    free(s);
}

int slice_add(struct slice *s, uint32_t chunk, uint32_t insn, uint32_t insns)
{
    uint64_t **bits = &s->bits[chunk];
    if (!*bits && !(*bits = calloc(insns / 64 + 2, 8)))
        return -1;
    if ((*bits)[insn / 64] >> (insn % 64) & 1)
        return 0;
    (*bits)[insn / 64] |= 1ull << (insn % 64);
    s->count++;
    return 1;
}

bool slice_add_bits(struct slice *s, uint32_t chunk, uint32_t insn, uint64_t which, uint32_t insns)
{
    uint64_t **bits = &s->bits[chunk];
    if (!*bits && !(*bits = calloc(insns / 64 + 2, 8)))
        return false;
    uint64_t *word = *bits + insn / 64, low = which << insn % 64;
    uint64_t high = insn % 64 ? which >> (64 - insn % 64) : 0;
    s->count += (uint64_t)__builtin_popcountll(low & ~word[0]);
    word[0] |= low;
    if (high) {
        s->count += (uint64_t)__builtin_popcountll(high & ~word[1]);
        word[1] |= high;
    }
    return true;
}

uint64_t slice_count(const struct slice *s)
{
    return s->count;
}

/* The chunk that instruction `insn` is in; the number of chunks if it is behind the last one. */
static uint32_t chunk_of(const struct slice *s, uint64_t insn)
{
    return (uint32_t)search_first(s->chunks, i, s->first[i + 1] <= insn);
}

int slice_put(struct slice *s, uint64_t insn)
{
    uint32_t c = chunk_of(s, insn);
    uint64_t insns = c < s->chunks ? s->first[c + 1] - s->first[c] : 0;
    return c == s->chunks || slice_add(s, c, (uint32_t)(insn - s->first[c]), (uint32_t)insns) < 0
               ? -1
               : 0;
}

bool slice_has(const struct slice *s, uint64_t insn)
{
    uint32_t c = chunk_of(s, insn);
    if (c == s->chunks || !s->bits[c])
        return false;
    uint64_t i = insn - s->first[c];
    return s->bits[c][i / 64] >> (i % 64) & 1;
}

uint64_t slice_next(const struct slice *s, uint64_t from)
{
    for (uint32_t c = chunk_of(s, from); c < s->chunks; c++) {
        uint64_t n = s->first[c + 1] - s->first[c], i = from > s->first[c] ? from - s->first[c] : 0;
        while (s->bits[c] && i < n) {
            uint64_t word = s->bits[c][i / 64] >> (i % 64);
            if (word)
                return s->first[c] + i + (uint64_t)__builtin_ctzll(word);
            i = (i / 64 + 1) * 64;
        }
    }
    return UINT64_MAX;
}

uint64_t slice_previous(const struct slice *s, uint64_t to)
{
    for (uint32_t c = s->chunks; c-- > 0;) {
        if (s->first[c] >= to || !s->bits[c])
            continue;
        uint64_t end = to < s->first[c + 1] ? to : s->first[c + 1], i = end - s->first[c];
        while (i) {
            uint64_t word = s->bits[c][(i - 1) / 64] << (63 - (i - 1) % 64);
            if (word)
                return s->first[c] + i - 1 - (uint64_t)__builtin_clzll(word);
            i = (i - 1) / 64 * 64;
        }
    }
    return UINT64_MAX;
}

void slice_figures(const struct slice *s, struct slice_figures *out)
{
    *out = s->figures;
}

struct slice *slice_backward(struct trace_index *s, const struct slice_want *want, size_t wants,
                             const struct slice_options *o, struct err *err)
{
    uint64_t first = UINT64_MAX;
    if (trace_index_scan(s, slice_max_save(o), err))
        return NULL;
    for (size_t i = 0; i < wants; i++)
        first = want[i].at < first ? want[i].at : first;
    if (wants && first <= trace_chunk_first(s->trace, s->scan.first) &&
        trace_index_reach(s, 0, err))
        return NULL; /* what is wanted is before what was looked at */
    struct slice *out = slice_new(s->trace);
    if (!out) {
        err_set(err, "no memory");
        return NULL;
    }
    out->closed = true;
    if (slice_walk(s, out, want, wants, o, err)) {
        slice_free(out);
        return NULL;
    }
    return out;
}

/* The words of a and b, combined. */
static struct slice *combine(const struct slice *a, const struct slice *b,
                             const struct trace *trace, bool minus)
{
    struct slice *out = slice_new(trace);
    for (uint32_t c = 0; out && c < out->chunks; c++) {
        uint64_t n = out->first[c + 1] - out->first[c];
        if (!a->bits[c] || (!minus && !b->bits[c]))
            continue;
        out->bits[c] = calloc(n / 64 + 2, 8);
        if (!out->bits[c]) {
            slice_free(out);
            return NULL;
        }
        for (uint64_t i = 0; i <= n / 64; i++) {
            uint64_t other = b->bits[c] ? b->bits[c][i] : 0;
            out->bits[c][i] = a->bits[c][i] & (minus ? ~other : other);
            out->count += (uint64_t)__builtin_popcountll(out->bits[c][i]);
        }
    }
    return out;
}

struct slice *slice_chop(const struct slice *a, const struct slice *b, const struct trace *trace)
{
    return combine(a, b, trace, false);
}

struct slice *slice_minus(const struct slice *a, const struct slice *b, const struct trace *trace)
{
    return combine(a, b, trace, true);
}
