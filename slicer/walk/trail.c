/* trail.c - what a frame leaves behind. SPDX-License-Identifier: MIT */
#include "slicer/walk/trail.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

enum { FIRST_ROOM = 8 };

struct save {
    gaddr addr;
    uint32_t by[8];
};

struct trail {
    struct trail_branch *branch;
    uint32_t branches, room;
    uint32_t *table; /* by pc and next: index plus one; twice as many as there is room for */
    uint32_t latest; /* index plus one */
    struct save *save;
    uint32_t saves;
    size_t save_room;
};

static void drop(void *own)
{
    struct trail *t = own;
    free(t->branch);
    free(t->table);
    free(t->save);
    free(t);
}

struct trail *trail_of(struct frame *f)
{
    if (!f->own && (f->own = calloc(1, sizeof(struct trail))))
        f->drop = drop;
    return f->own;
}

/* ---- branches ---- */

/* Not one of base/table.h: every frame has one, so it begins small, and has numbers for slots. */
static uint32_t *find(const struct trail *t, gaddr pc, gaddr next)
{
    uint32_t mask = 2 * t->room - 1;
    uint32_t i = hash_pair(pc, next);
    for (i &= mask; t->table[i]; i = (i + 1) & mask) {
        const struct trail_branch *b = &t->branch[t->table[i] - 1];
        if (b->pc == pc && b->next == next)
            break;
    }
    return &t->table[i];
}

static int grow(struct trail *t)
{
    uint32_t room = t->room ? 2 * t->room : FIRST_ROOM;
    uint32_t *table = calloc(2 * (size_t)room, sizeof *table);
    if (!table || array_resize(&t->branch, room, sizeof *t->branch)) {
        free(table);
        return -1;
    }
    free(t->table);
    t->table = table;
    t->room = room;
    for (uint32_t i = 0; i < t->branches; i++)
        *find(t, t->branch[i].pc, t->branch[i].next) = i + 1;
    return 0;
}

static void unlink_branch(struct trail *t, const struct trail_branch *b)
{
    if (b->newer)
        t->branch[b->newer - 1].older = b->older;
    else
        t->latest = b->older;
    if (b->older)
        t->branch[b->older - 1].newer = b->newer;
}

int trail_add(struct trail *t, gaddr pc, gaddr next, uint32_t node)
{
    if (t->branches == t->room && grow(t))
        return -1;
    uint32_t *at = find(t, pc, next);
    if (*at)
        unlink_branch(t, &t->branch[*at - 1]);
    else
        *at = ++t->branches;
    t->branch[*at - 1] = (struct trail_branch){node, 0, t->latest, pc, next};
    if (t->latest)
        t->branch[t->latest - 1].newer = *at;
    t->latest = *at;
    return 0;
}

const struct trail_branch *trail_latest(const struct frame *f)
{
    const struct trail *t = f->own;
    return t && t->latest ? &t->branch[t->latest - 1] : NULL;
}

const struct trail_branch *trail_before(const struct frame *f, const struct trail_branch *b)
{
    const struct trail *t = f->own;
    return b->older ? &t->branch[b->older - 1] : NULL;
}

/* ---- saved registers ---- */

static struct save *find_save(const struct trail *t, gaddr addr)
{
    for (uint32_t i = t->saves; i-- > 0;)
        if (t->save[i].addr == addr)
            return &t->save[i];
    return NULL;
}

int trail_save(struct trail *t, gaddr addr, const uint32_t by[8])
{
    struct save *s = find_save(t, addr);
    if (!s && array_reserve(&t->save, &t->save_room, t->saves + 1u))
        return -1;
    s = s ? s : &t->save[t->saves++];
    s->addr = addr;
    memcpy(s->by, by, sizeof s->by);
    return 0;
}

const uint32_t *trail_saved(const struct frame *f, gaddr addr)
{
    const struct save *s = f->own ? find_save(f->own, addr) : NULL;
    return s ? s->by : NULL;
}
