/* leaks.c - blocks that nobody can reach. SPDX-License-Identifier: MIT */
#include "facts/heap/leaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/table.h"
#include "facts/heap/errors_int.h"
#include "facts/order/parts.h"
#include "pinball/pinball.h"
#include "study/past.h"

enum {
    PAGE = 4096,
    PIECE = 1 << 20,
    RED_ZONE = 128,
    TLS_BEFORE = 64 << 10,
    TLS_BEHIND = 4096,
    THREADS = 4096,
};

struct live {
    gaddr start, end;
    uint32_t block;
    bool reached;         /* from a root */
    bool indirect;        /* from a leaked block */
    const uint8_t *bytes; /* NULL: they cannot be read */
};

struct page {
    uint64_t number; /* plus one */
};

struct search {
    struct heap *h;
    struct study *s;
    struct past *past;
    struct live *live; /* by address */
    size_t lives;
    uint32_t *waiting; /* reached, and not looked into */
    size_t waits, wait_room;
    uint8_t **piece; /* what was read */
    size_t pieces;
    TABLE(struct page) pages; /* that have or had blocks: no roots are there */
    bool of_library;          /* what is looked at is the C library's own data */
    bool failed;
};

/* ---- blocks ---- */

static int by_start(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int add_pages(struct search *s, const struct heap_block *b)
{
    for (uint64_t n = b->start / PAGE; n <= (b->start + b->size) / PAGE; n++) {
        if (table_reserve(&s->pages))
            return -1;
        struct page *p = table_find(&s->pages, n + 1);
        s->pages.used += !p->number;
        p->number = n + 1;
    }
    return 0;
}

static int take_blocks(struct search *s)
{
    const struct heap *h = s->h;
    s->live = malloc(sizeof *s->live * (h->blocks + 1));
    if (!s->live || table_reserve(&s->pages))
        return -1;
    for (size_t i = 0; i < h->blocks; i++) {
        const struct heap_block *b = &h->block[i];
        if (b->family == HEAP_POOL)
            continue;
        if (add_pages(s, b))
            return -1;
        if (b->to == HEAP_NEVER)
            s->live[s->lives++] = (struct live){
                .start = b->start, .end = b->start + (b->size ? b->size : 1), .block = (uint32_t)i};
    }
    qsort(s->live, s->lives, sizeof *s->live, by_start);
    return 0;
}

/* Reads neighbouring blocks at once: each question to the replay takes its time. */
static int read_blocks(struct search *s)
{
    for (size_t i = 0, k; i < s->lives; i = k) {
        gaddr start = s->live[i].start, end = s->live[i].end;
        for (k = i + 1;
             k < s->lives && s->live[k].end - start <= PIECE && s->live[k].start - end < PAGE; k++)
            end = s->live[k].end > end ? s->live[k].end : end;
        uint8_t *bytes = calloc(1, end - start + sizeof(uint64_t));
        if (!bytes || array_append(&s->piece, &s->pieces, bytes)) {
            free(bytes);
            return -1;
        }
        size_t got = past_read(s->past, start, bytes, end - start);
        for (size_t j = i; j < k; j++)
            if (s->live[j].end - start <= got)
                s->live[j].bytes = bytes + (s->live[j].start - start);
    }
    return 0;
}

static struct live *find(const struct search *s, gaddr addr)
{
    const size_t next = search_upto(s->live, s->lives, start, addr);
    return next && addr < s->live[next - 1].end ? &s->live[next - 1] : NULL;
}

/* ---- reaching ---- */

/* The C library's malloc knows the memory behind a block by where its header would be, which is
 * still in the block: its last 8 bytes, if it has them. */
static bool is_next_header(const struct live *l, uint64_t word)
{
    enum { HEADER = 16, ALIGN = 16, LEAST = 32 };
    uint64_t chunk = (l->end - l->start + HEADER / 2 + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
    return word == l->start - HEADER + (chunk < LEAST ? LEAST : chunk);
}

static void reach(struct search *s, uint64_t word)
{
    struct live *l = find(s, word);
    if (!l || l->reached || (s->of_library && is_next_header(l, word)))
        return;
    l->reached = true;
    if (array_push(&s->waiting, &s->waits, &s->wait_room, (uint32_t)(l - s->live)))
        s->failed = true;
}

static void reach_words(struct search *s, const uint8_t *bytes, gaddr start, uint64_t n)
{
    uint64_t word;
    for (uint64_t i = (8 - start % 8) % 8; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        reach(s, word);
    }
}

static void look_into(struct search *s)
{
    while (s->waits) {
        const struct live *l = &s->live[s->waiting[--s->waits]];
        if (l->bytes)
            reach_words(s, l->bytes, l->start, l->end - l->start);
    }
}

static bool had_blocks(struct search *s, gaddr page)
{
    return table_find(&s->pages, page / PAGE + 1)->number != 0;
}

/* Memory of the program that is no block. */
static int reach_memory(struct search *s, gaddr start, gaddr end, bool all)
{
    uint8_t *bytes = malloc(PAGE);
    if (!bytes)
        return -1;
    for (gaddr next; start < end; start = next) {
        next = (start / PAGE + 1) * PAGE < end ? (start / PAGE + 1) * PAGE : end;
        if (all || !had_blocks(s, start))
            reach_words(s, bytes, start, past_read(s->past, start, bytes, next - start));
    }
    free(bytes);
    return 0;
}

/* ---- roots ---- */

static const struct trace_map *map_of(const struct search *s, gaddr addr)
{
    const struct trace_map *map;
    size_t maps = trace_maps(s->s->trace, &map);
    for (size_t i = 0; i < maps; i++)
        if (map[i].start <= addr && addr < map[i].end)
            return &map[i];
    return NULL;
}

static int reach_thread(struct search *s, const struct program_thread *t, struct err *err)
{
    enum { SP = 4 /* of enum gpr */ };
    struct program_registers *r = malloc(sizeof *r);
    const struct trace_map *map;
    int bad = 0;
    if (!r || past_registers(s->past, t->number, r, err)) {
        free(r);
        return r ? 0 : -1; /* it has ended */
    }
    for (unsigned i = 0; i < 16; i++)
        reach(s, r->gpr[i]);
    if ((map = map_of(s, r->gpr[SP])))
        bad = reach_memory(s, r->gpr[SP] - RED_ZONE, map->end, true);
    if (!bad && (map = map_of(s, r->fs_base))) {
        gaddr from = r->fs_base - TLS_BEFORE, to = r->fs_base + TLS_BEHIND;
        bad = reach_memory(s, from > map->start ? from : map->start, to < map->end ? to : map->end,
                           false);
    }
    /* In a static program it is in memory of malloc's kind. */
    if (!bad && map && had_blocks(s, r->fs_base))
        bad = reach_memory(s, r->fs_base & ~(gaddr)7, r->fs_base + TLS_BEHIND, true);
    free(r);
    return bad;
}

static bool is_of_library(const struct search *s, int32_t file)
{
    const struct kept_file *f = file >= 0 && (uint32_t)file < pinball_files(s->s->pinball)
                                    ? pinball_file(s->s->pinball, (uint32_t)file)
                                    : NULL;
    return f && parts_module(f->path) == PART_LIBRARY;
}

/* What is written of a module's file is plain memory, right behind what is not. */
static int reach_data(struct search *s)
{
    enum { WRITE = 2 };
    const struct trace_map *map;
    size_t maps = trace_maps(s->s->trace, &map);
    bool module = false;
    for (size_t i = 0; i < maps; i++) {
        bool follows = i && map[i - 1].end == map[i].start;
        module = map[i].file >= 0 || (module && follows);
        if (map[i].file >= 0 || !follows)
            s->of_library = is_of_library(s, map[i].file);
        if (module && (map[i].prot & WRITE) && reach_memory(s, map[i].start, map[i].end, false))
            return -1;
    }
    s->of_library = false;
    return 0;
}

/* The dynamic loader's own blocks: it keeps what leads to them where nobody looks, for example in
 * the stacks of threads that have ended, which the C library uses again. */
static bool is_of_loader(const struct search *s, const struct live *l)
{
    const struct heap *h = s->h;
    const struct heap_stack *stack = &h->stack[h->call[h->block[l->block].allocated].stack];
    struct source_line at;
    if (!stack->count)
        return false;
    source_line(s->s->source, h->frame[stack->first], &at);
    return errors_is_loader(at.module) || (at.outer && !strncmp(at.outer, "_dl_", 4));
}

static void reach_loader(struct search *s)
{
    for (size_t i = 0; i < s->lives; i++)
        if (is_of_loader(s, &s->live[i]))
            reach(s, s->live[i].start);
}

static int reach_all(struct search *s, struct err *err)
{
    struct program_thread *t = calloc(THREADS, sizeof *t);
    int bad = t ? reach_data(s) : -1;
    size_t threads = t ? past_threads(s->past, t, THREADS) : 0;
    for (size_t i = 0; !bad && i < threads && i < THREADS; i++)
        bad = reach_thread(s, &t[i], err);
    free(t);
    reach_loader(s);
    look_into(s);
    return bad;
}

/* ---- leaks ---- */

static void find_indirect(struct search *s)
{
    uint64_t word;
    for (size_t i = 0; i < s->lives; i++) {
        const struct live *l = &s->live[i];
        for (uint64_t k = 0; !l->reached && l->bytes && k + sizeof word <= l->end - l->start;
             k += sizeof word) {
            memcpy(&word, l->bytes + k, sizeof word);
            struct live *to = find(s, word);
            if (to && to != l)
                to->indirect = true;
        }
    }
}

static int by_block(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    return x->block < y->block ? -1 : x->block > y->block;
}

static int add_leak(struct search *s, struct heap_leaks *out, const struct live *l)
{
    const struct heap_block *b = &s->h->block[l->block];
    uint32_t stack = s->h->call[b->allocated].stack;
    const struct heap_stack *mine = &s->h->stack[stack];
    for (size_t i = 0; i < out->count; i++) {
        struct heap_leak *k = &out->list[i];
        const struct heap_stack *other = &s->h->stack[k->stack];
        if (k->direct == l->indirect || mine->count != other->count ||
            memcmp(s->h->frame + mine->first, s->h->frame + other->first,
                   mine->count * sizeof *s->h->frame) != 0)
            continue;
        k->blocks++;
        k->bytes += b->size;
        return 0;
    }
    return array_push(&out->list, &out->count, &out->room,
                      (struct heap_leak){stack, l->block, !l->indirect, 1, b->size});
}

static int take_leaks(struct search *s, struct heap_leaks *out)
{
    find_indirect(s);
    qsort(s->live, s->lives, sizeof *s->live, by_block);
    for (size_t i = 0; i < s->lives; i++)
        if (s->live[i].reached)
            out->reachable++;
        else if (add_leak(s, out, &s->live[i]))
            return -1;
    return 0;
}

int heap_leaks(struct heap *h, struct study *s, struct heap_leaks *out, struct err *err)
{
    struct search l = {.h = h, .s = s};
    *out = (struct heap_leaks){0};
    l.past = study_past(s, trace_insns(s->trace), NULL, err);
    if (!l.past)
        return -1;
    int bad =
        take_blocks(&l) || read_blocks(&l) || reach_all(&l, err) || l.failed || take_leaks(&l, out);
    past_free(l.past);
    for (size_t i = 0; i < l.pieces; i++)
        free(l.piece[i]);
    free(l.piece);
    free(l.live);
    free(l.waiting);
    free(l.pages.slot);
    return bad ? err_set(err, "no memory") : 0;
}

void heap_leaks_deinit(struct heap_leaks *l)
{
    free(l->list);
    *l = (struct heap_leaks){0};
}
