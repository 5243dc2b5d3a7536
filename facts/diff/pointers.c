/* pointers.c - do two words of two recordings mean the same? SPDX-License-Identifier: MIT */
#include "facts/diff/pointers.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "pinball/pinball.h"

enum { PAGE = 4096, STACK_BYTES = 8 << 20 };

/* ---- blocks ---- */

/* The last event of a thread that began before; SIZE_MAX: none. */
static size_t event_before(const struct paths_thread *t, uint64_t insn)
{
    return search_upto(t->moment, t->moments, insn, insn) - 1;
}

struct latest {
    size_t event;
    uint64_t blocks; /* that were allocated since it began */
};

/* `first` has the first recording's thread of each. */
static int name_blocks(struct pointers_side *s, const uint32_t *first, struct err *err)
{
    const struct heap *h = s->heap;
    struct latest *latest = calloc(s->paths->threads + 1, sizeof *latest);
    s->block = calloc(h->blocks + 1, sizeof *s->block);
    if (!latest || !s->block) {
        free(latest);
        return err_set(err, "no memory");
    }
    for (size_t i = 0; i < h->blocks; i++) {
        const struct heap_call *c = &h->call[h->block[i].allocated];
        if (c->thread >= s->paths->threads || first[c->thread] == PATHS_NONE)
            continue;
        const struct paths_thread *t = &s->paths->thread[c->thread];
        struct latest *l = &latest[c->thread];
        size_t event = event_before(t, c->first);
        if (l->event != event || !l->blocks)
            *l = (struct latest){.event = event};
        l->blocks++;
        uint64_t pair = event == SIZE_MAX ? UINT64_MAX : t->moment[event].pair;
        if (pair)
            s->block[i] = hash_fold(hash_fold(hash_fold(1, first[c->thread]), pair), l->blocks) | 1;
    }
    free(latest);
    return 0;
}

int pointers_init(struct pointers *p, const uint32_t *match, struct err *err)
{
    const struct paths *a = p->side[0].paths, *b = p->side[1].paths;
    p->match = match;
    uint32_t *first[2] = {calloc(a->threads + 1, sizeof **first),
                          calloc(b->threads + 1, sizeof **first)};
    int bad = first[0] && first[1] ? 0 : err_set(err, "no memory");
    for (uint32_t i = 0; !bad && i < b->threads; i++)
        first[1][i] = PATHS_NONE;
    for (uint32_t i = 0; !bad && i < a->threads; i++) {
        first[0][i] = match[i] == PATHS_NONE ? PATHS_NONE : i;
        if (match[i] != PATHS_NONE)
            first[1][match[i]] = i;
    }
    for (int i = 0; i < 2 && !bad; i++) {
        p->side[i].heap = heap_of(p->side[i].study, NULL, err);
        bad = p->side[i].heap ? name_blocks(&p->side[i], first[i], err) : -1;
    }
    free(first[0]);
    free(first[1]);
    return bad;
}

void pointers_deinit(struct pointers *p)
{
    for (int i = 0; i < 2; i++)
        free(p->side[i].block);
    *p = (struct pointers){.side[0].study = NULL};
}

/* ---- words ---- */

/* The file whose map is the nearest at or below an address, and the place in it. */
static const struct kept_file *file_at(const struct study *s, uint64_t addr, uint64_t *place)
{
    const struct trace_map *map, *best = NULL;
    size_t maps = trace_maps(s->trace, &map);
    for (size_t i = 0; i < maps; i++)
        if (map[i].file >= 0 && map[i].start <= addr && (!best || map[i].start > best->start))
            best = &map[i];
    *place = best ? addr - best->start + best->offset : 0;
    return best ? pinball_file(s->pinball, (uint32_t)best->file) : NULL;
}

static bool is_same_block(const struct pointers *p, const struct pointers_word w[2], bool *decided)
{
    uint32_t found[2];
    uint64_t offset[2], name[2];
    for (int i = 0; i < 2; i++) {
        const struct pointers_side *s = &p->side[i];
        found[i] = heap_find(s->heap, w[i].value, w[i].insn, true);
        if (found[i] == HEAP_NONE)
            return false;
        name[i] = s->block[found[i]];
        offset[i] = w[i].value - s->heap->block[found[i]].start;
    }
    *decided = true;
    return name[0] && name[0] == name[1] && offset[0] == offset[1];
}

/* Distances from two places of stacks. */
static bool is_same_distance(const struct pointers_word w[2], gaddr a, gaddr b)
{
    return a && b && w[0].value - a == w[1].value - b;
}

static bool is_near(uint64_t value, gaddr base)
{
    return base && value + STACK_BYTES >= base && value <= base + STACK_BYTES;
}

/* Both on one thread's stack; above own code are the program's arguments, as long as they are. */
static bool is_same_stack(const struct pointers *p, const struct pointers_word w[2], bool *decided)
{
    const struct paths *a = p->side[0].paths, *b = p->side[1].paths;
    bool same = is_same_distance(w, w[0].cfa, w[1].cfa);
    for (uint32_t i = 0; i < a->threads && !same; i++) {
        if (p->match[i] == PATHS_NONE)
            continue;
        gaddr x = a->thread[i].base, y = b->thread[p->match[i]].base;
        if (!is_near(w[0].value, x) || !is_near(w[1].value, y))
            continue;
        *decided = true;
        same = is_same_distance(w, x, y) || (w[0].value >= x && w[1].value >= y);
    }
    *decided |= same;
    return same;
}

/* Where user space has mappings, of which some are at least a page from 0. */
static bool is_mapped(uint64_t value)
{
    return value >= 0x500000000000 && value < 0x800000000000;
}

bool pointers_same(const struct pointers *p, const struct pointers_word word[2])
{
    const uint64_t a = word[0].value, b = word[1].value;
    uint64_t place[2];
    bool decided = false;
    if (a == b || (p->side[0].canary && a == p->side[0].canary && b == p->side[1].canary))
        return true;
    if (!is_mapped(a) || !is_mapped(b))
        return false;
    bool same = is_same_block(p, word, &decided);
    if (!decided)
        same = is_same_stack(p, word, &decided);
    if (decided)
        return same;
    const struct kept_file *x = file_at(p->side[0].study, a, &place[0]);
    const struct kept_file *y = file_at(p->side[1].study, b, &place[1]);
    if (x && y && paths_same_file(x, y) && place[0] == place[1])
        return true;
    return a % PAGE == b % PAGE;
}
