/* slice.c - slicers and slices. SPDX-License-Identifier: MIT */
#include "slicer/slice.h"

#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"
#include "slicer/slice_private.h"

/* ---- slicers ---- */

/* Code that was executed: of blocks, where no file says it. */
static size_t read_executed(const struct slicer *s, gaddr pc, uint8_t *buf, size_t bytes)
{
    for (uint32_t i = 0; i < code_count(s->code); i++) {
        const struct code_block *b = code_block(s->code, i);
        if (pc < b->pc || pc >= b->end)
            continue;
        size_t n = 0;
        for (uint32_t k = 0; k < b->insns && n < bytes; k++)
            for (uint32_t j = 0; j < b->insn[k].in.len && n < bytes; j++)
                if (b->insn[k].in.pc + j >= pc)
                    buf[n++] = b->insn[k].in.bytes[j];
        return n;
    }
    return 0;
}

/* What a mapping of a kept file holds, read once. NULL: there is none. */
static const uint8_t *mapped(struct slicer *s, const struct trace_map *map, size_t maps, size_t i)
{
    struct err err;
    if (!s->contents && !(s->contents = calloc(maps + 1, sizeof *s->contents)))
        return NULL;
    if (s->contents[i] || map[i].file < 0)
        return s->contents[i];
    size_t bytes = map[i].end - map[i].start;
    uint8_t *p = malloc(bytes);
    if (p && pinball_file_read(s->pinball, (uint32_t)map[i].file, map[i].offset, p, bytes, &err)) {
        free(p);
        p = NULL;
    }
    return s->contents[i] = p;
}

static size_t read_code(void *ctx, gaddr pc, uint8_t *buf, size_t bytes)
{
    struct slicer *s = ctx;
    const struct trace_map *map;
    size_t maps = trace_maps(s->trace, &map);
    for (size_t i = 0; i < maps; i++) {
        if (pc < map[i].start || pc >= map[i].end)
            continue;
        const uint8_t *contents = mapped(s, map, maps, i);
        if (!contents)
            break;
        if (bytes > map[i].end - pc)
            bytes = map[i].end - pc;
        memcpy(buf, contents + (pc - map[i].start), bytes);
        return bytes;
    }
    return read_executed(s, pc, buf, bytes);
}

enum { MAP_WRITE = 2 };

/* The first mapping that ends behind addr; they are sorted. NULL: none. */
static const struct trace_map *map_at(const struct slicer *s, gaddr addr)
{
    const struct trace_map *map;
    size_t lo = 0, maps = trace_maps(s->trace, &map), hi = maps;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (map[mid].end <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < maps ? &map[lo] : NULL;
}

bool slicer_read_only(const struct slicer *s, gaddr addr, uint64_t bytes)
{
    const struct trace_map *m = map_at(s, addr);
    return m && m->start <= addr && bytes <= m->end - addr && !(m->prot & MAP_WRITE);
}

bool slicer_is_writable(const struct slicer *s, gaddr addr, uint64_t bytes)
{
    const struct trace_map *m = map_at(s, addr);
    if (!m || m->start >= addr + bytes)
        return true; /* not mapped any more */
    return m->start <= addr && bytes <= m->end - addr && m->prot & MAP_WRITE;
}

static bool is_entry(void *ctx, gaddr pc)
{
    return trace_is_entry(((struct slicer *)ctx)->trace, pc);
}

static size_t targets(void *ctx, gaddr pc, const gaddr **list)
{
    return trace_targets(((struct slicer *)ctx)->trace, pc, list);
}

static bool stays(void *ctx, gaddr pc)
{
    return trace_stays(((struct slicer *)ctx)->trace, pc);
}

static bool no_return(void *ctx, gaddr callee)
{
    const struct slicer *s = ctx;
    return s->no_return && s->no_return(s->no_return_ctx, callee);
}

void slicer_no_return(struct slicer *s, bool (*fn)(void *ctx, gaddr callee), void *ctx)
{
    s->no_return = fn;
    s->no_return_ctx = ctx;
}

struct slicer *slicer_new(struct trace *trace, struct pinball *pinball, struct err *err)
{
    struct slicer *s = calloc(1, sizeof *s);
    if (!s) {
        err_set(err, "no memory");
        return NULL;
    }
    s->trace = trace;
    s->code = trace_code(trace);
    s->pinball = pinball;
    struct cfg_program program = {.ctx = s,
                                  .read = read_code,
                                  .is_entry = is_entry,
                                  .targets = targets,
                                  .stays = stays,
                                  .no_return = no_return};
    s->cfg = cfg_new(&program, err);
    if (!s->cfg) {
        slicer_free(s);
        return NULL;
    }
    return s;
}

void slicer_set_source(struct slicer *s, struct source *source)
{
    if (s->source != source) {
        scan_deinit(&s->scan);
        s->max_save = 0;
    }
    s->source = source;
}

void slicer_free(struct slicer *s)
{
    if (!s)
        return;
    const struct trace_map *map;
    for (size_t i = trace_maps(s->trace, &map); s->contents && i-- > 0;)
        free(s->contents[i]);
    free(s->contents);
    cfg_free(s->cfg);
    scan_deinit(&s->scan);
    free(s);
}

/* ---- sets of instructions ---- */

struct slice *slice_new(const struct trace *trace)
{
    struct slice *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->chunks = trace_chunks(trace);
    s->bits = calloc(s->chunks + 1, sizeof *s->bits);
    s->first = calloc(s->chunks + 1, sizeof *s->first);
    if (!s->bits || !s->first) {
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
    uint32_t lo = 0, hi = s->chunks;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s->first[mid + 1] <= insn)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
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

int slicer_scan(struct slicer *s, const struct slice_options *o, struct err *err)
{
    unsigned max_save = o && o->max_save ? o->max_save : SLICE_MAX_SAVE;
    if (s->max_save == max_save || (!o && s->max_save))
        return 0;
    scan_deinit(&s->scan);
    s->max_save = 0;
    if (scan_init(&s->scan, s->trace, max_save, s->source, err))
        return -1;
    s->max_save = max_save;
    return 0;
}

struct slice *slice_backward(struct slicer *s, const struct slice_want *want, size_t wants,
                             const struct slice_options *o, struct err *err)
{
    if (slicer_scan(s, o, err))
        return NULL;
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
